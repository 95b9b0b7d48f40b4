"""Loss distributions at both ends of what may be asked: epsilon to 1e15, delta from 1e-280 to 1 - 1e-9.

There noise is so small beside a record that whoever is in a sample is seen, and the loss of a script is a binomial
number of Gaussian losses: closed, and sharing no code with the engine.
"""

import math
from dataclasses import replace

import mpmath as mp
import pytest

from skdp.exceptions import NotSupported
from skdp.privacy import Spec, accountants
from skdp.privacy import _pld as engine
from skdp.privacy._calibrate import _search, calibrate_scale
from skdp.privacy._pld_compose import compose
from skdp.privacy._pld_other_pairs import (
    LaplaceAddPair,
    LaplacePair,
    LaplaceRemovePair,
    LaplaceReplacePair,
    PurePair,
    SwapPair,
)
from skdp.privacy._pld_pairs import AddPair, GaussianPair, MovedPair, RemovePair, ReplacePair
from skdp.privacy._pld_plan import MAX_CELLS, plan_for_delta, plan_for_epsilon
from skdp.privacy.events import (
    BoundedRange,
    Gaussian,
    Laplace,
    PoissonGaussian,
    PureDP,
    WithoutReplacementGaussian,
)

REPLACE, ADD = "replace_one", "add_remove"


def above(eps, mean, variance):
    """E (1 - e^{eps - S})+ of a Gaussian loss S."""
    sd = mp.sqrt(variance)
    z = (mean - eps) / sd
    return mp.ncdf(z) - mp.exp(eps - mean + variance / 2) * mp.ncdf(z - sd)


def seen_delta(script, eps, relation):
    """True delta, but for terms of e^-1000, of sampled steps beside one Gaussian, all of hardly any noise."""
    with mp.workdps(40):
        (event, count), *rest = script
        square = mp.fsum(mp.mpf(e.multiplier) ** -2 for e, _ in rest)
        shift = (2 if relation == REPLACE else 1) / mp.mpf(event.multiplier)
        q, total = mp.mpf(event.rate), mp.mpf(0)
        unseen = mp.mpf(0) if relation == REPLACE else mp.log1p(-q)
        for k in range(0 if square else 1, count + 1):
            mean = k * (shift**2 / 2 + mp.log(q)) + (count - k) * unseen + square / 2
            weight = mp.binomial(count, k) * q**k * (1 - q) ** (count - k)
            total += weight * above(mp.mpf(eps), mean, k * shift**2 + square)
        adding = above(mp.mpf(eps), square / 2 - count * unseen, square) if square else mp.mpf(0)
        return max(total, adding)


def few(event, count, *rest):
    return ((event, count), *((e, 1) for e in rest))


FAR = {
    "one sampled step": (few(PoissonGaussian(1e-3, 0.05), 1, Gaussian(5e-3)), ADD),
    "two beside a Gaussian": (few(PoissonGaussian(7e-5, 0.05), 2, Gaussian(7e-4)), ADD),
    "many": (few(PoissonGaussian(1e-4, 0.1), 30, Gaussian(1e-3)), ADD),
    "subsets": (few(WithoutReplacementGaussian(7e-7, 0.125), 249), REPLACE),
    "few subsets": (few(WithoutReplacementGaussian(1e-4, 0.25), 3), REPLACE),
}


@pytest.mark.parametrize("at", [1e-200, 1e-6, 0.1, 0.9, 1 - 1e-9])
@pytest.mark.parametrize("name", FAR)
def test_epsilon_where_noise_hides_nothing(name, at, monkeypatch):
    script, relation = FAR[name]
    taken = []
    monkeypatch.setattr(engine, "compose", lambda *asked: taken.append(1) or compose(*asked))
    found = engine.epsilon(script, at, relation)
    assert seen_delta(script, found, relation) <= at * (1 + 1e-9)
    assert math.isfinite(found) or at == 1e-200  # tails are cut above that
    if found < math.inf and at <= 0.9:  # beyond, the e^-16 that a window misses shows
        assert found == 0 or seen_delta(script, 0.97 * found, relation) > at
    assert len(taken) <= 12


