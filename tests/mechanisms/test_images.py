"""Norms of images by a triangle are bounds on the norms by the matrix, for rows on which the two differ most."""

import numpy as np
import pytest

from skdp.mechanisms import Public, Records, _rows
from skdp.mechanisms._rows import image_norms, triangle

EXACT = np.longdouble  # 11 bits more than a double: enough to see what a double loses
KINDS = ["even", "graded", "huge", "tiny", "of rank one", "with a column of zeros", "zero"]


def matrix_of(kind, k, rng):
    left, right = (np.linalg.qr(rng.standard_normal((k, k)))[0] for _ in range(2))
    graded = (left * np.geomspace(1.0, 1e-12, k)) @ right
    return {
        "even": left @ right,
        "graded": graded,
        "huge": 1e30 * graded,
        "tiny": 1e-30 * graded,
        "of rank one": np.outer(left[0], right[0]),
        "with a column of zeros": graded * (np.arange(k) != 1),
        "zero": np.zeros((k, k)),
    }[kind]


def rows_on_which_they_differ(matrix, rng):
    """Rows of norm at most 1 among which are those that the matrix hardly sees: there a small difference is large."""
    shortest = np.linalg.svd(matrix)[2]
    rows = np.concatenate([shortest, -shortest, rng.standard_normal((40, len(matrix)))])
    return 0.999 * rows / np.linalg.norm(rows, axis=1, keepdims=True)


def exact_norms(rows, matrix):
    images = rows.astype(EXACT) @ matrix.astype(EXACT).T
    return np.sqrt((images * images).sum(axis=1))


def vault_of(rows):
    public = Public(len(rows), rows.shape[1], 0.0, "replace_one")
    return Records.admit(rows, np.ones(len(rows)), public, 1.0).rows


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [2, 7, 60])
def test_they_are_bounds_and_near(kind, k):
    rng = np.random.default_rng(k)
    matrix = matrix_of(kind, k, rng)
    rows = rows_on_which_they_differ(matrix, rng)
    table = vault_of(np.tile(rows, (1 + _rows.FACTORED * k // len(rows), 1)))
    assert len(table) >= _rows.FACTORED * k  # a triangle is worth it
    bounds = image_norms(table, matrix, in_place=True)
    exact = np.tile(exact_norms(rows, matrix), len(table) // len(rows))
    assert (bounds >= exact).all()
    size = np.linalg.norm(matrix)
    assert (bounds <= exact * (1 + 1e-9) + 1e-11 * size).all()


@pytest.mark.parametrize("k", [7, 60])
def test_without_what_is_lost_they_are_none(k):
    """The same rows tell a triangle that is taken for the matrix itself."""
    rng = np.random.default_rng(k)
    found = []
    for _ in range(10):
        matrix = matrix_of("graded", k, rng)
        rows = rows_on_which_they_differ(matrix, rng)
        factor, lost, longer = triangle(matrix)
        images = rows @ factor.T
        plain, exact = np.linalg.norm(images, axis=1), exact_norms(rows, matrix)
        assert (longer * plain + lost >= exact).all() and lost < 1e-12 * np.sqrt(k)
        found.append((plain * (1.0 + 1e-12) < exact).any())
    assert all(found)


def test_a_factor_that_is_far_off_is_not_used(monkeypatch):
    honest = np.linalg.qr
    monkeypatch.setattr(np.linalg, "qr", lambda a: (1.1 * honest(a)[0], honest(a)[1] / 1.1))
    assert triangle(np.eye(3)) == (None, 0.0, 1.0)
    rows = vault_of(np.eye(3)[np.arange(30) % 3])
    assert image_norms(rows, np.eye(3), in_place=True) == pytest.approx(np.ones(30))


def test_a_factor_of_another_matrix_costs_what_it_is_off(monkeypatch):
    """Whatever factors come out, what is promised holds."""
    honest = np.linalg.qr
    monkeypatch.setattr(np.linalg, "qr", lambda a: (honest(a)[0], 0.5 * honest(a)[1]))
    matrix = np.diag([1.0, 2.0, 3.0])
    factor, lost, longer = triangle(matrix)
    rows = np.random.default_rng(0).standard_normal((50, 3))
    norms = np.linalg.norm(rows @ factor.T, axis=1) * longer + lost * np.linalg.norm(rows, axis=1)
    assert (norms >= np.linalg.norm(rows @ matrix.T, axis=1)).all()
