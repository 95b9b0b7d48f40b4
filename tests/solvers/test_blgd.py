"""DP-BLGD: its limit, its budget, and the tests that its steps pass."""

import math

import numpy as np
import pytest
from solvers.comparing import (
    Answering,
    check_determined_by_seed,
    check_filter,
    distance_to_optimum,
    model,
    problem,
    quality,
    task,
)

from skdp.mechanisms import FirstDecrease, GaussianFirstDecrease, Gradient
from skdp.penalties import L1, L2, ScaledPenalty
from skdp.privacy import Spec
from skdp.privacy.ledger import Filter
from skdp.solvers import Budget
from skdp.solvers.blgd import BLGD, armijo


@pytest.mark.parametrize("C", [0.02, 1.0, 100.0])
def test_reaches_the_optimum_without_noise(C):
    assert distance_to_optimum("blgd", C) < 1e-6


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_spends_within_its_filter_and_leaves_little(neighbors, law):
    fitted = check_filter(BLGD(search_noise=law), neighbors)
    total = Filter(Spec(1.0, 1e-6, neighbors), "rdp").total
    assert fitted.privacy_.unspent < 0.2 * total


def test_a_seed_determines_the_result():
    check_determined_by_seed("blgd")


def test_learns():
    assert quality("blgd", 1.0) > 0.8
    assert quality("blgd", 1.0, neighbors="add_remove") > 0.8


@pytest.mark.parametrize(
    "law, kind", [("laplace", FirstDecrease), ("gaussian", GaussianFirstDecrease)]
)
def test_a_search_takes_its_share(law, kind):
    oracle = Answering(lambda k: 0, "rdp")
    BLGD(search_noise=law, splits=20, selection_share=0.3).solve(oracle, task(), Budget(1.0, 1e-6))
    asked = [q for q in oracle.asked if isinstance(q, kind)]
    price = Filter(Spec(1.0, 1e-6), "rdp")
    price.charge(asked[0].event(oracle.public))
    assert price.spent == pytest.approx(0.3 / 20 * price.total, rel=1e-4)
    assert len(asked) == 20


def test_stops_within_the_budget_when_no_step_passes():
    oracle = Answering(lambda k: k, "rdp")
    w = BLGD().solve(oracle, task(), Budget(1.0, 1e-6))
    assert not w.any() and not isinstance(oracle.asked[-1], Gradient)
    bought = np.cumsum([q.multiplier**-2 for q in oracle.asked if isinstance(q, Gradient)])
    assert np.allclose(np.diff(bought), 0.3 * bought[:-1], rtol=1e-6)


def test_starts_each_ladder_at_twice_the_longest_recent_step():
    oracle = Answering(lambda k: 2, "rdp")
    BLGD(refresh=3, step_size=8.0, momentum=0.0, splits=9).solve(
        oracle, task(0.0), Budget(1.0, 1e-6)
    )
    searches = [q for q in oracle.asked if isinstance(q, FirstDecrease)]
    first = [np.linalg.norm(q.candidates[0] - q.at) for q in searches]
    assert np.allclose(np.array(first) / first[0], [1, 1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25])


def test_the_factor_the_slack_and_the_clip_of_losses_are_those_given():
    """As printed in the source: each step 0.8 of the one before, a ladder that starts at 1.2 of the longest."""
    oracle = Answering(lambda k: 2, "rdp")
    given = {"backtrack": 0.8, "slack": 1.2, "objective_clip": 0.002}
    solver = BLGD(refresh=1, step_size=8.0, momentum=0.0, splits=9, **given)
    solver.solve(oracle, task(0.0), Budget(1.0, 1e-6))
    searches = [q for q in oracle.asked if isinstance(q, FirstDecrease)]
    lengths = np.array([np.linalg.norm(q.candidates - q.at, axis=1) for q in searches])
    assert np.allclose(lengths / lengths[:, :1], 0.8 ** np.arange(5))
    assert np.allclose(lengths[1:, 0], 1.2 * lengths[:-1, 2])
    clip = next(q.clip for q in oracle.asked if isinstance(q, Gradient))
    bounds = np.array([q.bounds for q in searches])
    assert np.allclose(bounds, np.minimum(clip * lengths, 0.002))
    assert (bounds == 0.002).any() and (bounds < 0.002).any()


def test_demands_are_armijo_for_smooth_objectives_and_hold_for_proximal_ones():
    w, g, n = np.array([1.0, -2.0]), np.array([0.5, 0.3]), 50.0
    steps = np.array([2.0, 0.5])
    points = np.stack([w - s * g for s in steps])
    smooth = armijo(ScaledPenalty(L2(0.0), 1.0, False), n, w, points, steps, 0.1)
    assert np.allclose(smooth, 0.1 * n * steps * g.dot(g))
    lasso = ScaledPenalty(L1(1.0), 1.0, False)
    moved = np.stack([lasso.prox(w - s * g, s / n) for s in steps])
    gained = armijo(lasso, n, w, moved, steps, 0.0)
    assert np.allclose(gained, np.abs(moved).sum(axis=1) - 3.0)


def test_refuses_an_unknown_law():
    with pytest.raises(ValueError, match="search_noise='cauchy'"):
        model(BLGD(search_noise="cauchy")).fit(*problem(50))


def test_noiseless_search_is_exact():
    oracle = Answering(lambda k: k, "rdp", epsilon=math.inf)
    BLGD(max_rounds=3).solve(oracle, task(), Budget(math.inf, 1e-6))
    assert all(math.isinf(q.query_epsilon) for q in oracle.asked if isinstance(q, FirstDecrease))
