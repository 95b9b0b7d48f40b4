"""The loss of a record whose row had to be scaled down, in the score z of what is left of it: ``s^2 l(z / s)``.

The row that was given, x, enters as ``s x``. With the loss ``l`` of ``s x`` a fit would explain the target with rows
that are too short, and come out with parameters that are too large. With the score of the whole row, ``z / s``, and the
weight ``s^2``, what is estimated stays what it was: the weights depend on rows alone. In z such a loss has the
slope ``s l'``, of the same sign and no steeper than l, and the curvature ``l''``: no constant of a proof changes
(docs/proofs/shrunk_rows.md).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..losses import Loss

__all__ = ["curvatures_of", "slopes_of", "values_of", "whole_scores"]

Array = np.ndarray[Any, Any]


def values_of(loss: Loss, shrink: Array | None, z: Array, y: Array) -> Array:
    """Loss of each record in double precision.

    Parameters
    ----------
    loss : Loss
        l.
    shrink : ndarray of shape (n,) or None
        s of each record, in (0, 1]; None stands for ones, to the last bit.
    z : ndarray of shape (n,) or (n, K)
        Scores of the rows that are left.
    y : ndarray of shape (n,)
        Targets.
    """
    values = loss.value(whole_scores(shrink, z), y).astype(np.float64, copy=False)
    return values if shrink is None else np.asarray(values * shrink * shrink)


def slopes_of(loss: Loss, shrink: Array | None, z: Array, y: Array) -> Array:
    """Its derivative in z, a fresh array in double precision; parameters as in `values_of`."""
    slopes = np.asarray(loss.dz(whole_scores(shrink, z), y), dtype=np.float64, order="C")
    if shrink is not None:
        slopes *= shrink if slopes.ndim == 1 else shrink[:, None]
    return slopes


def curvatures_of(loss: Loss, shrink: Array | None, z: Array, y: Array) -> Array:
    """Its second derivative in z: that of the loss at the score of the whole row; parameters as in `values_of`."""
    return np.asarray(loss.d2z(whole_scores(shrink, z), y), dtype=np.float64)


def whole_scores(shrink: Array | None, z: Array) -> Array:
    """Scores of the whole rows, in the precision of those that are left: a row of s = 1 keeps its bits."""
    if shrink is None:
        return z
    along = shrink if z.ndim == 1 else shrink[:, None]
    return np.divide(z, along, dtype=np.float64).astype(z.dtype, copy=False)
