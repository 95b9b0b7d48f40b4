"""Preconditioned steps: their limit, their budget, and a curvature bound that really is one."""

import numpy as np
import pytest
from solvers.comparing import check_determined_by_seed, distance_to_optimum, problem, quality
from solvers.scripted import RELATIONS, Tape, check_budget, model

from skdp import DPLinearSVC, NotSupported
from skdp.losses import Logistic, Multinomial
from skdp.mechanisms import Gradient, SecondMoment
from skdp.penalties import L2, NoPenalty, ScaledPenalty
from skdp.solvers import GD, Newton


@pytest.mark.parametrize("C", [0.02, 1.0, 10.0])
def test_reaches_the_optimum_without_noise(C):
    assert distance_to_optimum(Newton(steps=300, clip=100.0), C) < 1e-6


def test_needs_fewer_steps_than_gradient_descent():
    newton = distance_to_optimum(Newton(steps=20, clip=100.0), 1.0)
    assert newton < 0.1 * distance_to_optimum(GD(steps=20, clip=100.0), 1.0)


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_spends_its_budget(neighbors):
    receipt = check_budget("newton", neighbors)
    assert {"second_moment", "clipped_gradient"} <= set(receipt.proofs)
    check_budget(Newton(share=0.5, steps=3), neighbors, epsilon=0.1)


def test_share_of_the_second_moment_is_the_declared_one():
    tape = Tape(ScaledPenalty(L2(1.0)), Logistic(), (5,))
    tape.solve(Newton(share=0.3, steps=8), noise=2.0)
    rho = {SecondMoment: 0.0, Gradient: 0.0}
    for question in tape.asked:
        rho[type(question)] += question.multiplier**-2.0
    assert np.isclose(rho[SecondMoment] / sum(rho.values()), 0.3)
    assert np.isclose(sum(rho.values()), 2.0**-2)


@pytest.mark.parametrize("noise", [0.0, 1.0, 30.0, 1000.0])
def test_steps_are_finite_whatever_the_noise_of_the_moment(noise):
    w = Tape(ScaledPenalty(NoPenalty()), Logistic(), (5,)).solve(Newton(), noise)
    assert np.isfinite(w).all()


def test_many_outputs():
    tape = Tape(ScaledPenalty(L2(0.1)), Multinomial(outputs=3), (5, 3))
    w = tape.solve(Newton(steps=300, clip=100.0))
    gradient = Gradient(at=w, loss=tape.task.loss, clip=100.0, multiplier=0.0).measure(tape.records)
    np.testing.assert_allclose(gradient + tape.task.penalty.gradient(w), 0.0, atol=1e-6)


def test_refuses_what_has_no_curvature():
    with pytest.raises(NotSupported, match="a smooth penalty"):
        model("newton", penalty="l1").quote(600, 5)
    with pytest.raises(NotSupported, match="a smooth loss"):
        DPLinearSVC(epsilon=1.0, delta=1e-6, solver="newton", loss="hinge", data_norm=1.0).quote(
            600, 5
        )
    with pytest.raises(ValueError, match="above 0 and below 1"):
        model(Newton(share=1.0)).quote(600, 5)


def test_svm_learns():
    X, y = problem(20_000, 8)
    fitted = DPLinearSVC(
        epsilon=1.0, delta=1e-6, solver="newton", data_norm=1.0, classes=[0, 1], random_state=0
    )
    assert fitted.fit(X, y).score(X, y) > 0.8


def test_a_seed_determines_the_result():
    check_determined_by_seed("newton")


def test_learns():
    assert quality("newton", 1.0) > 0.8
    assert quality("newton", 1.0, neighbors="add_remove") > 0.8
