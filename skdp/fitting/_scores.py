"""Scores of rows by stored coefficients: plain arithmetic on what has been released, row by row to the last bit.

Single BLAS thread while a solver runs; the earlier setting is restored afterwards.

Solvers ask for thousands of small products. With as many threads as cores, each of them waits for all cores: where
another program is busy, a fit takes tens of times as long. And sums in one order give the same bits for any setting.
"""

from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.sparse import issparse
from threadpoolctl import ThreadpoolController

from ..entry import Array
from ..mechanisms._kernels import row_dots

__all__ = ["one_thread", "rows_times", "scores"]


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    """The libraries that are loaded, looked up once: that takes longer than a short fit."""
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """A context in which BLAS uses one thread."""
    return _controller().limit(limits=1, user_api="blas")


AT_ONCE = 1 << 17  # numbers of rows that are multiplied together
LONG = 8192  # columns from which on OpenBLAS may cut one dot product among threads; it does beyond 10,000


def rows_times(rows: Any, matrix: Any) -> Array:
    """Multiply each row by a matrix, by itself: the same bits wherever it stands and however many there are.

    One product of a whole table rounds a row by its place, so a record more would move the bits of others
    (docs/proofs/bought_scales.md).

    Parameters
    ----------
    rows : ndarray or sparse table of shape (n, d)
        Of any layout.
    matrix : ndarray or sparse array of shape (d,) or (d, k)
        What they are multiplied by.

    Returns
    -------
    ndarray of shape (n,) or (n, k)
    """
    if issparse(rows) or issparse(matrix):  # loops of scipy, which take one row after the other
        found = rows @ matrix
        return np.asarray(found.toarray() if issparse(found) else found)
    kind = np.result_type(rows.dtype, matrix.dtype)
    # Elsewhere the setting of the process is left alone: predictions are made in many threads at once.
    with one_thread() if rows.shape[1] > LONG else nullcontext():
        columns = np.ascontiguousarray(matrix, kind)
        size = max(AT_ONCE // max(rows.shape[1], 1), 1)  # no copy of a whole table is made
        parts = (rows[start : start + size] for start in range(0, max(rows.shape[0], 1), size))
        return np.concatenate([row_dots(np.ascontiguousarray(x, kind), columns) for x in parts])


def scores(X: Any, coef: Any, intercept: Any) -> Array:
    """Return the scores of rows; rows and coefficients may be sparse.

    Scores are finite, even of rows that are too large for a sum.

    Parameters
    ----------
    X : ndarray or sparse table of shape (n, d)
        Finite.
    coef, intercept
        What rows are multiplied by, and what is added.
    """
    with np.errstate(all="ignore"):
        found = np.asarray(rows_times(X, coef) + intercept)
        found = found.reshape(
            (X.shape[0], *np.shape(coef)[1:])
        )  # of one row scipy may make a number
        most = 0.25 * float(np.finfo(found.dtype).max)  # so that differences are finite, too
        within = (np.abs(found) <= most).all()
        return found if within else np.clip(np.nan_to_num(found), -most, most)
