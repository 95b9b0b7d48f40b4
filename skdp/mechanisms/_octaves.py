"""Doubles on a line of octaves: the first twelve bits of a number say in which bin it is, and order the bins.

Bin 2047 is zero, the subnormal numbers among it; bin 2047 + e holds the positive numbers of the exponent field e, from
2^(e - 1023) to 2^(e - 1022), and bin 2047 - e the negative ones. Bin 4095 holds what is missing. There is no logarithm
in it: a number's place is read off its bits, and the line needs no range to be declared.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "BINS",
    "MISSING",
    "ZERO",
    "bins_of",
    "by_octaves",
    "edges_of",
    "numbers_at",
    "places_of",
    "to_unit",
]

Array = np.ndarray[Any, Any]

BINS, ZERO, MISSING = 4096, 2047, 4095
_FIELDS = 2046  # the largest exponent field of a finite number
_MARGIN = 2.0**-30  # keeps a place off the ends of its bin, whatever rounding does to it


def places_of(x: Array) -> Array:
    """Numbers as places on the line, from -1 to 1: a monotone map of each number alone, to about twelve digits.

    Parameters
    ----------
    x : ndarray of float64
        Any doubles: infinite ones count as the largest finite, NaN as missing.

    Returns
    -------
    ndarray of float64
        Of the same shape, in (-1, 1).
    """
    bits = np.array(x, dtype=np.float64, order="C").view(np.uint64)
    field = np.minimum((bits >> np.uint64(52)) & np.uint64(2047), np.uint64(_FIELDS)).astype(float)
    rest = (bits & np.uint64((1 << 52) - 1)).astype(np.float64) * 2.0**-52
    rest[np.isinf(x)] = 1.0 - 2.0**-52
    along = field + _MARGIN + rest * (1.0 - 2.0 * _MARGIN)
    line = np.where(bits >> np.uint64(63), 2048.0 - along, 2047.0 + along)
    line[field == 0.0] = ZERO + 0.5
    line[np.isnan(x)] = MISSING + 0.5
    return (line - 2048.0) / 2048.0


def bins_of(places: Array) -> Array:
    """Bins of places, whatever they hold.

    Parameters
    ----------
    places : ndarray
        Cut to [-1, 1] where they lie beyond.

    Returns
    -------
    ndarray of int
        From 0 to 4095.
    """
    return np.minimum(np.floor(_line(places)), MISSING).astype(np.intp)


def numbers_at(places: Array) -> Array:
    """The numbers that have these places, finite or NaN for what is missing; places are cut as in `bins_of`."""
    line = _line(places)
    negative = line < ZERO
    along = np.where(negative, 2048.0 - line, line - 2047.0)
    field = np.clip(np.floor(along), 0.0, _FIELDS)
    rest = np.clip((along - field - _MARGIN) / (1.0 - 2.0 * _MARGIN), 0.0, 1.0 - 2.0**-52)
    x = np.ldexp(1.0 + rest, field.astype(np.int64) - 1023)
    x[field == 0.0] = 0.0
    x[line >= MISSING] = np.nan
    return np.where(negative, -x, x)


def edges_of(bins: Array) -> tuple[Array, Array]:
    """Lower and upper ends of bins; both are 0 for the bin of zero.

    Parameters
    ----------
    bins : ndarray of int
        From 1 to 4093.

    Returns
    -------
    low, high : ndarray
    """
    field = np.abs(np.asarray(bins) - ZERO)
    near = np.ldexp(1.0, np.clip(field, 1, _FIELDS) - 1023)
    far = np.minimum(near, 2.0**1022) * 2.0
    far = np.where(field >= _FIELDS, np.finfo(np.float64).max, far)
    near, far = np.where(field == 0, 0.0, near), np.where(field == 0, 0.0, far)
    below = np.asarray(bins) < ZERO
    return np.where(below, -far, near), np.where(below, -near, far)


def to_unit(x: Array, low: Array, high: Array, units: Array | None = None) -> Array:
    """Numbers to [-1, 1] by bounds of their columns; where both bounds are one, their signs. Missing ones become 0.

    Parameters
    ----------
    x : ndarray of shape (n, d)
        Finite, or NaN.
    low, high : ndarray of shape (d,)
        Bounds.
    units : ndarray of shape (d,) or None
        Of columns that are seen by octaves; 0, or None for all, where one is seen as it is.

    Returns
    -------
    ndarray of shape (n, d)
    """
    if units is not None:
        x, low, high = by_octaves(x, units), by_octaves(low, units), by_octaves(high, units)
    # Halved first: low + high and high - low may each overflow.
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    signs = half < np.finfo(np.float64).tiny
    u = (np.clip(x, low, high) - middle) / np.where(signs, 1.0, half)
    u = np.where(signs, np.sign(x), np.clip(u, -1.0, 1.0))
    u[np.isnan(u)] = 0.0
    return u


def by_octaves(x: Array, units: Array) -> Array:
    """Numbers counted in units up to one of them, and in octaves beyond: 2, 4 and 8 units become 2, 3 and 4.

    Between powers of 2 it is straight, so that there is no logarithm in it, and no rounding but that of the sum.

    Parameters
    ----------
    x : ndarray of shape (n, d)
        Finite, or NaN.
    units : ndarray of shape (d,)
        Powers of 2; columns of unit 0 stay as they are.

    Returns
    -------
    ndarray of shape (n, d)
        Odd and increasing in each cell.
    """
    counted = units > 0.0
    if not counted.any():
        return x
    rest, octave = np.frexp(np.abs(x))
    octave = np.where(rest > 0.0, octave - (np.frexp(units)[1] - 1), 0)
    beyond = octave + (2.0 * rest - 1.0)
    within = np.ldexp(rest, np.minimum(octave, 1))
    return np.where(counted, np.copysign(np.where(octave > 0, beyond, within), x), x)


def _line(places: Array) -> Array:
    """Places on the line from 0 to 4096."""
    return (np.clip(places, -1.0, 1.0) + 1.0) * 2048.0
