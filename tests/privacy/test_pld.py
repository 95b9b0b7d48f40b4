"""Laws of the loss distribution engine, each against something that shares no code with it."""

import math
from itertools import pairwise

import numpy as np
import pytest
from _contour import Step, exact_delta, single_delta
from scipy.stats import binom

from skdp.exceptions import NotSupported
from skdp.privacy import Spec, accountants
from skdp.privacy._calibrate import calibrate_scale
from skdp.privacy._gaussian import gaussian_delta, gaussian_epsilon
from skdp.privacy._pld import delta, epsilon, profile, supports
from skdp.privacy._pld_compose import compose
from skdp.privacy._pld_other_pairs import LaplacePair, PurePair, SwapPair
from skdp.privacy._pld_pairs import AddPair, GaussianPair, RemovePair, ReplacePair
from skdp.privacy._pld_plan import Lattice, plan_for_delta, plan_for_epsilon
from skdp.privacy.events import (
    BoundedRange,
    Gaussian,
    Laplace,
    PoissonGaussian,
    PureDP,
    WithoutReplacementGaussian,
    run_lengths,
)

RELATIONS = ("add_remove", "replace_one")


def pure_delta(pure, eps):
    """Hockey stick of randomised response."""
    p = 1 / (1 + math.exp(-pure))
    return max(p - math.exp(eps) * (1 - p), 0.0)


def laplace_delta(shift, eps):
    """Hockey stick of Laplace noise."""
    return max(-math.expm1((eps - shift) / 2), 0.0)


def swap_delta(shift, rate, eps):
    """The published curve without replacement."""
    return rate * float(gaussian_delta(math.log1p(math.expm1(eps) / rate), shift))


SINGLE = {
    "gaussian": (GaussianPair(0.7), lambda e: float(gaussian_delta(e, 0.7))),
    "remove": (RemovePair(0.8, 0.1), lambda e: single_delta(Step("remove", 1 / 0.8, 0.1), e)),
    "add": (AddPair(0.8, 0.1), lambda e: single_delta(Step("add", 1 / 0.8, 0.1), e)),
    "rare": (RemovePair(3.0, 1e-3), lambda e: single_delta(Step("remove", 1 / 3.0, 1e-3), e)),
    "replace": (ReplacePair(0.8, 0.1), lambda e: single_delta(Step("replace", 1 / 0.8, 0.1), e)),
    "swap": (SwapPair(0.8, 0.1), lambda e: swap_delta(0.8, 0.1, e)),
    "pure": (PurePair(0.9), lambda e: pure_delta(0.9, e)),
    "laplace": (LaplacePair(1.3), lambda e: laplace_delta(1.3, e)),
}


def stick(lattice, step, eps):
    """delta of a loss distribution on the grid."""
    losses = step * np.arange(lattice.first, lattice.first + len(lattice.mass))
    return float(lattice.mass @ np.maximum(-np.expm1(eps - losses), 0)) + lattice.infinite


def dominates(lattice, step, exact, points):
    """Whether the grid version is at least the truth at every point."""
    return all(stick(lattice, step, e) >= exact(e) * (1 - 1e-9) - 1e-13 for e in points)


@pytest.mark.parametrize("name", SINGLE)
@pytest.mark.parametrize("step", [1e-3, 0.05, 0.7])
def test_dividing_a_cell_keeps_both_masses(name, step):
    lattice = SINGLE[name][0].lattice(step, 9.0, -math.inf)
    losses = step * np.arange(lattice.first, lattice.first + len(lattice.mass))
    assert lattice.mass.min() >= 0
    assert lattice.mass.sum() + lattice.infinite == pytest.approx(1, abs=1e-13)
    assert lattice.mass @ np.exp(-losses) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("name", SINGLE)
@pytest.mark.parametrize("step", [0.01, 0.3])
def test_grid_version_dominates_and_touches_the_curve_on_the_grid(name, step):
    pair, exact = SINGLE[name]
    lattice = pair.lattice(step, 9.0, -math.inf)
    between = np.random.default_rng(0).uniform(0, 2, 60)
    assert dominates(lattice, step, exact, between)
    for k in range(0, 12, 3):
        assert stick(lattice, step, k * step) == pytest.approx(exact(k * step), rel=1e-9, abs=1e-13)


