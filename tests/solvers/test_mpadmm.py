"""mpADMM: noise on x is noise on the gradient; the paper's three noises are priced together, step size included."""

import math

import numpy as np
import pytest
from solvers.comparing import check_determined_by_seed, distance_to_optimum, problem, quality
from solvers.scripted import RELATIONS, Tape, check_budget, model, unnoised, unrest

from skdp import NotSupported
from skdp.losses import Logistic
from skdp.mechanisms import ModelStep
from skdp.penalties import L1, MCP, SCAD, ElasticNet, ScaledPenalty
from skdp.privacy import events
from skdp.solvers import MPADMM

N = 600
LONG = MPADMM(steps=800, clip=100.0)
PAPER = MPADMM(variant="paper", steps=800, clip=100.0)


@pytest.mark.parametrize("solver", [LONG, PAPER], ids=["noise_on_x", "paper"])
@pytest.mark.parametrize("C", [0.02, 0.1])
def test_reaches_the_optimum_without_noise(solver, C):
    assert distance_to_optimum(solver, C) < 1e-5


@pytest.mark.parametrize(
    "penalty", [ElasticNet(10.0, 1.0), SCAD(strength=60.0, weight=N), MCP(strength=150.0, weight=N)]
)
def test_rests_at_a_stationary_point(penalty):
    data = problem(N)
    assert unrest(unnoised(LONG, data, penalty=penalty), data, penalty) < 1e-6


def test_both_variants_take_the_same_step_without_noise():
    tapes = [Tape(ScaledPenalty(L1(2.0)), Logistic(), (5,)) for _ in range(2)]
    one, other = (
        tape.solve(MPADMM(variant=variant, steps=20, averaging=False))
        for tape, variant in zip(tapes, ("noise_on_x", "paper"))
    )
    np.testing.assert_allclose(one, other, atol=1e-13)
    assert np.count_nonzero(one == 0) and np.count_nonzero(one)


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("variant", ["noise_on_x", "paper"])
def test_spends_its_budget(variant, neighbors):
    receipt = check_budget(MPADMM(variant=variant, steps=30), neighbors, penalty="l1")
    assert ("model_step" in receipt.proofs) == (variant == "paper")


@pytest.mark.parametrize("rho, eta", [(0.5, 0.1), (0.5, 5.0), (3.0, 5.0)])
def test_three_noises_have_the_joint_size_of_the_corrected_sensitivity(rho, eta):
    """The paper's size of x's move, 2 C / (n (1 + eta rho)), lacks a factor eta: too little noise for eta above 1."""
    tape = Tape(ScaledPenalty(L1(1.0)), Logistic(), (5,))
    tape.solve(MPADMM(variant="paper", steps=1, rho=rho, eta=eta, clip=1.0), noise=7.0)
    (question,) = tape.asked
    move_of_x = 2.0 * eta / (60 * (1.0 + eta * rho))
    joint = move_of_x * math.sqrt(1.0 + max(1.0, rho**2))
    assert isinstance(question, ModelStep)
    assert math.isclose(question.sensitivity(tape.public), joint, rel_tol=1e-12)
    assert joint <= move_of_x * math.sqrt(2.0 + rho**2)
    printed = 2.0 / (60 * (1.0 + eta * rho))
    assert (printed < move_of_x) == (eta > 1)
    assert question.event(tape.public) == events.Gaussian(3.5)


def test_noise_on_x_is_the_gradients_noise_over_its_denominator():
    tape = Tape(ScaledPenalty(L1(1.0)), Logistic(), (5,))
    tape.solve(MPADMM(steps=2, rho=0.5, eta=4.0, clip=1.0), noise=3.0)
    first, second = tape.asked
    exact = Tape(ScaledPenalty(L1(1.0)), Logistic(), (5,))
    exact.solve(MPADMM(steps=2, rho=0.5, eta=4.0, clip=1.0))
    noise = second.at - exact.asked[1].at
    drawn = Tape(ScaledPenalty(L1(1.0)), Logistic(), (5,)).ask(first) - first.measure(tape.records)
    np.testing.assert_allclose(noise, -drawn / (60 * (0.5 + 0.25)), rtol=1e-9)


def test_the_papers_variant_refuses_a_prox_that_may_expand():
    with pytest.raises(NotSupported, match="not convex"):
        model(MPADMM(variant="paper"), penalty=SCAD(strength=1.0)).quote(N, 5)


def test_unknown_variant_is_refused():
    with pytest.raises(ValueError, match="noise_on_x"):
        model(MPADMM(variant="both")).quote(N, 5)


def test_released_coefficients_are_sparse():
    fitted = model("mpadmm", 2.0, penalty="l1", C=1e-3).fit(*problem(3000))
    assert np.count_nonzero(fitted.coef_ == 0) >= 3


def test_a_seed_determines_the_result():
    check_determined_by_seed(MPADMM(steps=20))


def test_learns():
    assert quality("mpadmm", 1.0) > 0.8
    assert quality("mpadmm", 1.0, neighbors="add_remove") > 0.8
    assert quality(MPADMM(variant="paper"), 1.0) > 0.75
