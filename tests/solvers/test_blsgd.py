"""DP-BLSGD and its adaptive clip: limits, budgets, fresh batches, and which budget CHEB blames."""

import math
import warnings

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.datasets import make_classification
from solvers.comparing import (
    Answering,
    check_determined_by_seed,
    check_filter,
    distance_to_optimum,
    model,
    quality,
    task,
)

from skdp import PrivacyWarning
from skdp.mechanisms import FirstDecrease, Gradient, PoissonBatch
from skdp.privacy import Spec
from skdp.privacy.events import PoissonGaussian, PoissonPure
from skdp.privacy.ledger import Filter
from skdp.solvers import Budget
from skdp.solvers.blgd import BLSGD, BLSGDAC, angle_between, search

BUDGET = Budget(1.0, 1e-6)


@pytest.mark.parametrize("C", [0.02, 1.0, 100.0])
def test_reaches_the_optimum_without_noise_where_a_batch_is_everybody(C):
    assert distance_to_optimum(BLSGD(rate=1.0), C) < 1e-6


def test_comes_near_the_optimum_on_batches_without_noise():
    """Within the error of a gradient of 2000 records: coefficients of about 5 are met to a few percent."""
    assert distance_to_optimum(BLSGD(), 1.0, n=20_000) < 0.25


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("solver", ["blsgd", "blsgd-ac", BLSGD(search_noise="laplace")], ids=str)
def test_spends_within_its_filter_and_leaves_little(neighbors, solver):
    fitted = check_filter(solver, neighbors)
    total = Filter(Spec(1.0, 1e-6, neighbors), "rdp").total
    assert fitted.privacy_.unspent < 0.2 * total
    sampled = PoissonGaussian | PoissonPure
    events = [event for event, _ in fitted.privacy_.script[neighbors == "add_remove" :]]
    assert all(isinstance(event, sampled) for event in events)


@pytest.mark.parametrize("solver", ["blsgd", "blsgd-ac"])
def test_a_seed_determines_the_result(solver):
    check_determined_by_seed(solver)


@pytest.mark.parametrize("solver", ["blsgd", "blsgd-ac"])
def test_learns(solver):
    assert quality(solver, 1.0) > 0.8
    assert quality(solver, 1.0, neighbors="add_remove") > 0.8


def _run(solver, answers, directions=None):
    oracle = Answering(answers, "rdp")
    given = oracle.ask
    if directions is not None:
        turn = iter(directions)

        def ask(question):
            answer = given(question)
            return next(turn) if isinstance(question.question, Gradient) else answer

        oracle.ask = ask
    solver.solve(oracle, task(), BUDGET)
    return oracle


def _gradients(oracle):
    return [q.question for q in oracle.asked if isinstance(q.question, Gradient)]


def _searches(oracle):
    return [q.question for q in oracle.asked if not isinstance(q.question, Gradient)]


def test_every_access_draws_its_own_batch():
    oracle = _run(BLSGD(), lambda k: 0)
    assert all(type(q) is PoissonBatch for q in oracle.asked)


def test_a_wide_angle_buys_precision_and_a_narrow_one_a_better_search():
    opposite = [np.eye(3)[0], -np.eye(3)[0]] * 400
    oracle = _run(BLSGD(growth=0.3), lambda k: k, opposite)
    first, second, third = _gradients(oracle)[:3]
    assert first.multiplier == second.multiplier
    assert second.multiplier / third.multiplier == pytest.approx(math.sqrt(1.3))
    assert _searches(oracle)[0].query_multiplier == _searches(oracle)[1].query_multiplier

    oracle = _run(BLSGD(growth=0.3), lambda k: k)  # equal gradients: an angle of zero
    assert len({g.multiplier for g in _gradients(oracle)}) == 1
    first, second = (s.query_multiplier for s in _searches(oracle)[:2])
    assert first / second == pytest.approx(1.3)


@pytest.mark.parametrize("solver, kept", [(BLSGD(), 1.0), (BLSGDAC(), 0.95)])
def test_only_the_adaptive_clip_shrinks_and_once_a_round(solver, kept):
    answers = iter([5, 5, 5, 0] + [0] * 1000)
    opposite = [np.eye(3)[0], -np.eye(3)[0]] * 400
    oracle = _run(solver, lambda k: next(answers), opposite)
    clips = [g.clip for g in _gradients(oracle)]
    assert clips[:4] == [clips[0]] * 4
    assert clips[4] == pytest.approx(kept * clips[0])


def test_stops_within_the_budget_when_no_step_passes():
    oracle = _run(BLSGD(), lambda k: k)
    assert oracle.filter.unspent >= 0.0
    assert not isinstance(oracle.asked[-1].question, Gradient)


def test_a_pure_search_splits_its_epsilon_for_the_least_noise():
    point = np.zeros((1, 3))
    test = {"at": point[0], "candidates": point, "demands": [0.0], "bounds": [1.0]}
    pure = search("laplace", 0.5, pure=True, loss=task().loss, **test)
    assert isinstance(pure, FirstDecrease)
    assert pure.threshold_epsilon + 2 * pure.query_epsilon == pytest.approx(2.0)
    best = minimize_scalar(lambda e: (2 - 2 * e) ** -2 + e**-2, bounds=(0.1, 0.9), method="bounded")
    assert pure.query_epsilon == pytest.approx(best.x, rel=1e-4)


def test_the_clip_does_not_vanish_where_nothing_is_promised():
    # Near the optimum two batches always disagree: the clip shrank in each of 500 rounds, and the fit went back to 0.
    X, y = make_classification(2000, 10, n_informative=5, n_redundant=0, flip_y=0.1, random_state=1)
    losses = []
    for solver in ("blsgd", "blsgd-ac"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyWarning)
            fitted = model(solver, np.inf, data_norm=13.0).fit(X, y)
        losses.append(np.logaddexp(0.0, -(2 * y - 1) * fitted.decision_function(X)).mean())
    assert abs(losses[1] - losses[0]) < 0.01


def test_angles():
    x, y = np.eye(2)
    assert angle_between(x, x + y) == pytest.approx(math.pi / 4)
    assert angle_between(x, -x) == pytest.approx(math.pi)
    assert angle_between(x, 0 * x) == pytest.approx(math.pi / 2)