@pytest.mark.parametrize("name", SINGLE)
def test_a_grid_rounded_down_is_caught(name):
    pair, exact = SINGLE[name]
    lattice = pair.lattice(0.05, 9.0, -math.inf)
    lower = Lattice(lattice.first - 1, lattice.mass, lattice.infinite)
    assert not dominates(lower, 0.05, exact, np.linspace(0.01, 0.5, 20))


def test_raising_low_losses_is_private():
    pair, exact = SINGLE["gaussian"]
    assert dominates(pair.lattice(0.05, 9.0, -0.5), 0.05, exact, np.linspace(0, 2, 30))


@pytest.mark.parametrize(
    ("mu", "steps", "at"),
    [(1.0, 1, 1e-5), (0.01, 1000, 1e-6), (3.0, 1, 1e-12), (1e-3, 100_000, 1e-15), (10.0, 100, 0.1)],
)
def test_gaussians_on_the_grid_reach_the_closed_form(mu, steps, at):
    pairs = [(GaussianPair(mu), steps)]
    found = compose(pairs, plan_for_delta(pairs, at, 2e-5)).epsilon(at)
    exact = gaussian_epsilon(mu * math.sqrt(steps), at)
    assert exact * (1 - 1e-9) <= found <= exact * (1 + 1e-4)


def test_any_plan_is_private():
    pairs = [(GaussianPair(0.1), 100)]
    exact = gaussian_epsilon(1.0, 1e-6)
    plan = plan_for_delta(pairs, 1e-6, 2e-5)
    for odd in (plan.wider(), plan_for_epsilon(pairs, 3.0, 1e-2), plan_for_delta(pairs, 1e-9, 0.1)):
        found = compose(pairs, odd).epsilon(1e-6)
        assert found is None or found >= exact * (1 - 1e-9)


@pytest.mark.parametrize("pair", [PurePair(1.0), LaplacePair(1.0)], ids=["pure", "laplace"])
def test_whatever_window_is_looked_at_the_epsilon_is_proved(pair):
    """Also where delta is met all over the window, whose lower edge is then all that is proved."""
    exact, pairs, edges = (
        {PurePair: pure_delta, LaplacePair: laplace_delta}[type(pair)],
        [(pair, 1)],
        0,
    )
    for looked in (0.3, 0.9, 0.99, 0.9999):
        for accuracy in (2e-5, 1e-3):
            tail = compose(pairs, plan_for_epsilon(pairs, looked, accuracy, 1e10))
            for at in (1e-9, 1e-4, 0.1, 0.5, 0.7):
                found = tail.epsilon(at)
                edges += found == tail.losses[0]
                assert exact(1.0, max(found, 0.0)) <= at * (1 + 1e-9)
    assert edges >= 3


@pytest.mark.parametrize("count", [3, 40])
def test_pure_steps_compose_as_a_binomial(count):
    pure, eps = 0.3, 1.1
    wins = np.arange(count + 1)
    losses = pure * (2 * wins - count)
    mass = binom.pmf(wins, count, 1 / (1 + math.exp(-pure)))
    exact = float(mass @ np.maximum(-np.expm1(eps - losses), 0))
    found = delta(((PureDP(pure), count),), eps, "replace_one")
    assert exact == 0 if count == 3 else exact * (1 - 1e-9) <= found <= exact * (1 + 1e-2)
    assert found >= exact


@pytest.mark.parametrize("event", [PureDP(0.2), Laplace(5.0)], ids=repr)
def test_bounded_losses_never_cost_more_than_their_sum(event):
    script = ((event, 7),)
    assert epsilon(script, 0.0, "replace_one") == pytest.approx(1.4, rel=1e-12)
    assert epsilon(script, 1e-9, "replace_one") <= 1.4 * (1 + 1e-12)
    assert delta(script, 1.4000001, "replace_one") == 0


