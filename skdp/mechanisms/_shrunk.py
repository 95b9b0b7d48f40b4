"""The loss of a record whose row had to be scaled down, in the score z of what is left of it: ``s^2 l(z / s)``.

The row that was given, x, enters as ``s x``. With the loss ``l`` of ``s x`` a fit would explain the target with rows
that are too short, and come out with parameters that are too large. With the score of the whole row, ``z / s``, and the
weight ``s^2``, what is estimated stays what it was: the weights depend on rows alone. In z such a loss has the
slope ``s l'``, of the same sign and no steeper than l, and the curvature ``l''``: no constant of a proof changes
(docs/proofs/shrunk_rows.md).

A loss of residuals may ask for ``l(z; s y)`` instead: that of what is left of the row and of the target.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..losses import Loss
from ._kernels import UNIT

__all__ = [
    "LEAST_SHRINK",
    "curvatures_of",
    "left_of",
    "slopes_at",
    "slopes_of",
    "values_at",
    "values_of",
    "whole_scores",
]

Array = np.ndarray[Any, Any]

LEAST_SHRINK = 2.0**-20  # a row that was scaled down further counts as if by this


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
    return values_at(loss, shrink, whole_scores(shrink, z), y)


def values_at(loss: Loss, shrink: Array | None, whole: Array, y: Array) -> Array:
    """Return the losses of shrunk rows from the scores of the whole rows."""
    if shrink is not None and _together(loss):
        return np.asarray(loss.value(*_scaled(shrink, whole, y)), dtype=np.float64)
    values = loss.value(whole, y).astype(np.float64, copy=False)
    return values if shrink is None else np.asarray(values * shrink * shrink)


def slopes_of(loss: Loss, shrink: Array | None, z: Array, y: Array) -> Array:
    """Its derivative in z, a fresh array in double precision; parameters as in `values_of`."""
    return slopes_at(loss, shrink, whole_scores(shrink, z), y)


def slopes_at(loss: Loss, shrink: Array | None, whole: Array, y: Array) -> Array:
    """Return the derivatives of the losses of shrunk rows from the scores of the whole rows."""
    if shrink is not None and _together(loss):
        return np.asarray(loss.dz(*_scaled(shrink, whole, y)), dtype=np.float64, order="C")
    slopes = np.asarray(loss.dz(whole, y), dtype=np.float64, order="C")
    if shrink is not None:
        slopes *= shrink if slopes.ndim == 1 else shrink[:, None]
    return slopes


def curvatures_of(loss: Loss, shrink: Array | None, z: Array, y: Array) -> Array:
    """Its second derivative in z: that of the loss at the score of the whole row; parameters as in `values_of`."""
    if shrink is not None and _together(loss):
        return np.asarray(loss.d2z(z, shrink * y), dtype=np.float64)
    return np.asarray(loss.d2z(whole_scores(shrink, z), y), dtype=np.float64)


def whole_scores(shrink: Array | None, z: Array) -> Array:
    """Scores of the whole rows, in the precision of those that are left: a row of s = 1 keeps its bits."""
    if shrink is None:
        return z
    along = shrink if z.ndim == 1 else shrink[:, None]
    return np.divide(z, along, dtype=np.float64).astype(z.dtype, copy=False)


def _together(loss: Loss) -> bool:
    """Return whether targets are scaled down with their rows: numbers may be, labels not."""
    return loss.kind == "regression" and loss.scales_targets


def _scaled(shrink: Array, whole: Array, y: Array) -> tuple[Array, Array]:
    """Scores and targets of what is left of the records, the scores in their own precision; s = 1 changes no bit."""
    return np.asarray(shrink * whole).astype(whole.dtype, copy=False), shrink * y


def left_of(
    raw: Array, divisor: Array, data_norm: float, intercept: float
) -> tuple[Array | None, Array]:
    """Return how much is left of rows of these norms, and bounds on their norms with the constant column."""
    shrink = np.maximum(data_norm / divisor, LEAST_SHRINK)
    # Above the roundings of the quotients and of the root, so that the bound holds as computed.
    with np.errstate(invalid="ignore"):  # infinite rows become NaN, which Records.admit refuses
        norms = np.hypot(raw / divisor, intercept * shrink)
        norms *= 1.0 + 12.0 * UNIT
    return None if (shrink == 1.0).all() else shrink, norms
