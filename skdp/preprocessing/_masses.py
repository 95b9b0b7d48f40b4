"""Location of a column's numbers, from noisy counts of powers of two: post-processing, which costs nothing."""

from __future__ import annotations

import numpy as np

from ..mechanisms._octaves import edges_of
from ._cells import Array

__all__ = ["knots_of", "median_of"]


def knots_of(masses: Array) -> tuple[Array, Array]:
    """A monotone curve through the ends of the octaves that hold something: numbers, and the share below each.

    Parameters
    ----------
    masses : ndarray of shape (4096,)
        Counts that are not negative.

    Returns
    -------
    numbers, shares : ndarray
        In order; both empty where no octave holds anything. Within an octave the curve is straight.
    """
    bins = np.flatnonzero(masses > 0.0)
    if not len(bins):
        return np.empty(0), np.empty(0)
    tiny = np.finfo(np.float64).tiny
    low, high = edges_of(bins)
    low, high = np.where(low == high, -tiny, low), np.where(low == high, tiny, high)
    above = np.cumsum(masses[bins])
    ends = np.column_stack([low, high]).ravel()
    shares = np.column_stack([above - masses[bins], above]).ravel() / above[-1]
    keep = np.append(True, ends[1:] > ends[:-1])  # octaves that touch share an end
    return ends[keep], shares[keep]


def median_of(masses: Array) -> float:
    """The number that half of them lie below; 0 where nothing is known.

    Parameters
    ----------
    masses : ndarray of shape (4096,)
        Counts that are not negative.

    Returns
    -------
    float
    """
    numbers, shares = knots_of(masses)
    if not len(numbers):
        return 0.0
    found = float(np.interp(0.5, shares, numbers / 2.0)) * 2.0  # halved: a difference may overflow
    tiny = np.finfo(np.float64).tiny
    return 0.0 if abs(found) <= tiny else found
