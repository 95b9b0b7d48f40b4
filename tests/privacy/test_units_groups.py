"""What a script for one row promises to k rows, against exact laws of k rows."""

import math
from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest
from units_density import (
    NOBODY,
    STEEP_HINGE,
    CappedSquaredHinge,
    curved_part,
    event_of,
    true_delta,
    unit,
)

from skdp.losses import Huber, Logistic
from skdp.privacy import Spec, accountants
from skdp.privacy.events import (
    ZCDP,
    AboveThreshold,
    BoundedRange,
    Gaussian,
    GaussianAboveThreshold,
    Laplace,
    PoissonBundle,
    PoissonGaussian,
    PoissonLaplace,
    PoissonPure,
    PureDP,
    PureObjectivePerturbation,
    RandomPosition,
    RenyiDP,
    ShuffledEpoch,
    WithoutReplacementGaussian,
)
from skdp.privacy.groups import for_rows

ROW = Spec(1.0, 1e-6, "add_remove")
mp.mp.dps = 40


def gaussian(epsilon, mu):
    """delta of two normal laws at distance mu, in forty digits."""
    e, m = mp.mpf(epsilon), mp.mpf(mu)
    tail = lambda x: mp.erfc(x / mp.sqrt(2)) / 2  # noqa: E731
    return tail(e / m - m / 2) - mp.exp(e) * tail(e / m + m / 2)


@pytest.mark.parametrize("k", [2, 5, 30])
def test_gaussians_promise_exactly_k_mu(k):
    script = ((Gaussian(20.0), 3), (Gaussian(50.0), 1))
    mu = k * mp.sqrt(3 / mp.mpf(20) ** 2 + 1 / mp.mpf(50) ** 2)
    epsilon = for_rows(script, ROW, k).epsilon
    assert gaussian(epsilon, mu) <= mp.mpf(10) ** -6
    assert gaussian(epsilon * (1 - 1e-9), mu) > mp.mpf(10) ** -6


def test_wrong_rules_for_gaussians_are_exceeded():
    """k epsilon at the same delta, and sqrt(k) mu, as if rows were releases."""
    script, k = ((Gaussian(10.0), 1),), 10
    one = accountants.epsilon(script, 1e-6)
    as_rounds = accountants.epsilon(((Gaussian(10.0), k),), 1e-6)
    for wrong in (k * one * 0.5, as_rounds):
        assert gaussian(wrong, k * mp.mpf("0.1")) > 2e-6
    assert gaussian(for_rows(script, ROW, k).epsilon, k * mp.mpf("0.1")) <= mp.mpf(10) ** -6
    assert for_rows(script, ROW, k).epsilon > k * one  # so the plain multiple would be a lie


def test_k_epsilon_at_the_same_delta_is_exceeded():
    script, k = ((Gaussian(4.0), 1),), 3
    wrong = k * accountants.epsilon(script, 1e-6)
    assert gaussian(wrong, mp.mpf(k) / 4) > 1.01e-6


def chain(k, epsilon):
    """A release about a count of 0..k, whose neighbours differ by exactly e^epsilon: the geometric law."""
    answers = np.arange(-600, 601)
    weights = np.exp(-epsilon * np.abs(answers[None, :] - np.array([0, k])[:, None]))
    return weights / weights.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("k", [2, 3, 7])
@pytest.mark.parametrize("count", [1, 2])
def test_pure_steps_about_k_rows_by_enumeration(k, count):
    p, q = chain(k, 0.1)
    for _ in range(count - 1):
        p, q = (np.multiply.outer(law, law).ravel() for law in (p, q))
    for delta in (0.0, 1e-3):
        promise = for_rows(((PureDP(0.1), count),), Spec(1.0, delta, "add_remove"), k)
        assert np.maximum(p - math.exp(promise.epsilon) * q, 0).sum() <= delta + 1e-15
        if delta == 0:
            assert promise.epsilon == pytest.approx(0.1 * k * count, rel=1e-15)
            assert math.log((p / q).max()) == pytest.approx(promise.epsilon)


def test_pure_sums_are_exact_numbers():
    assert for_rows(((PureDP(0.7), 1),), Spec(1.0, 0.0), 3).epsilon == 2.1
    assert for_rows(((PureDP(0.1), 3), (Laplace(10.0), 1)), Spec(1.0, 0.0), 3).epsilon == 1.2


def two_points(epsilon, delta):
    """Laws of k + 1 answers in a row, each (epsilon, delta)-close to the next and no closer."""
    yes = [delta]
    while len(yes) < 40:
        yes.append(min(1.0, math.exp(epsilon) * yes[-1] + delta))
    return yes


