"""DP-AGD: its limit, its budget, and what it does with a gradient that no step improves on."""

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

from skdp.losses import Logistic
from skdp.mechanisms import BestCandidate, Count, Gradient, Noise, Oracle, Public, Records
from skdp.penalties import SCAD, Box
from skdp.privacy import Spec
from skdp.privacy.events import BoundedRange, Gaussian
from skdp.privacy.ledger import Filter
from skdp.solvers import Budget
from skdp.solvers._descent import Allowance, _least
from skdp.solvers.agd import AGD


@pytest.mark.parametrize("C", [0.02, 1.0, 100.0])
def test_reaches_the_optimum_without_noise(C):
    assert distance_to_optimum("agd", C) < 1e-6


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_spends_within_its_filter_and_leaves_little(neighbors):
    fitted = check_filter("agd", neighbors)
    total = Filter(Spec(1.0, 1e-6, neighbors), "zcdp").total
    assert fitted.privacy_.unspent < 0.2 * total


def test_a_seed_determines_the_result():
    check_determined_by_seed("agd")


def test_learns():
    assert quality("agd", 1.0) > 0.8
    assert quality("agd", 1.0, neighbors="add_remove") > 0.8


def test_private_count_is_bought():
    released = model("agd", neighbors="add_remove").fit(*problem(500)).privacy_
    assert "count" in released.proofs
    assert "count" not in model("agd").fit(*problem(500)).privacy_.proofs


@pytest.mark.parametrize("penalty", [SCAD(strength=0.5), Box(0.5, 1.0)])
def test_takes_weakly_convex_penalties_and_boxes_without_zero(penalty):
    fitted = model("agd", penalty=penalty).fit(*problem(500))
    assert np.isfinite(penalty.value(fitted.coef_[0]))


@pytest.mark.parametrize("step_size", [None, 0.5])
def test_even_steps_along_unit_directions_are_as_long_as_their_moves(step_size):
    """As in the source: 20 of them up to the largest, which is 2 where none is given."""
    oracle = Answering(lambda k: 1, "zcdp")
    given = {"candidates": 20, "ladder": "even", "unit_direction": True, "slack": 1.1}
    AGD(refresh=3, step_size=step_size, splits=9, **given).solve(
        oracle, task(0.0), Budget(1.0, 1e-6)
    )
    lengths = np.array([
        np.linalg.norm(q.candidates[1:] - q.candidates[0], axis=1)
        for q in oracle.asked
        if isinstance(q, BestCandidate)
    ])  # fmt: skip
    assert np.allclose(lengths, (step_size or 2.0) * np.arange(20, 0, -1) / 20)


def test_the_clip_of_losses_bounds_the_range_that_is_compared():
    oracle = Answering(lambda k: 1, "zcdp")
    AGD(objective_clip=0.001, step_size=8.0, clip=1.0).solve(oracle, task(), Budget(1.0, 1e-6))
    caps = [q.cap for q in oracle.asked if isinstance(q, BestCandidate)]
    assert max(caps) == 0.001


@pytest.mark.parametrize("penalty", [SCAD(strength=0.5), Box(0.5, 1.0)])
def test_unit_directions_keep_to_a_prox_that_exists(penalty):
    solver = AGD(unit_direction=True, ladder="even", step_size=1e6)
    fitted = model(solver, penalty=penalty).fit(*problem(500))
    assert np.isfinite(penalty.value(fitted.coef_[0]))


def test_stops_within_the_budget_when_no_step_is_ever_chosen():
    """The published loop goes on at a negative budget here, and then returns what it never committed."""
    oracle = Answering(lambda k: 0, "zcdp")
    w = AGD().solve(oracle, task(), Budget(1.0, 1e-6))
    assert not w.any()
    gradients = [q for q in oracle.asked if isinstance(q, Gradient)]
    assert all(np.array_equal(q.at, w) for q in gradients) and len(gradients) > 1
    assert not isinstance(oracle.asked[-1], Gradient)  # none is bought that cannot be compared


def test_a_rejected_gradient_is_bought_again_at_the_price_of_its_growth():
    oracle = Answering(lambda k: 0, "zcdp")
    AGD(growth=0.5).solve(oracle, task(), Budget(1.0, 1e-6))
    precision = [q.multiplier**-2 for q in oracle.asked if isinstance(q, Gradient)]
    bought = np.cumsum(precision)
    assert np.allclose(precision[1:], 0.5 * bought[:-1], rtol=1e-6)


def test_returns_the_last_committed_iterate():
    oracle = Answering(lambda k: k - 1, "zcdp")
    w = AGD(splits=10).solve(oracle, task(), Budget(1.0, 1e-6))
    last = [q for q in oracle.asked if isinstance(q, BestCandidate)][-1]
    assert np.array_equal(w, last.candidates[-1])


@pytest.mark.parametrize("kind", ["zcdp", "gdp", "rdp"])
@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_a_purse_knows_the_whole_allowance_in_any_currency(kind, neighbors):
    public = Public(n=100, n_features=2, intercept=0.25, neighbors=neighbors)
    account = Filter(Spec(0.7, 1e-6, neighbors), kind)
    allowance = Allowance(Oracle(Records.blank(public), account, Noise(0)), task())
    gradient = Gaussian(allowance.gaussian(0.25) / public.sensitivity_factor)
    account.charge(gradient, 4)
    assert account.unspent < 1e-6 * account.total


def test_a_purse_prices_other_questions_by_what_they_leave():
    public = Public(n=100, n_features=2, intercept=0.25, neighbors="replace_one")
    account = Filter(Spec(0.7, 1e-6), "zcdp")
    allowance = Allowance(Oracle(Records.blank(public), account, Noise(0)), task())
    scale = allowance.noise(
        0.1,
        lambda s: BestCandidate(epsilon=1 / s, candidates=np.zeros((1, 3)), loss=Logistic(), cap=1),
    )
    account.charge(BoundedRange(1 / scale))
    assert account.spent == pytest.approx(0.1 * account.total, rel=1e-6)
    assert allowance.range(0.1) == pytest.approx(1 / scale, rel=1e-6)


@pytest.mark.parametrize("root", [1e-12, 0.3, 1.0, 7.0, 1e12])
def test_the_least_noise_is_found_for_smooth_prices_and_for_jumps(root):
    def smooth(scale):
        return (root / scale) ** 1.5 if scale > 1e-3 * root else math.inf

    def jump(scale):
        return 0.0 if scale >= root else 5.0

    for price in (smooth, jump):
        found = _least(price, 1.0)
        assert price(found * (1 + 1e-7)) <= 1.0 and found == pytest.approx(root, rel=1e-8)
    assert _least(lambda scale: 0.0, 1.0) == 0.0


def test_a_purse_counts_only_where_the_number_is_private():
    public = Public(n=None, n_features=2, intercept=0.25, neighbors="add_remove")
    account = Filter(Spec(0.7, 1e-6, "add_remove"), "zcdp")
    oracle = Oracle(Records.blank(public), account, Noise(0))
    allowance = Allowance(oracle, task())
    assert allowance.count(0.01) >= 1.0
    assert account.spent == pytest.approx(0.01 * account.total, rel=1e-6)
    again = allowance.noise(0.1, lambda s: Count(multiplier=s))
    assert again == pytest.approx(allowance.gaussian(0.1) / public.sensitivity_factor, rel=1e-6)
    assert isinstance(account.script[0][0], Gaussian) and Count.proof in oracle.proofs
