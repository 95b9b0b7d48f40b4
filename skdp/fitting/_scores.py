"""Scores of rows by stored coefficients: plain arithmetic on what has been released."""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from ._tables import Array

__all__ = ["scores"]


def scores(X: Any, coef: Any, intercept: Any) -> Array:
    """Of rows, which may be sparse as coefficients may: finite, also of rows that are too large for a sum.

    Parameters
    ----------
    X : ndarray or sparse table of shape (n, d)
        Finite.
    coef, intercept
        What rows are multiplied by, and what is added.
    """
    with np.errstate(all="ignore"):
        found = X @ coef
        found = np.asarray((found.toarray() if issparse(found) else found) + intercept)
        found = found.reshape(
            (X.shape[0], *np.shape(coef)[1:])
        )  # of one row scipy may make a number
        most = 0.25 * float(np.finfo(found.dtype).max)  # so that differences are finite, too
        within = (np.abs(found) <= most).all()
        return found if within else np.clip(np.nan_to_num(found), -most, most)
