"""Bounds of columns from counts of octaves: what is asked, and what follows of the answer.

Derive bounds of a column from noisy counts of octaves: post-processing, which costs nothing.

*Support*: dyadic windows of bins whose noisy sum passes what empty ones pass with probability 1e-3 in all
columns together, the smallest such; at the ends it grows while the next bins pass, too. *Descent*: from an end of the
support inwards, until the sum of counts exceeds a hundredth of the records, or 2.5 deviations of its noise. *None*:
where nothing stands out, the column has no scale and is seen by its sign.

*Tail*: where the sizes of numbers are spread widely, columns are seen by octaves from a unit on.

Counts are summed over the support only: through empty bins a sum is a random walk that passes any mark sooner or later.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtri

from ..mechanisms import ColumnCounts, Public
from ..mechanisms._octaves import BINS, MISSING, ZERO, edges_of
from ._solver import Array, OracleLike

__all__ = [
    "any_support",
    "bounds_of",
    "buy_bounds",
    "counts_asked",
    "norm_of",
    "records_in",
    "support_of",
    "unit_of",
]


BETA = 1e-3  # chance that an empty window of any column passes
TAIL = 0.01  # share of the records that may lie beyond a bound
SURE = 2.5  # deviations of its noise that a sum must exceed before a bound is set
STEPS = (1, 2, 4, 8)  # bins that are tried together where the support grows
HEAVY = 1.2  # deviation of the logarithm of sizes from which on a tail is heavy: Cauchy's is 1.4, Student's of 2 is 1
SMALL = 0.03  # share of sizes that a unit lies above
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


def unit_of(counts: Array, deviation: float, columns: int, n: float) -> float:
    """Size from which on a column with a heavy tail is seen by octaves; 0 where none stands out. As `bounds_of`.

    Sizes are those of numbers of either sign, without zeros. The shares beyond two edges of octaves, one about the
    middle of the sizes and one near their end, tell how widely these are spread: by the deviation of their logarithm,
    if that were normal. Numbers that do not stand out of the noise are taken to lie beyond the support as often as
    below it. The unit lies below all but the smallest numbers.
    """
    bins = np.flatnonzero(support_of(counts, deviation, columns))
    sizes = np.abs(bins - ZERO)
    octaves = np.unique(sizes[sizes > 0])
    if not len(octaves):
        return 0.0
    held = np.bincount(sizes, counts[bins])[octaves]
    below, beyond = np.cumsum(held), np.cumsum(held[::-1])[::-1]
    noise = deviation * np.sqrt(np.cumsum(np.bincount(sizes)[octaves][::-1]))[::-1]
    told = np.flatnonzero(beyond > np.maximum(TAIL * beyond[0], SURE * noise))
    if not len(told):
        return 0.0
    numbers = n - max(float(counts[ZERO]), 0.0) - max(float(counts[MISSING]), 0.0)
    hidden = max(numbers - float(beyond[0]), 0.0)
    shares = np.clip((beyond + 0.5 * hidden) / (beyond[0] + hidden), 1e-9, 1.0 - 1e-9)
    end, middle = int(told[-1]), int(np.argmin(np.abs(shares - 0.5)))
    apart = float(ndtri(shares[middle]) - ndtri(shares[end]))
    if end <= middle or math.log(2.0) * float(octaves[end] - octaves[middle]) < HEAVY * apart:
        return 0.0
    least = octaves[int(np.argmax(below > SMALL * below[-1]))]
    return float(edges_of(np.array([ZERO + least]))[0][0])


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


def counts_asked(public: Public, multiplier: float) -> ColumnCounts:
    """The counts of all octaves, of a table of places.

    Parameters
    ----------
    public : Public
        Facts about that table.
    multiplier : float
        Of the noise.
    """
    return ColumnCounts(multiplier=multiplier, scale=norm_of(public.n_features))


def buy_bounds(oracle: OracleLike, question: ColumnCounts) -> tuple[Array, Array, float]:
    """Bounds of all columns, and the number of records: public, or a rough one that the counts show.

    Parameters
    ----------
    oracle : Oracle
        Answers, of a table of places.
    question : ColumnCounts
        The counts.

    Returns
    -------
    bounds : ndarray of shape (d, 2)
        Both are 0 where a column has no scale.
    units : ndarray of shape (d,)
        Of columns with a heavy tail; 0 for others.
    n : float
    """
    public = oracle.public
    counts = np.asarray(oracle.ask(question)).reshape(public.n_features, BINS)
    deviation = question.multiplier * question.bound(public)
    n = float(public.n) if public.n is not None else records_in(counts, deviation)
    bounds, units = np.zeros((len(counts), 2)), np.zeros(len(counts))
    for j in np.flatnonzero(any_support(counts, deviation)):
        bounds[j] = bounds_of(counts[j], deviation, len(counts), n)
        units[j] = unit_of(counts[j], deviation, len(counts), n)
    return bounds, units, n


def norm_of(d: int) -> float:
    """Bound on the norm of a row of places, each in (-1, 1).

    Parameters
    ----------
    d : int
        Columns.

    Returns
    -------
    float
    """
    return math.sqrt(d) * (1.0 + 1e-9)
