"""DP-SVRG: its limit, its two priced releases, and differences that shrink with the distance from the anchor."""

import numpy as np
import pytest
from solvers.comparing import check_determined_by_seed, distance_to_optimum, problem, quality
from solvers.scripted import RELATIONS, Tape, check_budget, model, unnoised, unrest

from skdp import DPLinearSVC, NotSupported
from skdp.losses import Logistic
from skdp.mechanisms import Gradient
from skdp.penalties import ElasticNet, NoPenalty, ScaledPenalty
from skdp.solvers import SVRG


@pytest.mark.parametrize("C", [0.02, 0.1])
def test_batches_reach_the_optimum_itself_without_noise(C):
    """Variance reduction: unlike plain batches, these need no shrinking step."""
    assert distance_to_optimum(SVRG(epochs=150, rate=0.1, clip=100.0, step_size=1.0), C) < 1e-6


def test_rests_at_a_stationary_point_of_the_lasso():
    data, penalty = problem(600), ElasticNet(10.0, 1.0)
    fitted = unnoised(SVRG(epochs=150, clip=100.0, step_size=1.0), data, penalty=penalty)
    assert unrest(fitted, data, penalty) < 1e-6


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_spends_its_budget_on_both_releases(neighbors):
    receipt = check_budget("svrg", neighbors)
    assert {"clipped_gradient", "gradient_difference", "poisson_batch"} <= set(receipt.proofs)
    kinds = {type(event).__name__: count for event, count in receipt.script}
    assert {"Gaussian", "PoissonGaussian"} <= set(kinds)


def test_reach_is_the_curvature_times_the_distance_from_the_anchor():
    tape = Tape(ScaledPenalty(NoPenalty()), Logistic(), (5,))
    tape.solve(SVRG(epochs=2, rate=0.2, clip=1.0), noise=0.01)
    changes = [q.question for q in tape.asked if not isinstance(q, Gradient)]
    anchors = [q.at for q in tape.asked if isinstance(q, Gradient)]
    assert len(changes) == 10 and len(anchors) == 2
    bend = 0.25 * (1 + 0.25**2)
    for k, change in enumerate(changes):
        assert np.array_equal(change.anchor, anchors[k // 5])
        far = bend * np.linalg.norm(change.at - change.anchor)
        assert np.isclose(change.reach, min(max(far, 1e-9), 2.0))
    assert changes[0].reach == 1e-9 < changes[1].reach


def test_refuses_a_loss_with_a_corner_and_an_empty_share():
    with pytest.raises(NotSupported, match="a smooth loss"):
        DPLinearSVC(epsilon=1.0, delta=1e-6, solver="svrg", loss="hinge", data_norm=1.0).quote(
            600, 5
        )
    with pytest.raises(ValueError, match="above 0 and below 1"):
        model(SVRG(share=0.0)).quote(600, 5)


def test_a_seed_determines_the_result():
    check_determined_by_seed("svrg")


def test_learns():
    assert quality("svrg", 1.0) > 0.75
    assert quality("svrg", 1.0, neighbors="add_remove") > 0.75
