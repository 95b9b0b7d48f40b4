"""Targets between bounds, on [-1, 1]."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["middle_and_half", "onto_unit"]

Array = np.ndarray[Any, Any]


def middle_and_half(bounds: ArrayLike, centred: bool) -> tuple[Any, Any]:
    """The midpoint of a pair of bounds, and half of their distance; or 0, and how far they lie from it.

    Parameters
    ----------
    bounds : pair of float, or array-like of shape (t, 2)
        Of one target, or of each.
    centred : bool
        Whether the midpoint is taken from targets.

    Returns
    -------
    middle, half : float, or ndarray of shape (t,)
    """
    low, high = np.asarray(bounds, dtype=np.float64).T
    half = 0.5 * high - 0.5 * low if centred else np.maximum(np.abs(low), np.abs(high))
    middle, half = low + half if centred else 0.0 * low, np.nextafter(half, math.inf)
    return (middle, half) if half.ndim else (float(middle), float(half))


def onto_unit(found: Array, bounds: ArrayLike, centred: bool) -> Array:
    """Targets on [-1, 1]; parameters as of `middle_and_half`.

    Parameters
    ----------
    found : ndarray of shape (n,) or (n, t)
        Finite; those beyond the bounds are cut to them.
    bounds, centred
        As of `middle_and_half`.

    Returns
    -------
    ndarray
        Of the same shape.
    """
    middle, half = middle_and_half(bounds, centred)
    # Cut first: a difference of two doubles may overflow.
    low, high = np.asarray(bounds, dtype=np.float64).T
    return np.asarray(np.clip((np.clip(found, low, high) - middle) / half, -1.0, 1.0))
