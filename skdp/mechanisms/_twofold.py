"""Sums and products in twice the precision, from doubles alone (Ogita, Rump and Oishi 2005).

A number is a pair (high, low) whose exact sum it is. A dot product of n terms is then off by two units in the last
place of its result, and by ``n^2 2^-106`` of the sum of absolute terms, instead of ``n 2^-53`` of that sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["dot", "fold", "fold_parts", "times", "two_sum", "weighted"]

Array = np.ndarray[Any, Any]

_SPLIT = 2.0**27 + 1.0
_NEAR = 2**14  # numbers at a time: they and the dozen arrays that are made of them lie in a cache


def two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """a + b as computed, and what rounding took from it (Knuth 1969)."""
    total = a + b
    came = total - a
    return total, (a - (total - came)) + (b - came)


def times(a: Any, b: Any) -> tuple[Any, Any]:
    """a * b as computed, and what rounding took from it (Dekker 1971)."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _split(a), _split(b)
    lost = a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)
    return product, lost


def _split(a: Any) -> tuple[Any, Any]:
    """Two halves of 26 bits each."""
    large = a * _SPLIT
    high = large - (large - a)
    return high, a - high


def fold(values: Array, lost: Array) -> tuple[Array, Array]:
    """Sum along the first axis, by halves."""
    if not len(values):
        return np.zeros(values.shape[1:]), np.zeros(values.shape[1:])
    while len(values) > 1:
        half = len(values) // 2
        total, error = two_sum(values[:half], values[half : 2 * half])
        error += lost[:half]
        error += lost[half : 2 * half]
        if len(values) % 2:
            total, error = (
                np.append(total, values[-1:], axis=0),
                np.append(error, lost[-1:], axis=0),
            )
        values, lost = total, error
    return two_sum(values[0], lost[0])


def dot(matrix: Array, vector: tuple[Array, Array]) -> tuple[Array, Array]:
    """A matrix times a pair; columns of the pair are outputs."""
    high, low = (v if v.ndim > 1 else v[:, None] for v in vector)
    outputs = [weighted(matrix.T, high[:, k], low[:, k]) for k in range(high.shape[1])]
    shape = (len(matrix),) + vector[0].shape[1:]
    first, second = (np.stack([pair[i] for pair in outputs], axis=-1) for i in (0, 1))
    return first.reshape(shape), second.reshape(shape)


def weighted(rows: Array, high: Array, low: Array) -> tuple[Array, Array]:
    """Sum of rows times weights ``high + low``, some columns at a time: what it is made of stays near."""
    total = np.empty((2, rows.shape[1]))
    width = max(_NEAR // max(len(rows), 1), 8)
    for first in range(0, rows.shape[1], width):
        part = rows[:, first : first + width]
        values, lost = times(part, high[:, None])
        lost += part * low[:, None]
        total[:, first : first + width] = fold(values, lost)
    return total[0], total[1]


def fold_parts(values: Array, lost: Array, ends: Array) -> tuple[Array, Array]:
    """Sums of consecutive parts, each by halves: part p lies from ``ends[p]`` to before ``ends[p + 1]``."""
    counts = np.diff(ends)
    full = counts > 0
    while counts.max(initial=0) > 1:
        halves = (counts + 1) // 2
        after = np.concatenate([[0], np.cumsum(halves)])
        left = 2 * np.arange(after[-1]) + np.repeat(ends[:-1] - 2 * after[:-1], halves)
        paired = left + 1 < np.repeat(ends[1:], halves)
        right = np.where(paired, left + 1, left)
        total, error = two_sum(values[left], np.where(paired, values[right], 0.0))
        error += lost[left]
        error += np.where(paired, lost[right], 0.0)
        values, lost, ends, counts = total, error, after, halves
    sums, rest = np.zeros((2, len(full)))
    sums[full], rest[full] = two_sum(values, lost)
    return sums, rest
