"""Adam: its limit, its budget, and a second moment freed of the noise."""

import numpy as np
import pytest
from solvers.comparing import check_determined_by_seed, distance_to_optimum, quality
from solvers.scripted import RELATIONS, Tape, check_budget, model

from skdp import NotSupported
from skdp.losses import Logistic
from skdp.penalties import NoPenalty, ScaledPenalty
from skdp.solvers import Adam


@pytest.mark.parametrize("C", [0.02, 1.0])
def test_reaches_the_optimum_without_noise(C):
    assert distance_to_optimum(Adam(rate=1.0, steps=1500, clip=100.0, step_size=0.3), C) < 2e-3


def test_batches_come_near_the_optimum():
    assert distance_to_optimum(Adam(rate=0.5, steps=1500, clip=1.1, step_size=0.05), 0.1) < 0.1


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_spends_its_budget(neighbors):
    check_budget("adam", neighbors)


def _steps(solver, noise):
    """Distance walked from one question to the next."""
    tape = Tape(ScaledPenalty(NoPenalty()), Logistic(), (5,))
    tape.solve(solver, noise)
    return np.linalg.norm(np.diff([q.question.at for q in tape.asked], axis=0), axis=1)


def test_noise_no_longer_sets_the_scale_of_the_step():
    """Uncorrected, the second moment is the noise's variance: steps of pure noise are as long as the floor allows."""
    given = {"rate": 1.0, "steps": 100, "step_size": 0.01, "clip": 1.0}
    low, high = (_steps(Adam(floor=floor, **given), 1e4).mean() for floor in (0.01, 1.0))
    assert low > 3.0 * high


def test_default_step_keeps_pure_noise_within_the_radius():
    ends = []
    for seed in range(5):
        tape = Tape(ScaledPenalty(NoPenalty()), Logistic(), (5,), seed=seed)
        ends.append(np.linalg.norm(tape.solve(Adam(rate=1.0), 1e6)))
    assert 1.0 < np.mean(ends) < 8.0


def test_refuses_a_penalty_without_gradient():
    with pytest.raises(NotSupported, match="a smooth penalty"):
        model("adam", penalty="l1").quote(600, 5)


def test_a_seed_determines_the_result():
    check_determined_by_seed(Adam(steps=20))


def test_learns():
    assert quality("adam", 1.0) > 0.8
    assert quality("adam", 1.0, neighbors="add_remove") > 0.8
