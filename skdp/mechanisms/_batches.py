"""Random batches and orders whose law is exact (docs/proofs/exact_noise.md).

The gaps between chosen records are geometric, `ceil(log U / log(1 - rate))`, so the records left out cost nothing. The
quotient is made in doubles; where that is too near an integer, more bits of the same U decide in long arithmetic.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Decimal
from functools import lru_cache
from typing import Any

import numpy as np

from ._strips import Bits, big, long_arithmetic

__all__ = ["integers", "permutation", "poisson_batch", "subset"]

Array = np.ndarray[Any, Any]

_WORDS = 1 << 16
_BEYOND = 2.0**50  # more records than any table holds: sums of gaps stay integers
_MANY, _OFTEN = 1024, 2.0**-10  # gaps, and rates, from which on a table of 16-bit words saves work
_SHORT = 20.0 * math.log(
    2.0
)  # minus the logarithm of a uniform, up to which its double is near enough
_UNSETTLED = 0


def poisson_batch(n: int, rate: float, source: Bits) -> Array:
    """Draw each of n records independently with probability `rate`, in increasing order, in O(n * rate)."""
    if rate >= 1.0:
        return np.arange(n)
    parts: list[Array] = []
    last = -1
    block = int(n * rate + 4.0 * math.sqrt(n * rate)) + 8
    while last < n and n > 0 and rate > 0.0:
        positions = gaps(block, rate, source)
        positions[0] += last
        np.add.accumulate(positions, out=positions)
        parts.append(positions[: positions.searchsorted(n)])
        last = int(positions[-1])
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.intp)


def gaps(count: int, rate: float, source: Bits) -> Array:
    """Independent geometric gaps, at least 1.

    For many gaps U is drawn in two steps: its first 16 bits, which settle nearly all gaps by a table, and the rest
    where they do not. Random bits cost more than all else here.
    """
    if count < _MANY or rate < _OFTEN:
        words = np.frombuffer(source.bytes(8 * count), dtype=np.uint64)
        return _gaps_of(words, rate, source)
    first = np.frombuffer(source.bytes(2 * count), dtype=np.uint16)
    drawn = _gaps_by_word(rate).take(first).astype(np.intp)
    open_ = np.flatnonzero(drawn == _UNSETTLED)
    rest = np.frombuffer(source.bytes(8 * len(open_)), dtype=np.uint64) >> np.uint64(16)
    words = (first.take(open_).astype(np.uint64) << np.uint64(48)) | rest
    drawn[open_] = _gaps_of(words, rate, source)
    return drawn


def _gaps_of(words: Array, rate: float, source: Bits) -> Array:
    """Gaps of the uniforms that begin with these 64-bit words."""
    # Beyond 1e300 all gaps are too near to tell, and are drawn exactly.
    per_unit = 1.0 / max(-math.log1p(-rate), 1e-300)
    quotient = words.astype(np.float64)
    quotient += 0.5
    quotient *= 2.0**-64
    np.log(quotient, out=quotient)
    quotient *= -per_unit
    drawn = np.ceil(quotient)
    longest = float(quotient.max(initial=0.0))
    # Above 2^-20 a uniform is known to 2^-44 of it, and a logarithm in doubles errs by less than 2^-45 of it.
    near = np.abs(quotient - np.rint(quotient)) <= (longest + per_unit) * 2.0**-42
    if longest > _SHORT * per_unit:
        near |= quotient > _SHORT * per_unit
    gaps = np.minimum(drawn, _BEYOND).astype(np.intp)
    for k in near.nonzero()[0].tolist():
        gaps[k] = _gap_exactly(int(words[k]), rate, source)
    return gaps


def _gap_exactly(word: int, rate: float, source: Bits) -> int:
    """Compute one gap in long arithmetic, drawing more bits of its uniform until it is known."""
    bits, zeros = 64, int(-math.log10(rate))
    while True:
        word, bits = (word << 64) | big(source, 64), bits + 64
        with long_arithmetic(60 + bits + zeros):
            unit, slack = Decimal(2) ** bits, Decimal(1).scaleb(-30 - bits)
            per_unit = -(1 - Decimal(rate)).ln()
            least, most = (-(Decimal(max(word + k, 1)) / unit).ln() / per_unit for k in (1, 0))
            low, high = (
                value.to_integral_value(rounding=ROUND_CEILING)
                for value in (least * (1 - slack), most * (1 + slack))
            )
            if word and low == high and least > 0:
                return int(min(low, Decimal(_BEYOND)))
            if word + 1 == 1 << bits and most < 1:
                return 1


@lru_cache(maxsize=8)
def _gaps_by_word(rate: float) -> Array:
    """The gap of all uniforms that begin with a 16-bit word, 0 where they differ or come too near."""
    ends = np.log(np.arange(_WORDS + 1.0).clip(2.0**-40) / _WORDS) / math.log1p(-rate)
    # One more or less by rounding at either end: then the table leaves it open.
    low = np.ceil(ends[1:] * (1.0 - 2.0**-42) - 2.0**-60)
    high = np.ceil(ends[:-1] * (1.0 + 2.0**-42))
    low[-1] = 1.0  # U itself lies below 1
    # At rates from _OFTEN on, settled gaps are below 16 log(2) / _OFTEN.
    table = np.where(low == high, low, _UNSETTLED).astype(np.uint16)
    table[0] = _UNSETTLED  # whose logarithms have no end
    table.setflags(write=False)
    return table


def subset(n: int, size: int, source: Bits) -> Array:
    """A uniformly random subset of `size` out of n records, in increasing order, in O(size log size)."""
    if not 0 <= size <= n:
        raise ValueError(f"size={size} must lie between 0 and n={n}.")
    if 2 * size > n:
        kept = np.ones(n, dtype=bool)
        kept[subset(n, n - size, source)] = False
        return np.flatnonzero(kept)
    # Drawing until `size` distinct ones have come keeps only their first occurrences: uniform over subsets.
    drawn = integers(n, size, source)
    while np.unique(drawn).size < size:
        drawn = np.concatenate([drawn, integers(n, size, source)])
    first = np.sort(np.unique(drawn, return_index=True)[1])[:size]
    return np.sort(drawn[first])


def integers(n: int, count: int, source: Bits) -> Array:
    """Independent uniform integers below n < 2^32: the high half of a 32-bit word times n, unbiased by rejection."""
    out = np.empty(count, dtype=np.intp)
    open_ = np.arange(count)
    while open_.size:
        words = np.frombuffer(source.bytes(4 * open_.size), dtype=np.uint32)
        product = words.astype(np.uint64) * np.uint64(n)
        fair = (product & np.uint64(0xFFFFFFFF)) >= np.uint64((1 << 32) % n)
        out[open_[fair]] = (product[fair] >> np.uint64(32)).astype(np.intp)
        open_ = open_[~fair]
    return out


def permutation(n: int, source: Bits) -> Array:
    """A uniformly random order of n records: that of 64-bit keys, all drawn anew where two are equal."""
    while True:
        keys = np.frombuffer(source.bytes(8 * n), dtype=np.uint64)
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        if not (ordered[1:] == ordered[:-1]).any():
            return order
