"""What a moment, a mean norm and parameters say of curvature and slopes, held against rows one by one."""

from dataclasses import replace
from itertools import combinations_with_replacement

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from skdp.losses import Logistic
from skdp.mechanisms import Coordinates, Gradient, Mapped, Public
from skdp.solvers._spread import Elliptical, Seen, _sphere
from skdp.solvers.white_objective import blurred, followed

N, CONSTANT = 100_000, 0.25


def table(size, shape, constant, opening=1.0, noise=0.0):
    """Elliptical rows whose squared lengths are gamma, their images, parameters, and what would be bought of them."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(N, size))
    if shape is not None:
        lengths = np.sqrt(rng.gamma(shape, size / shape, size=(N, 1)))
        rows *= lengths / np.linalg.norm(rows, axis=1, keepdims=True)
    rows = rows @ rng.normal(size=(size, size))
    if constant:  # without one nothing tells where rows lie: around zero
        rows = np.column_stack([rows + rng.normal(size=size), np.full(N, CONSTANT)])
    coordinates = np.linalg.inv(np.linalg.cholesky(rows.T @ rows / N))
    images = rows @ coordinates.T
    w = rng.normal(size=images.shape[1])
    w *= 2.0 / (rows @ w).std()
    typical = np.linalg.norm(images, axis=1).mean()
    question = Gradient(at=w, loss=Logistic(), clip=1e3, multiplier=1.0)
    mapped = Mapped(
        question=question, coordinates=Coordinates(coordinates), scale=opening * typical
    )
    seen = Seen(N, rows.T @ rows / N, typical, mapped, noise)
    public = Public(N, size, CONSTANT if constant else 0.0, "replace_one")
    return rows @ w, images / mapped.scale, seen, w, public


def off(found, exact):
    return np.linalg.norm(found - exact, 2) / np.linalg.norm(exact, 2)


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("opening", [0.8, 1.5])
@pytest.mark.parametrize(("size", "shape"), [(1, None), (2, None), (6, None), (6, 1.0), (6, 30.0)])
def test_of_elliptical_rows_both_are_exact(size, shape, opening, constant):
    """But for fifteen lengths and 100,000 rows. One is not the other: a shrunk row's weight is squared in slopes."""
    scores, images, seen, w, public = table(size, shape, constant, opening)
    left = np.minimum(1.0, 1.0 / np.linalg.norm(images, axis=1))
    p = expit(scores)
    curved = p * (1.0 - p) * left**2
    bend = (images * curved[:, None]).T @ images / N
    slopes = (images * (curved * left**2)[:, None]).T @ images / N
    rows = Elliptical(seen, w, public)
    assert off(rows.bend(), bend) < 0.04
    assert off(rows.slopes(), slopes) < 0.05
    assert opening > 1.0 or off(bend, slopes) > 0.2


@pytest.mark.parametrize("constant", [False, True])
def test_the_moments_noise_and_parameters_move_it_as_is_said(constant):
    """By differences, one entry of the moment or of the parameters at a time."""
    _, _, seen, w, public = table(4, 1.0, constant, noise=0.03)
    v = np.linspace(1.0, -0.5, len(w))

    def moved(change, at):
        return Elliptical(replace(seen, moment=seen.moment + change), at, public).bend() @ v

    covariance = np.zeros((len(w), len(w)))
    for i, j in combinations_with_replacement(range(len(w)), 2):
        one = np.zeros_like(covariance)
        one[i, j] = one[j, i] = 1e-5
        by = (moved(one, w) - moved(-one, w)) / 2e-5
        covariance += np.outer(by, by) * seen.noise**2 * (1.0 if i == j else 0.5)
    rows, still = Elliptical(seen, w, public), np.zeros_like(covariance)
    assert off(blurred(rows, v), covariance) < 1e-3
    ends = [(moved(still, w + e) - moved(still, w - e)) / 2e-6 for e in 1e-6 * seen.matrix]
    assert_allclose(followed(rows, v), np.transpose(ends), rtol=1e-4, atol=1e-8)


@pytest.mark.parametrize("size", [1, 2, 3, 40])
def test_one_coordinate_on_a_sphere(size):
    nodes, weights = _sphere(size)
    powers = [weights @ nodes**k for k in range(5)]
    assert_allclose(powers, [1.0, 0.0, 1.0, 0.0, 3.0 * size / (size + 2.0)], atol=1e-9)