@pytest.mark.parametrize("k", [2, 5])
def test_the_rule_for_curves_is_attained_by_a_chain(k):
    """P_j(yes) = e^eps P_(j-1)(yes) + delta is what k steps of one promise allow."""
    event = RenyiDP(8.0, 0.01)
    promise = for_rows(((event, 1),), ROW, k)
    best = math.inf
    for epsilon in np.linspace(1e-3, 6, 3001):
        delta = accountants.delta(((event, 1),), epsilon, "add_remove")
        grown = delta * sum(math.exp(j * epsilon) for j in range(k))
        assert two_points(epsilon, delta)[k - 1] == pytest.approx(min(grown, 1.0), abs=1e-12)
        if grown <= 1e-6:
            best = min(best, k * epsilon)
    assert best * (1 - 2e-3) <= promise.epsilon <= best
    at_the_same_delta = k * accountants.epsilon(((event, 1),), 1e-6, "add_remove")
    assert promise.epsilon > at_the_same_delta  # which no chain of k steps supports


def test_a_curve_that_falls_too_slowly_promises_nothing():
    """Order 8 falls like e^(-7 eps): eleven steps grow faster, however far the tail underflows."""
    assert for_rows(((RenyiDP(8.0, 0.01), 1),), ROW, 12).epsilon == math.inf


def test_a_laplace_sum_about_k_rows():
    """delta of Laplace laws at distance k/b is 1 - exp((eps - k/b)/2)."""
    promise = for_rows(((Laplace(10.0), 1),), Spec(1.0, 1e-3), 4)
    assert -math.expm1((promise.epsilon - 0.4) / 2) <= 1e-3
    assert promise.epsilon == pytest.approx(0.4 + 2 * math.log1p(-1e-3), rel=1e-9)


@pytest.mark.parametrize(
    "event, moved",
    [
        (ZCDP(0.001), ZCDP(0.009)),
        (BoundedRange(0.05), BoundedRange(0.15)),
        (AboveThreshold(0.1, 0.05), AboveThreshold(0.3, 0.15)),
        (GaussianAboveThreshold(30.0, 60.0, 5), GaussianAboveThreshold(10.0, 20.0, 5)),
    ],
)
def test_what_moves_three_times_as_far_costs_that(event, moved):
    promise = for_rows(((event, 2),), ROW, 3).epsilon
    assert promise <= accountants.epsilon(((moved, 2),), 1e-6, "add_remove") * (1 + 1e-9)
    assert promise > accountants.epsilon(((event, 2),), 1e-6, "add_remove")


# Objective perturbation: k rows of weight 1.


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("loss", [Logistic(), CappedSquaredHinge(), Huber(1.0)], ids=repr)
def test_k_rows_of_objective_perturbation_by_exact_densities(loss, neighbors):
    k, sd, lam, at = 3, 9.0, 4.0, 1e-3
    event = event_of(loss, sd, lam, 1, 1)
    promise = for_rows(((event, 1),), Spec(1.0, at, neighbors), k)
    shares = []
    for left in (
        unit(np.ones(k), np.ones(k), np.ones(k)),
        unit([1, 0.9, -1], [1, 1, -1], np.ones(k)),
    ):
        right = (left[0], left[1], -left[2] * 9) if neighbors == "replace_one" else NOBODY
        if loss.one_signed:
            right = (right[0], right[1], np.sign(right[2]))
        for pull in (-30.0, 0.0, 40.0, 200.0):
            grid = dict(points=80_001, slack=10.0)
            found = true_delta(loss, left, right, promise.epsilon, pull, sd, lam, **grid)
            shares.append(found / at)
    assert max(shares) <= 1
    one = accountants.epsilon(((event, 1),), at, neighbors)
    if neighbors == "add_remove" and type(loss) is Logistic:
        assert max(shares) > 0.8
        left = unit(np.ones(k), np.ones(k), np.ones(k))
        price_of_one = true_delta(
            loss, left, NOBODY, one, 200.0, sd, lam, points=80_001, slack=10.0
        )
        assert price_of_one > 10 * at, "the promise to one row would be a lie"


def test_two_rows_that_curve_are_covered_and_not_by_the_jacobian_of_one():
    """Outcomes at which two orthogonal rows of weight 1 both curve; see the twins of units."""
    sd, lam = 40.0, STEEP_HINGE.curvature / 4
    event = event_of(STEEP_HINGE, sd, lam, 1, 2)
    promise = for_rows(((event, 1),), Spec(1.0, 1e-5, "add_remove"), 2)
    forgotten = replace(event, shift=2 * event.shift, rows=2)  # the curvature of one row
    twin = accountants.epsilon(((forgotten, 1),), 1e-5, "add_remove")
    both = unit(np.eye(2), [1.0, 1.0], [1.0, 1.0])
    assert curved_part(promise.epsilon, sd, lam, both) <= 1e-5
    assert curved_part(twin, sd, lam, both) > 2e-5