def calibrated(script, spec):
    """Scale of the noise of a script that is written for 1."""
    return calibrate_scale(
        lambda s: tuple((e.scaled(s), k) for e, k in script), spec, "auto", accountants.epsilon
    )


MOVES = (0.0, 0.5, 1.0), (0.81, 0.18, 0.01), (0.9, 0.1, 0.0)
PAIRS = [
    *(GaussianPair(0.7), GaussianPair(1e5), RemovePair(1e4, 0.3), AddPair(3.0, 0.3)),
    *(ReplacePair(20.0, 0.1), SwapPair(0.8, 0.1), SwapPair(3e6, 1e-3)),
    *(PurePair(0.9), PurePair(3e13), LaplacePair(1.3), LaplacePair(1e12)),
    *(LaplaceRemovePair(1.3, 0.1), LaplaceAddPair(200.0, 0.1), LaplaceReplacePair(0.01, 0.5)),
    *(MovedPair(3.0, *MOVES), MovedPair(1e-3, *MOVES), MovedPair(1.0, *MOVES[:2], (1.0, 0.0, 0.0))),
]


@pytest.mark.parametrize("floor", [-math.inf, -40.0, -0.5, -1e-9])
@pytest.mark.parametrize("pair", PAIRS, ids=repr)
def test_the_size_of_a_grid_is_known_before_it_is_built(pair, floor):
    reach = 9.0
    low, high = pair.ends(reach, floor)
    for cells in (7, 1000):
        step = (high - low) / cells
        lattice = pair.lattice(step, reach, floor)
        last = lattice.first + len(lattice.mass) - 1
        assert lattice.first * step >= low - 1.01 * step and last * step <= high + 2.01 * step
        assert len(lattice.mass) <= cells + 4
        assert lattice.mass.sum() + lattice.infinite == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("at", [1e-30, 1e-6, 1 - 1e-9])
@pytest.mark.parametrize("pair", PAIRS, ids=repr)
def test_no_plan_asks_for_more_cells_than_there_are(pair, at):
    pairs = [(pair, 30)]
    plans = [plan_for_delta(pairs, at, 2e-5), plan_for_delta(pairs, at, 2e-5, 1e-9)]
    plans += [
        plan_for_epsilon(pairs, eps, accuracy) for eps in (0.0, 1e15) for accuracy in (1e-2, 2e-5)
    ]
    for plan in [*plans, *(plan.wider() for plan in plans)]:
        assert plan.step > 0
        assert len(pair.lattice(plan.step, plan.reach, plan.floor).mass) <= plan.cells + 4


def test_a_grid_that_would_be_too_long_is_refused_beforehand():
    pairs = [(PurePair(3e13), 30)]
    plan = plan_for_delta(pairs, 1e-6, 2e-5)
    with pytest.raises(NotSupported, match="does not fit on a grid"):
        compose(pairs, replace(plan, step=plan.step / (16 * MAX_CELLS)))


@pytest.mark.parametrize(
    "events",
    [
        [(BoundedRange(1.0), 30)],
        [(PureDP(1e-6), 30), (BoundedRange(1.0), 30)],
        [(BoundedRange(1.0), 1), (Laplace(1e4), 3)],
    ],
    ids=["range", "pure and range", "range and Laplace"],
)
@pytest.mark.parametrize("at", [1e-300, 1e-6, 1 - 1e-9])
def test_pure_scripts_of_a_huge_epsilon_are_calibrated_to_it(events, at):
    """An epsilon of 1e15 is met by the sum of epsilons, to what delta adds: log(1 / (1 - delta)) at most."""
    spec = Spec(1e15, at)
    scale = calibrated(events, spec)
    total = math.fsum(
        k * (e.epsilon if hasattr(e, "epsilon") else 1 / e.multiplier) for e, k in events
    )
    assert total / scale == pytest.approx(1e15, rel=1e-7)


