"""Newton directions from some records: near the exact ones, ended by a count, and corrected where a sample misleads."""

import numpy as np
import pytest
from scipy.linalg import cho_factor, cho_solve

from skdp.losses import Logistic
from skdp.mechanisms import _objective
from skdp.mechanisms._objective import Objective, SampledCurvature, conjugate_gradients
from skdp.mechanisms._rows import DenseRows


def problem(n=9000, d=60, sort=False, seed=0):
    """An objective over n rows, in which the last columns are rare if the table is sorted by them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.geomspace(1.0, 0.1, d)
    if sort:
        X[: n // 2, d // 2 :] = 0.0
    rows = DenseRows.bounded(X, 3.0, 0.25).in_double()
    y = rng.choice([-1.0, 1.0], n)
    return Objective(rows, y, Logistic(), np.full(d + 1, 2.0), rng.normal(size=d + 1))


def exact(objective, z, g):
    """The direction by the whole matrix."""
    matrix = objective.rows.gram(objective.weights(z)) + np.diag(objective.strength)
    return cho_solve(cho_factor(matrix), g)


def residual(objective, z, g, p):
    """What a direction leaves of the right side, in its norm."""
    matrix = objective.rows.gram(objective.weights(z)) + np.diag(objective.strength)
    return np.linalg.norm(matrix @ p - g) / np.linalg.norm(g)


@pytest.mark.parametrize("sort", [False, True])
@pytest.mark.parametrize("accuracy", [0.1, 1e-3, 1e-8])
def test_a_direction_is_as_near_as_asked(sort, accuracy):
    objective = problem(sort=sort)
    w = np.random.default_rng(1).normal(size=61)
    z, g = objective.rows.dot(w), np.random.default_rng(2).normal(size=61)
    sampled = SampledCurvature(objective.rows, objective.strength, _objective.solver_of)
    p = sampled.direction(objective.weights(z), g, accuracy)
    assert residual(objective, z, g, p) <= 1.01 * accuracy


def test_few_products_are_taken_where_a_sample_is_like_the_rest(monkeypatch):
    counts = []

    def counting(times, precondition, g, accuracy, most):
        p, products = conjugate_gradients(times, precondition, g, accuracy, most)
        counts.append(products)
        return p, products

    monkeypatch.setattr(_objective, "conjugate_gradients", counting)
    objective = problem(n=20_000)
    g = np.random.default_rng(2).normal(size=61)
    for at in (0.0, 0.3):
        z = objective.rows.dot(np.full(61, at))
        objective.direction(np.zeros(61), z, g, 0.01)
    assert max(counts) <= 5 and len(objective.known) == 1


def test_a_sample_that_misleads_is_replaced_by_all_records(monkeypatch):
    """Weights that were tiny where the first direction was made say nothing of later ones."""
    objective, asked = problem(n=20_000), []
    plain = DenseRows.gram
    monkeypatch.setattr(
        DenseRows, "gram", lambda rows, h: asked.append(len(rows)) or plain(rows, h)
    )
    monkeypatch.setattr(_objective, "MOST_SAMPLED", 6)
    sampled = SampledCurvature(
        objective.rows, objective.strength, lambda matrix: lambda g: g * np.geomspace(1, 1e6, 61)
    )
    g = np.random.default_rng(2).normal(size=61)
    for _ in range(2):
        sampled.direction(objective.weights(np.zeros(20_000)), g, 1e-9)
    assert asked[0] < 20_000 and asked[1] == 20_000


@pytest.mark.parametrize("broken", [np.nan, np.inf, 0.0])
def test_directions_end_whatever_the_matrix_is(broken):
    g = np.ones(5)
    with np.errstate(all="ignore"):  # as in an answer
        p, products = conjugate_gradients(lambda v: broken * v, lambda v: v, g, 1e-9, 30)
    assert products <= 30 and p.shape == g.shape


def test_every_iterate_of_the_gradients_goes_down():
    """So a search that was cut short still proposes a descent."""
    rng = np.random.default_rng(0)
    root = rng.normal(size=(40, 40))
    matrix, g = root @ root.T + 0.01 * np.eye(40), rng.normal(size=40)
    for most in range(1, 12):
        p, _ = conjugate_gradients(lambda v: matrix @ v, lambda v: v, g, 1e-12, most)
        assert p @ g > 0.0


def test_narrow_tables_and_several_scores_take_the_whole_matrix():
    objective = problem(d=20)
    z, g = np.zeros(9000), np.ones(21)
    p = objective.direction(np.zeros(21), z, g, 0.1)
    assert np.allclose(p, exact(objective, z, g)) and not objective.known