def test_adding_a_record_is_priced_by_its_own_pair():
    pairs = [(AddPair(2.0, 0.05), 300)]
    at = 1e-6
    found = compose(pairs, plan_for_delta(pairs, at, 2e-5)).epsilon(at)
    assert exact_delta([(Step("add", 0.5, 0.05), 300)], found) <= at
    assert exact_delta([(Step("add", 0.5, 0.05), 300)], found * 0.999) > at
    script = ((PoissonGaussian(0.5, 0.05), 300),)
    assert epsilon(script, at, "add_remove") >= found


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_a_mixed_script_is_priced_exactly(neighbors):
    kind, share = ("remove", 1.0) if neighbors == "add_remove" else ("replace", 2.0)
    script = (
        (PoissonGaussian(1.0, 0.02), 400),
        (Gaussian(8.0 / share), 3),
        (PoissonGaussian(2.0, 0.1), 50),
    )
    steps = [
        (Step(kind, 1.0, 0.02), 400),
        (Step("remove", 8.0 / share, 1.0), 3),
        (Step(kind, 2.0, 0.1), 50),
    ]
    found = epsilon(script, 1e-8, neighbors)
    assert exact_delta(steps, found) <= 1e-8
    assert exact_delta(steps, found * 0.999) > 1e-8


@pytest.mark.parametrize(
    "event", [PoissonGaussian(1.0, 0.01), WithoutReplacementGaussian(4.0, 0.05)], ids=repr
)
def test_repetition_is_composition(event):
    apart = run_lengths([event, Gaussian(30.0)] * 20)
    together = ((event, 20), (Gaussian(30.0), 20))
    one, other = (epsilon(s, 1e-6, "replace_one") for s in (apart, together))
    assert one == pytest.approx(other, rel=1e-12)


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_delta_and_epsilon_invert_each_other(neighbors):
    script = ((PoissonGaussian(1.5, 0.03), 200),)
    eps = epsilon(script, 1e-7, neighbors)
    assert delta(script, eps, neighbors) == pytest.approx(1e-7, rel=2e-3)


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_a_profile_is_as_good_as_delta_at_each_epsilon(neighbors):
    """Though one composition speaks for several epsilons: against the exact delta, at and between them."""
    kind = "remove" if neighbors == "add_remove" else "replace"
    script = ((PoissonGaussian(1.0, 0.02), 400), (PoissonGaussian(2.0, 0.1), 50))
    steps = [(Step(kind, 1.0, 0.02), 400), (Step(kind, 2.0, 0.1), 50)]
    points = np.linspace(0.0, epsilon(script, 1e-12, neighbors), 25)
    curve = profile(script, points, neighbors)
    assert (np.diff(curve) < 0).all()
    for i in (0, 1, 2, 3, 11, 22, 23, 24):
        true = exact_delta(steps, points[i])
        assert true * (1 - 1e-9) <= curve[i] <= 1.02 * true
    assert profile(script, np.array([1e6]), neighbors)[0] == 0 or curve[-1] > 0


def test_negative_epsilon_follows_from_symmetry():
    mu = 0.1 * math.sqrt(50)
    script = ((Gaussian(10.0), 50),)
    assert delta(script, -0.3, "replace_one") == pytest.approx(gaussian_delta(-0.3, mu), rel=1e-12)


def calibrated(script, spec):
    """Scale of the noise of a script that is written for 1."""
    return calibrate_scale(
        lambda s: tuple((e.scaled(s), k) for e, k in script), spec, "pld", accountants.epsilon
    )


@pytest.mark.parametrize(
    ("event", "neighbors"),
    [
        (PoissonGaussian(1.0, 0.01), "add_remove"),
        (PoissonGaussian(1.0, 0.01), "replace_one"),
        (WithoutReplacementGaussian(3.0, 0.01), "replace_one"),
        (Laplace(20.0), "replace_one"),
    ],
    ids=repr,
)
def test_calibration_is_on_the_private_side_and_tight(event, neighbors):
    spec = Spec(1.0, 1e-6, neighbors)
    script = ((event, 100),)
    scale = calibrated(script, spec)
    spent = epsilon(((event.scaled(scale), 100),), spec.delta, neighbors)
    assert 1 - 1e-4 <= spent <= 1
    assert epsilon(((event.scaled(scale * 0.999), 100),), spec.delta, neighbors) > 1


def test_calibration_refuses_what_noise_cannot_buy():
    with pytest.raises(ValueError, match="positive delta"):
        calibrated(((PoissonGaussian(1.0, 0.1), 10),), Spec(1.0, 0.0, "add_remove"))
    assert calibrated(((PoissonGaussian(1.0, 0.1), 10),), Spec(math.inf, 1e-6)) == 0.0


