"""Joint moments against enumeration, pins and the plain matrix of rows beside targets."""

import math

import numpy as np
import pytest

from skdp.mechanisms import JointMoments, Noise, Public, Records


def admitted(X, y, relation="replace_one", target_bound=1.0):
    n = len(y) if relation == "replace_one" else None
    public = Public(n, X.shape[1], 0.25, relation, target_bound=target_bound)
    return Records.admit(X, y, public, 1.0)


@pytest.mark.parametrize(
    ("relation", "expected"), [("replace_one", 2.253903), ("add_remove", 1.525899)]
)
def test_pins(relation, expected):
    public = Public(100, 3, 0.25, relation)
    assert JointMoments(multiplier=1.0).sensitivity(public) == pytest.approx(expected, abs=1e-6)


def test_pins_of_three_tenths_of_the_budget_at_epsilon_one():
    public, mu = Public(100, 3, 0.25, "replace_one"), 0.207617 * math.sqrt(0.3)
    question = JointMoments(multiplier=1.0)
    scale = question.sensitivity(public) / question.bound(public) / mu
    found = JointMoments(multiplier=scale).noises(public)
    assert found == pytest.approx((19.8204, 19.2286, 15.2313), rel=1e-5)


@pytest.mark.parametrize("target_bound", [1.0, 0.01, 300.0])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_without_noise_it_is_the_moment_of_rows_beside_targets(dtype, target_bound):
    rng = np.random.default_rng(0)
    X = (rng.uniform(-0.5, 0.5, (700, 3))).astype(dtype)
    y = target_bound * rng.uniform(-1, 1, 700)
    beside = np.column_stack([X, np.full(700, 0.25), y.astype(dtype)]).astype(np.float64)
    found = JointMoments(multiplier=0.0).answer(admitted(X, y, target_bound=target_bound), Noise(0))
    np.testing.assert_allclose(found, beside.T @ beside, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("target_bound", [1.0, 7.0])
def test_no_pair_of_a_fine_grid_moves_further_than_claimed_and_one_does_so(target_bound):
    """All pairs of rows of two lengths at many angles and of targets: brute force, not the proof's algebra."""
    angles, targets = np.linspace(0, math.pi, 61), target_bound * np.linspace(-1, 1, 9)
    public = Public(1, 2, 0.0, "replace_one", target_bound=target_bound)
    question, moved = JointMoments(multiplier=1.0), []
    product, square = question.weights(public)

    def vectors(lengths, turned):
        length, angle, y = (a.ravel() for a in np.meshgrid(lengths, turned, targets, indexing="ij"))
        x = length[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        outer = [x[:, 0] ** 2, math.sqrt(2) * x[:, 0] * x[:, 1], x[:, 1] ** 2]
        return np.column_stack([*outer, product * y[:, None] * x, square * y**2])

    one, others = vectors([0.5, 1.0], [0.0]), vectors([0.0, 0.5, 1.0], angles)
    moved = np.linalg.norm(one[:, None] - others[None], axis=2)
    limit = question.sensitivity(public)
    assert 0.9999 * limit < moved.max() <= limit * (1 + 1e-12)
    assert np.linalg.norm(others, axis=1).max() <= question.bound(public) * (1 + 1e-12)
