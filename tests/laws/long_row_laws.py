"""Rows that had to be scaled down are the same ones to every method of an engine, their constants included."""

from fractions import Fraction

import numpy as np
from laws.row_laws import DATA_NORM, INTERCEPT, left_of

from skdp.mechanisms._kernels import PIECE
from skdp.mechanisms._shrunk import LEAST_SHRINK

TABLES = (
    (40, 6, 1.0),
    (2 * PIECE + 5, 5, 1.0),
    (300, 64, 0.04),
)  # rows, columns, cells that are full


def long_rows(rng, n, d, full, dtype):
    """Rows of all lengths, of which most are far beyond the bound."""
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < full)
    return (X * 10.0 ** rng.uniform(-2, 4, size=(n, 1))).astype(dtype)


def as_left(X):
    """The rows that are left of these, beside what is left of the constant, and how much that is."""
    X = X.astype(np.longdouble)
    divisor = np.maximum(np.sqrt(np.square(X).sum(axis=1)), DATA_NORM)
    left = np.maximum(DATA_NORM / divisor, LEAST_SHRINK)
    return np.column_stack([X / divisor[:, None], INTERCEPT * left]), left


def check_long_rows_are_the_same_to_all(subject):
    """Scores, sums, second moments and images are those of the rows that are left."""
    for dtype, eps in ((np.float64, 1e-12), (np.float32, 4e-6)):
        for n, d, full in TABLES:
            rng = np.random.default_rng(d)
            X = long_rows(rng, n, d, full, dtype)
            rows, (left, share) = subject.make(X), as_left(X)
            if subject.depth:
                left = _seen(subject, left)
            assert (share < 0.5).mean() > 0.5, "what is not scaled down shows nothing"
            _check_products(rows, left.astype(np.float64), rng, eps)
            _near(left_of(rows), share, eps, "another part is left")
            if not subject.depth:
                _check_table(rows, left.astype(np.float64), rng, eps)


def _seen(subject, rows):
    """What the engine makes of them, a linear map."""
    basis = (
        subject.exact(list(map(Fraction, e))) for e in np.eye(rows.shape[1], dtype=int).tolist()
    )
    return rows @ np.array([[float(v) for v in row] for row in basis])


def _check_products(rows, wanted, rng, eps):
    n, width = wanted.shape
    double, h = rows.in_double(), rng.random(n)
    assert (rows.norms >= np.linalg.norm(wanted, axis=1) * (1 - eps)).all(), "norms that are none"
    for shape in ((), (2,)):
        w, v = rng.normal(size=(width, *shape)), rng.normal(size=(n, *shape))
        for side in (rows, double):
            _near(side.dot(w), wanted @ w, eps, "scores of other rows")
            whole, share = side.whole_dot(w), left_of(side)
            whole = whole * (share if w.ndim == 1 else share[:, None])
            _near(whole, wanted @ w, eps, "scores of other whole rows")
            _near(side.tdot(v), wanted.T @ v, eps * n, "a sum of other rows")
        careful = double.careful_dot(w, np.zeros_like(w))
        _near(careful, wanted @ w, eps, "careful scores of other rows")
        _near(sum(double.careful_tdot(v)), wanted.T @ v, eps * n, "a careful sum of other rows")
    _near(rows.gram(h), (wanted.T * h) @ wanted, eps * n, "a weighted moment of other rows")


def _check_table(rows, wanted, rng, eps):
    matrix = rng.normal(size=(3, wanted.shape[1]))
    _near(rows.to_dense(), wanted, eps, "other rows")
    _near(rows.moment(), wanted.T @ wanted, eps * len(wanted), "a second moment of other rows")
    _near(rows.max_abs(), np.abs(wanted[:, :-1]).max(axis=1), eps, "another largest entry")
    images = np.linalg.norm(wanted @ matrix.T, axis=1)
    _near(rows.image_norms(matrix, True), images, 10 * eps, "images of other rows")


def _near(found, wanted, atol, what):
    np.testing.assert_allclose(found, wanted.astype(np.float64), rtol=0, atol=atol, err_msg=what)
