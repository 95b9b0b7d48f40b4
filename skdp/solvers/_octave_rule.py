"""Derive bounds of a column from noisy counts of octaves: post-processing, which costs nothing.

Three steps. *Support*: dyadic windows of bins whose noisy sum passes what empty ones pass with probability 1e-3 in all
columns together, the smallest such; at the ends it grows while the next bins pass, too. *Descent*: from an end of the
support inwards, until the sum of counts exceeds a hundredth of the records, or 2.5 deviations of its noise. *None*:
where nothing stands out, the column has no scale and is seen by its sign.

Counts are summed over the support only: through empty bins a sum is a random walk that passes any mark sooner or later.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import ndtri

from ..mechanisms._octaves import BINS, MISSING, edges_of

__all__ = ["any_support", "bounds_of", "records_in", "support_of"]

Array = np.ndarray[Any, Any]

BETA = 1e-3  # chance that an empty window of any column passes
TAIL = 0.01  # share of the records that may lie beyond a bound
SURE = 2.5  # deviations of its noise that a sum must exceed before a bound is set
STEPS = (1, 2, 4, 8)  # bins that are tried together where the support grows
AT_ONCE = 16  # columns that are looked at together
LEVELS = 10  # windows of 1, 2, 4, ... 512 bins


def support_of(counts: Array, deviation: float, columns: int) -> Array:
    """Return a mask of the bins in which records stand out of the noise; parameters as of `bounds_of`."""
    counts = np.where(np.arange(BINS) < MISSING - 1, counts, 0.0)  # the last two hold no number
    mark = -float(ndtri(BETA / (2 * BINS * columns))) * deviation
    support = np.zeros(BINS, dtype=bool)
    below = np.zeros(BINS, dtype=bool)  # windows in which a smaller one has passed
    for level in range(LEVELS):
        width = 2**level
        passes = counts.reshape(-1, width).sum(axis=1) > mark * math.sqrt(width)
        support |= np.repeat(passes & ~below, width)
        below = (passes | below).reshape(-1, 2).any(axis=1)
    if support.any():
        near = -float(ndtri(BETA / (8 * columns))) * deviation
        _grow(support, counts, near)
        _grow(support[::-1], counts[::-1], near)
    return support


def any_support(counts: Array, deviation: float) -> Array:
    """Return a mask of the columns in which any window passes: the others need no further query.

    Parameters
    ----------
    counts : ndarray of shape (d, 4096)
        Noisy counts.
    deviation : float
        Of their noise.

    Returns
    -------
    ndarray of bool of shape (d,)
    """
    mark = -float(ndtri(BETA / (2 * BINS * len(counts)))) * deviation
    found = np.zeros(len(counts), dtype=bool)
    for first in range(0, len(counts), AT_ONCE):
        part = slice(first, first + AT_ONCE)
        sums = np.where(np.arange(BINS) < MISSING - 1, counts[part], 0.0)
        for level in range(LEVELS):
            found[part] |= sums.max(axis=1) > mark * math.sqrt(2**level)
            sums = sums[:, ::2] + sums[:, 1::2]
    return found


def bounds_of(counts: Array, deviation: float, columns: int, n: float) -> tuple[float, float]:
    """Bounds of one column; both are 0 where it has no scale.

    Parameters
    ----------
    counts : ndarray of shape (4096,)
        Noisy counts.
    deviation : float
        Of their noise.
    columns : int
        Columns that share the chance of a mistake.
    n : float
        Records, or a rough number of them.

    Returns
    -------
    low, high : float
    """
    bins = np.flatnonzero(support_of(counts, deviation, columns))
    if not len(bins):
        return 0.0, 0.0
    ends = np.array([_descend(along, counts, deviation, n) for along in (bins, bins[::-1])])
    low, high = float(edges_of(ends)[0][0]), float(edges_of(ends)[1][1])
    return min(low, high), max(low, high)


def records_in(counts: Array, deviation: float) -> float:
    """A rough number of records where it is private: the median over columns of what their supports hold.

    Parameters
    ----------
    counts : ndarray of shape (d, 4096)
        Noisy counts.
    deviation : float
        Of their noise.

    Returns
    -------
    float
    """
    held = [
        float(column[support_of(column, deviation, len(counts))].sum() + column[MISSING])
        for column in counts
    ]
    return max(float(np.median(held)), 1.0)


def _grow(support: Array, counts: Array, near: float) -> None:
    """Add bins beyond the last one of the support, in place, while they pass together."""
    end = int(np.flatnonzero(support)[-1]) + 1
    while True:
        for width in STEPS:
            if counts[end : end + width].sum() > near * math.sqrt(width):
                support[end : end + width] = True
                end = min(end + width, BINS)
                break
        else:
            return


def _descend(bins: Array, counts: Array, deviation: float, n: float) -> int:
    """The first bin, from an end of the support inwards, at which enough records are passed."""
    passed = np.cumsum(counts[bins])
    asked = np.maximum(TAIL * n, SURE * deviation * np.sqrt(np.arange(1, len(bins) + 1)))
    found = np.flatnonzero(passed > asked)
    return int(bins[found[0] if len(found) else -1])
