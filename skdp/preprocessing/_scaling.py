"""Numbers on [-1, 1], around the public midpoint of their bounds on a scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ._cells import Array

if TYPE_CHECKING:
    from ._declaration import Numbers

__all__ = ["SCALES", "on_scale", "undone", "unit_interval"]

SCALES = ("linear", "log", "symlog")


def unit_interval(column: Array | ArrayLike, declared: Numbers) -> Array:
    """Numbers to [-1, 1] around the midpoint of the scaled bounds; clipped outside, NaN where missing.

    Parameters
    ----------
    column : array-like of shape (n,)
        Floats.
    declared : Numbers
        Bounds and scale.

    Returns
    -------
    ndarray of shape (n,)
    """
    # Clipped first: no scale is asked of what it is not made for, and nothing overflows.
    cells = np.clip(np.asarray(column, dtype=np.float64), declared.low, declared.high)
    middle, half = _middle_and_half(declared)
    scaled = on_scale(cells, declared.scale)
    scaled -= middle
    scaled /= half
    return np.clip(scaled, -1.0, 1.0, out=scaled)


def undone(unit: Array, declared: Numbers) -> Array:
    """Invert `unit_interval`; clipped numbers come back as the bound.

    Parameters
    ----------
    unit : ndarray of shape (n,)
        Numbers in [-1, 1].
    declared : Numbers
        Bounds and scale.

    Returns
    -------
    ndarray of shape (n,)
    """
    middle, half = _middle_and_half(declared)
    scaled = np.clip(unit, -1.0, 1.0) * half + middle
    if declared.scale == "log":
        scaled = np.exp(scaled)
    elif declared.scale == "symlog":
        scaled = np.sign(scaled) * np.expm1(np.abs(scaled))
    return np.clip(scaled, declared.low, declared.high)


def on_scale(x: ArrayLike, scale: str) -> Any:
    """Numbers on a scale: symlog is ``sign(x) * log1p(|x|)``.

    Parameters
    ----------
    x : array-like
        Numbers, positive for "log".
    scale : str
        One of `SCALES`.

    Returns
    -------
    ndarray
    """
    if scale == "linear":
        return x
    return np.log(x) if scale == "log" else np.sign(x) * np.log1p(np.abs(x))


def _middle_and_half(declared: Numbers) -> tuple[float, float]:
    low, high = (on_scale(bound, declared.scale) for bound in (declared.low, declared.high))
    # Halved first: low + high and high - low may each overflow.
    return low / 2 + high / 2, high / 2 - low / 2