def test_k_rows_of_objective_perturbation_beside_gaussians():
    event, script = event_of(Logistic(), 40.0, 50.0, 1, 4), (Gaussian(60.0), 2)
    grouped = replace(
        event, shift=5 / 40.0, jacobian=5 * event.jacobian, rows=5, equal_weights=True
    )
    direct = accountants.epsilon(((grouped, 1), (Gaussian(12.0), 2)), 1e-6, "add_remove")
    promise = for_rows(((event, 1), script), ROW, 5).epsilon
    assert promise == pytest.approx(direct, rel=1e-9)
    assert promise < 5 * 1.5 * accountants.epsilon(((event, 1), script), 1e-6, "add_remove")


def test_pure_objective_perturbation_for_k_rows_is_at_most_k_epsilons():
    event = PureObjectivePerturbation(0.05, 0.2, "one_signed", width=2)
    one = accountants.epsilon(((event, 1),), 0.0)
    assert one < for_rows(((event, 1),), Spec(1.0, 0.0), 6).epsilon <= 6 * one * (1 + 1e-12)


# Refusals and edges.


@pytest.mark.parametrize(
    ("event", "neighbors"),
    [
        (PoissonPure(0.5, 0.1), "add_remove"),
        (PoissonLaplace(2.0, 0.1), "add_remove"),
        (PoissonBundle(2.0, (0.5, 0.5), 0.1), "add_remove"),
        (WithoutReplacementGaussian(3.0, 0.05), "replace_one"),
        (RandomPosition((0.25, 0.75), (2.0, 5.0)), "replace_one"),
        (ShuffledEpoch(3.0), "replace_one"),
    ],
    ids=lambda event: type(event).__name__,
)
def test_rows_or_orders_drawn_at_random_are_priced_by_a_chain_of_single_rows(event, neighbors):
    """Each data set of a chain differs from the next in one row, whatever the rows share."""
    script = ((event, 3),)
    two = for_rows(script, Spec(1.0, 1e-6, neighbors), 2).epsilon
    assert two > accountants.epsilon(script, 1e-6, neighbors)
    pure = isinstance(event, (PoissonPure, PoissonLaplace))
    bound = accountants.epsilon(script, 0.0, neighbors) if pure else math.inf
    grown = accountants.delta(script, two / 2, neighbors) * (1 + math.exp(two / 2))
    assert grown == pytest.approx(1e-6, rel=1e-3) or two == pytest.approx(2 * bound, rel=1e-9)


def test_a_chain_is_attained_by_pure_steps_on_a_sample():
    """Two rows, each in the sample by a coin, and a step whose odds each of them multiplies by e^epsilon."""
    step, rate = 0.4, 0.3
    two = for_rows(((PoissonPure(step, rate), 1),), Spec(1.0, 0.0, "add_remove"), 2).epsilon
    weights = [(1 - rate) ** 2, 2 * rate * (1 - rate), rate**2]
    rare = 1e-9  # an answer whose probability may grow so often
    seen = sum(w * rare * math.exp(j * step) for j, w in enumerate(weights))
    assert math.log(seen / rare) == pytest.approx(two, rel=1e-9) and two < 2 * step


@pytest.mark.parametrize("k", [0, -1, 2.0, True, "3"])
def test_a_number_of_rows_is_a_whole_number(k):
    with pytest.raises(ValueError, match="must be a whole number, 1 or more"):
        for_rows(((Gaussian(9.0), 1),), ROW, k)


def test_one_row_is_promised_what_it_was():
    for event in (Gaussian(9.0), PureDP(0.3), PoissonGaussian(1.0, 0.01)):
        script = ((event, 2),)
        assert for_rows(script, ROW, 1).epsilon == accountants.epsilon(script, 1e-6, "add_remove")


def test_nothing_costs_nothing_and_no_noise_promises_nothing():
    assert for_rows((), ROW, 9).epsilon < 1e-300
    assert for_rows(((Gaussian(0.0), 1),), ROW, 9).epsilon == math.inf
    assert for_rows(((Gaussian(9.0), 1),), replace(ROW, delta=0.0), 2).epsilon == math.inf


@pytest.mark.parametrize(
    "event", [Gaussian(9.0), PureDP(0.1), ZCDP(0.01), RenyiDP(9.0, 0.02)], ids=repr
)
def test_more_rows_are_promised_less(event):
    promises = [for_rows(((event, 1),), ROW, k).epsilon for k in (1, 2, 3, 10)]
    assert promises == sorted(promises) and promises[0] < promises[-1]