def test_a_price_with_steps_ends_the_search():
    """A grid makes prices jump: a root at a jump is never found, and each look costs a composition."""
    asked = []

    def price(script, delta, neighbors, accountant):
        ((event, _),) = script
        asked.append(event.multiplier)
        return 1e6 * (1 + 3e-5 * math.floor(math.log(event.multiplier) * -1e5))

    spec = Spec(1e6, 0.5)
    scale = _search(lambda s: ((PoissonGaussian(s, 0.1), 2),), spec, "rdp", price, 1e-3, 1e-2)
    assert price(((PoissonGaussian(scale, 0.1), 1),), 0.5, ADD, "rdp") <= 1e6
    assert scale <= 1 + 1e-4 and len(asked) <= 20


@pytest.mark.parametrize("name", FAR)
def test_calibrations_take_few_compositions(name, monkeypatch):
    script, relation = FAR[name]
    taken = []
    monkeypatch.setattr(engine, "compose", lambda *asked: taken.append(1) or compose(*asked))
    spec = Spec(1e6, 0.999999999, relation)
    scale = calibrated(script, spec)
    made = tuple((e.scaled(scale), k) for e, k in script)
    assert accountants.epsilon(made, spec.delta, relation) <= 1e6
    assert seen_delta(made, 1e6, relation) <= spec.delta
    assert len(taken) <= 80


def test_a_delta_below_all_tails_is_left_to_others_at_once(monkeypatch):
    """A loss without a largest one has a tail that no grid holds; a bounded one has none."""
    taken = []
    monkeypatch.setattr(engine, "compose", lambda *asked: taken.append(1) or compose(*asked))
    script, relation = FAR["many"]
    assert math.isinf(engine.epsilon(script, 1e-300, relation)) and not taken
    assert math.isfinite(accountants.epsilon(script, 1e-300, relation))
    assert engine.epsilon(((PureDP(0.1), 3),), 1e-300, relation) == pytest.approx(0.3) and taken


SAMPLED_AND_WHOLE = ((Gaussian(6.03), 1), (PoissonGaussian(0.6026, 0.05), 231))


@pytest.mark.parametrize("eps", [5.0, 12.0, 14.0, 16.0])
def test_what_is_bounded_only_moves_the_profile_of_what_is_not(eps):
    """The cheap bound that leaves a direction out is above the direction's own loss distribution."""
    counts = engine.live(SAMPLED_AND_WHOLE, ADD)
    _, adding = engine.directions_of(counts, ADD)
    bounded, mu = engine.parted(adding)
    assert bounded == pytest.approx(-231 * math.log1p(-0.05)) and mu == pytest.approx(1 / 6.03)
    assert engine._delta_of(adding, eps, 2e-5) <= engine.delta_at_most(bounded, mu, eps)
    assert engine._epsilon_of(adding, 1e-9, 2e-5) <= engine._epsilon_at_most(bounded, mu, 1e-9)
    assert engine.delta_at_most(3.0, 0.0, 3.1) == 0 and engine.delta_at_most(3.0, 0.0, 2.9) == 1
    assert engine._epsilon_at_most(3.0, 0.0, 1e-9) == 3.0


def test_a_direction_far_below_the_other_is_not_composed_at_all(monkeypatch):
    """Beyond the losses that a record's insertion can cause, its tilt ran away: six grids of a million cells."""
    taken = []
    monkeypatch.setattr(engine, "compose", lambda *given: taken.append(1) or compose(*given))
    for eps in (15.0, 20.0, 30.0):
        assert engine.delta(SAMPLED_AND_WHOLE, eps, ADD) > 0
    assert len(taken) <= 6