def test_edges_have_their_true_prices():
    free = ((PoissonGaussian(math.inf, 0.1), 5), (PoissonGaussian(1.0, 0.0), 9), (PureDP(0.0), 2))
    assert epsilon(free, 1e-9, "replace_one") == 0.0
    assert delta(free, 0.0, "replace_one") == 0.0
    bare = ((PoissonGaussian(0.0, 0.1), 1),)
    assert epsilon(bare, 1e-9, "add_remove") == math.inf
    assert epsilon(((PoissonGaussian(1.0, 0.1), 1),), 0.0, "add_remove") == math.inf
    assert epsilon(((PoissonGaussian(1.0, 1e-4), 1),), 1e-3, "add_remove") == 0.0
    whole = ((PoissonGaussian(2.0, 1.0), 10),)
    assert epsilon(whole, 1e-6, "replace_one") == gaussian_epsilon(math.sqrt(10), 1e-6)


def test_what_has_no_pair_is_refused():
    sampled = WithoutReplacementGaussian(1.0, 0.1)
    assert supports(sampled, "replace_one")
    assert not supports(sampled, "add_remove")
    assert supports(BoundedRange(1.0), "replace_one")
    assert not supports(BoundedRange(41.0), "replace_one")
    with pytest.raises(NotSupported, match="WithoutReplacementGaussian"):
        epsilon(((sampled, 1),), 1e-6, "add_remove")


LAW = [
    (PoissonGaussian, "add_remove"),
    (PoissonGaussian, "replace_one"),
    (WithoutReplacementGaussian, "replace_one"),
]
LAW_IDS = ["remove", "replace", "swap"]


def prices(event, neighbors, axis, at):
    """Epsilon along one axis: the settings in the order of growing cost."""
    return [epsilon(((event(z, q), steps),), at, neighbors) for z, q, steps in axis]


def sorted_and_finite(values):
    """Whether costs are finite, not NaN and do not fall; the grid may waver by its accuracy."""
    finite = all(math.isfinite(v) and v >= 0 for v in values)
    return finite and all(b >= a * (1 - 1e-4) for a, b in pairwise(values))


@pytest.mark.parametrize(("event", "neighbors"), LAW, ids=LAW_IDS)
@pytest.mark.parametrize("at", [1e-3, 1e-9, 1e-15])
def test_cost_grows_with_less_noise_more_steps_and_larger_samples(event, neighbors, at):
    noise = [(z, 0.02, 300) for z in (1e4, 100.0, 10.0, 3.0, 2.9, 1.0, 0.5, 0.1, 1e-2)]
    steps = [(1.3, 0.01, n) for n in (1, 2, 10, 100, 101, 1000, 10_000)]
    rates = [(1.3, q, 50) for q in (1e-5, 1e-4, 1e-2, 0.011, 0.3, 0.9, 0.999, 1.0)]
    for axis in (noise, steps, rates):
        values = prices(event, neighbors, axis, at)
        assert sorted_and_finite(values)
        assert not sorted_and_finite(values[::-1])


@pytest.mark.slow
@pytest.mark.parametrize(("event", "neighbors"), LAW, ids=LAW_IDS)
@pytest.mark.parametrize("at", [1e-3, 1e-15])
def test_a_million_steps_stay_finite_and_ordered(event, neighbors, at):
    noises = (1e4, 100.0, 10.0, 1.0, 0.1, 1e-2)
    for rate in (1e-4, 0.01, 0.9):
        rows = [
            prices(event, neighbors, [(z, rate, n) for z in noises], at) for n in (1, 1000, 10**6)
        ]
        assert all(sorted_and_finite(row) for row in rows)
        assert all(sorted_and_finite(column) for column in zip(*rows))


@pytest.mark.parametrize(
    ("script", "at"),
    [
        (((Laplace(0.11484728785689295), 23),), 4.94e-11),
        (((PureDP(2.0973543954), 4), (PoissonGaussian(7969.0, 0.003), 3779)), 4.5e-14),
        (((PureDP(0.0028781879), 10), (PoissonGaussian(4680.0, 2.8e-5), 113)), 1.7e-11),
    ],
    ids=["laplace", "pure and sampled", "small"],
)
def test_delta_stays_small_beside_the_largest_loss(script, at):
    eps = epsilon(script, at, "add_remove")
    assert delta(script, eps, "add_remove") < 1e-6
    assert at < delta(script, eps * (1 - 1e-3), "add_remove") < 1e-2
