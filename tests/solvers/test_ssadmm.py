"""ssADMM: the optimum of every penalty without noise, sparse and feasible results, and refused splittings."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from solvers.comparing import check_determined_by_seed, distance_to_optimum, problem, quality
from solvers.scripted import RELATIONS, Tape, check_budget, model, unnoised, unrest

from skdp import NotSupported
from skdp.losses import Multinomial
from skdp.mechanisms import PoissonBatch, RandomBatch
from skdp.penalties import (
    MCP,
    SCAD,
    Box,
    ElasticNet,
    GroupLasso,
    L1Ball,
    L2Ball,
    Nuclear,
    ScaledPenalty,
)
from skdp.solvers import SSADMM

N = 600
WHOLE = SSADMM(rate=1.0, steps=800, clip=100.0, averaging=False)


@pytest.mark.parametrize("C", [0.02, 0.1])
def test_reaches_the_optimum_without_noise(C):
    assert distance_to_optimum(WHOLE, C) < 1e-5


def test_batches_reach_the_optimum_within_their_own_noise():
    whole, batches = (
        distance_to_optimum(solver, 0.1)
        for solver in (WHOLE, SSADMM(rate=0.5, steps=1500, clip=1.1))
    )
    assert whole < 1e-5 < batches < 0.05


@pytest.mark.parametrize(
    "penalty",
    [
        "l1",
        ElasticNet(10.0, 0.5),
        SCAD(strength=60.0, weight=N),
        MCP(strength=150.0, weight=N),
        GroupLasso(15.0, (0, 0, 1, 1, 2)),
        Box(-0.5, 0.5),
        L1Ball(1.0),
        L2Ball(1.0),
    ],
    ids=str,
)
def test_rests_at_a_stationary_point_of_every_penalty(penalty):
    data = problem(N)
    strength = {"C": 0.1} if penalty == "l1" else {}  # the others carry their own
    fitted = unnoised(WHOLE, data, penalty=penalty, **strength)
    formula = penalty if penalty != "l1" else ElasticNet(10.0, 1.0)
    assert np.isfinite(formula.value(fitted.coef_[0]))
    assert unrest(fitted, data, formula) < 1e-6
    fitted.coef_ = fitted.coef_ + 0.01
    assert unrest(fitted, data, formula) > 1e-4, "the check above can fail"


def test_finds_the_zeros_of_the_lasso():
    X, y = problem(N, d=8)
    fitted = unnoised(WHOLE, (X, y), penalty="l1", C=0.05)
    lasso = LogisticRegression(C=0.05, l1_ratio=1.0, solver="saga", tol=1e-10, max_iter=10_000)
    theirs = lasso.fit(X, y).coef_
    assert 0 < np.count_nonzero(theirs == 0) < 8
    assert np.array_equal(fitted.coef_ == 0, theirs == 0)
    np.testing.assert_allclose(fitted.coef_, theirs, atol=1e-4)


def test_what_is_released_is_sparse_under_noise_and_x_is_not():
    strong = {"penalty": "l1", "C": 1e-3}
    assert (
        np.count_nonzero(model(SSADMM(steps=300), 2.0, **strong).fit(*problem(3000)).coef_ == 0)
        >= 3
    )
    assert not np.count_nonzero(
        model(SSADMM(steps=300), 2.0, penalty=None).fit(*problem(3000)).coef_ == 0
    )


def test_ball_holds_the_released_coefficients():
    fitted = model(SSADMM(steps=100), 0.1, penalty=L1Ball(0.5)).fit(*problem(500))
    assert np.abs(fitted.coef_).sum() <= 0.5 * (1 + 1e-9)


def test_many_outputs_under_the_nuclear_norm():
    tape = Tape(ScaledPenalty(Nuclear(3.0)), Multinomial(outputs=3), (5, 3))
    w = tape.solve(SSADMM(rate=1.0, steps=400, clip=10.0, averaging=False))
    assert w.shape == (5, 3) and np.linalg.matrix_rank(w[:-1], tol=1e-9) < 3


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_spends_its_budget(neighbors):
    check_budget("ssadmm", neighbors)
    check_budget(SSADMM(steps=200), neighbors, epsilon=0.1, penalty="l1")


def test_spends_its_budget_without_replacement_and_needs_n_for_it():
    fixed = SSADMM(sampling="without_replacement", steps=100)
    assert "random_batch" in check_budget(fixed, "replace_one").proofs
    with pytest.raises(NotSupported, match="use 'poisson'"):
        model(fixed, neighbors="add_remove").fit(*problem(100))


def test_a_split_too_loose_for_the_penalty_is_refused_before_the_data():
    fitted = model(SSADMM(rho=0.25), penalty=SCAD(strength=1.0, weight=N))
    with pytest.raises(ValueError, match="a larger rho in ADMM"):
        fitted.quote(N, 5)
    model(SSADMM(rho=0.4), penalty=SCAD(strength=1.0, weight=N)).quote(N, 5)
    assert check_budget(SSADMM(steps=50), "add_remove", penalty=SCAD(strength=1.0, weight=N))


@pytest.mark.parametrize("schedule", ["sqrt", "constant", "epoch"])
def test_given_step_sizes_follow_the_schedule(schedule):
    solver = SSADMM(rate=1.0, steps=3, eta=2.0, schedule=schedule, clip=1.0, averaging=False)
    tape = Tape(ScaledPenalty(L2Ball(100.0)), Multinomial(outputs=3), (5, 3))
    tape.solve(solver)
    first, second = (tape.asked[k].question.at for k in (1, 2))
    gradients = [_mean_gradient(tape, tape.asked[k].question) for k in (0, 1)]
    rho, factor = 0.25 * 0.5 * (1 + 0.25**2), {"sqrt": 0.5**0.5, "constant": 1.0, "epoch": 0.5}
    np.testing.assert_allclose(first, -gradients[0] / (rho + 0.5), atol=1e-12)
    step = 1 / (rho + 1 / (2.0 * factor[schedule]))
    np.testing.assert_allclose(second, first - step * gradients[1], atol=1e-12)


def _mean_gradient(tape, question):
    return question.measure(tape.records) / len(tape.records)


def test_batches_are_drawn_as_asked():
    tape = Tape(ScaledPenalty(L2Ball(1.0)), Multinomial(outputs=3), (5, 3))
    tape.solve(SSADMM(steps=2, batch_size=30))
    assert {(type(q), q.rate) for q in tape.asked} == {(PoissonBatch, 0.5)}
    tape.asked.clear()
    tape.solve(SSADMM(steps=2, batch_size=30, sampling="without_replacement"))
    assert {(type(q), q.size) for q in tape.asked} == {(RandomBatch, 30)}


def test_a_seed_determines_the_result():
    check_determined_by_seed(SSADMM(steps=50))


def test_learns():
    assert quality("ssadmm", 1.0) > 0.8
    assert quality("ssadmm", 1.0, neighbors="add_remove", penalty="l1") > 0.8
