"""Exact standard normal deviates by integer comparisons: no transcendental function, no truncated tail.

Rejection from strips under the half-normal density. A deviate lies in strip i, `[i w, (i + 1) w)` with w = 1/128, with
probability proportional to `h_i = exp(-(i w)^2 / 2)`, uniformly in it, and is kept with probability `exp(-t)`,
`t = (x^2 - (i w)^2) / 2`: what is kept has density proportional to `exp(-x^2 / 2)`. Every comparison is between
integers, or in doubles with a margin that is proved, and where the bits drawn so far leave it open more bits are drawn.
So the law is the normal law exactly, given uniform bits (docs/proofs/exact_noise.md).

Long arithmetic: integers, and decimals with settings of our own, which a program cannot change.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from decimal import (
    MAX_EMAX,
    MIN_EMIN,
    ROUND_HALF_EVEN,
    Context,
    DivisionByZero,
    InvalidOperation,
    Overflow,
    localcontext,
)
from functools import lru_cache
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

__all__ = ["Bits", "Deviate", "deviate", "exp_minus", "lattice_normals", "long_arithmetic"]


def long_arithmetic(digits: int) -> Any:
    """A context of that many digits, whose exponents have no end that is ever met."""
    return localcontext(
        Context(
            prec=digits,
            rounding=ROUND_HALF_EVEN,
            Emin=MIN_EMIN,
            Emax=MAX_EMAX,
            capitals=1,
            clamp=0,
            flags=[],
            traps=[InvalidOperation, DivisionByZero, Overflow],
        )
    )


def exp_minus(t: int, bits: int) -> tuple[int, int]:
    """Integers around 2^bits exp(-t 2^-bits), t 2^-bits at most 1: each term of the series errs by less than one."""
    total = term = 1 << bits
    k = 0
    while term:
        k += 1
        term = (term * t >> bits) // k
        total += -term if k & 1 else term
    return total - 2 * k - 2, total + 2 * k + 2


Array = np.ndarray[Any, Any]

WIDTH = 7  # strips have width 2^-7
PLACE = 47  # bits of the place inside a strip that a first word gives
FINEST = PLACE + WIDTH - 1  # 2^-53: the finest lattice that those bits can be rounded to
FIRST = 128  # bits of the thresholds that nearly all draws are settled by
SLOT = 16  # leading bits that tell the strip of 99.3 % of draws
_GUARD = 64  # bits beyond, while thresholds are made
_FEW = 6  # draws up to which Python integers are quicker than arrays
_MARGIN = 2.0**-40  # of the comparison in doubles, whose error stays below 2^-48

_U64, _I64 = np.uint64, np.int64
_PLACES = _U64((1 << PLACE) - 1)


class Bits(Protocol):
    """Source of fresh random bytes."""

    def bytes(self, count: int) -> bytes:
        """Return that many independent uniform bytes."""


def big(source: Bits, bits: int) -> int:
    """A uniform integer of that many bits."""
    return int.from_bytes(source.bytes(bits // 8), "little")


@lru_cache(maxsize=16)
def thresholds(bits: int) -> tuple[int, ...]:
    """floor(2^bits F_i) to within one unit, F_i the probability of all strips before the i-th.

    `h_(i+1) = h_i q^(2i+1)` with `q = exp(-w^2 / 2)` by its series, all truncated in fixed point: errors add up to less
    than 2^40 units of the last of 64 guard bits. Strips beyond the last one have less than 2^-(bits + 40) together.
    """
    one = 1 << (bits + _GUARD)
    q, term, k = one, one, 0
    while term:  # exp(-2^-15)
        k += 1
        term = (term >> (2 * WIDTH + 1)) // k
        q += -term if k & 1 else term
    step, squared = q, (q * q) >> (bits + _GUARD)
    heights, height = [], one
    while height >> (_GUARD - 48):
        heights.append(height)
        height = (height * step) >> (bits + _GUARD)
        step = (step * squared) >> (bits + _GUARD)
    total, running, table = sum(heights), 0, []
    for height in heights:
        table.append((running << bits) // total)
        running += height
    return (*table, 1 << bits)


@dataclass(frozen=True)
class _Tables:
    """Tables that the first words are compared with.

    Parameters
    ----------
    base : ndarray of 2^16 int64
        Where the strip of a slot begins, in units of 2^-54.
    limit : ndarray of 2^16 uint16
        Coins below it accept, whatever the place in the strip; 0 where the slot does not tell the strip.
    least, below : ndarray of uint64
        A word w tells strip i if `least[i] <= w < below[i]`.
    """

    base: Array
    limit: Array
    least: Array
    below: Array


@lru_cache(maxsize=1)
def tables() -> _Tables:
    """The tables of the first 16 and of the first 64 bits, from thresholds of 128 bits that err by one unit."""
    table = thresholds(FIRST)
    base = np.zeros(1 << SLOT, dtype=_I64)
    limit = np.zeros(1 << SLOT, dtype=np.uint16)
    least, below = [], []
    for i, (low, high) in enumerate(pairwise(table)):
        first = _ceil(low + 2 if i else 0, FIRST - SLOT)
        last = (high - 1) >> (FIRST - SLOT)
        if last > first:
            base[first:last] = i << PLACE
            # exp(-t) >= 1 - t >= 1 - (2i + 1) w^2 / 2 anywhere in the strip.
            limit[first:last] = (1 << SLOT) - 2 * (2 * i + 1)
        edge = _ceil(low + 2 if i else 0, FIRST - 64)
        if edge < 1 << 64:
            least.append(edge)
            below.append((high - 1) >> (FIRST - 64))
    for array in (base, limit):
        array.setflags(write=False)
    return _Tables(base, limit, np.array(least, dtype=_U64), np.array(below, dtype=_U64))


def _ceil(number: int, bits: int) -> int:
    return -(-number >> bits)


def lattice_normals(count: int, bits: int, source: Bits) -> Array:
    """`count` independent deviates times 2^bits, rounded to the nearest integer, 0 <= bits <= 53."""
    known = tables()
    raw = source.bytes(10 * count)
    word = np.frombuffer(raw, dtype=_U64, count=count)
    coin = np.frombuffer(raw, dtype=np.uint16, offset=8 * count)
    slot = (word >> _U64(48)).view(_I64)
    size = (word & _PLACES).view(_I64)
    size += known.base.take(slot)
    out = _rounded(size, word >> _U64(PLACE), bits)
    open_ = (coin >= known.limit.take(slot)).nonzero()[0]
    if open_.size:
        _settle(out, open_, word, coin, bits, source)
    return out


def _rounded(size: Array, sign: Array, bits: int) -> Array:
    """Nearest multiples of 2^-bits, with a sign bit, written over the sizes in units of 2^-54.

    The bits of a size that were never drawn are not all zero, almost surely, so that a half goes up, rightly.
    """
    drop = _I64(FINEST + 1 - bits)
    size += _I64(1) << (drop - _I64(1))
    size >>= drop
    flip = (sign << _U64(63)).view(_I64)
    flip >>= _I64(63)
    size ^= flip
    size -= flip
    return size


def _settle(out: Array, open_: Array, word: Array, coin: Array, bits: int, source: Bits) -> None:
    """Finish the draws that the first ten bytes left open."""
    if len(open_) > _FEW:
        open_ = _settle_many(out, open_, word.take(open_), coin.take(open_), bits, source)
    for k in open_.tolist():
        out[k] = _deviate(int(word[k]), int(coin[k]), source).rounded(bits)


def _settle_many(
    out: Array, open_: Array, word: Array, coin: Array, bits: int, source: Bits
) -> Array:
    """Finish many draws at once; return those that need a longer comparison of strips, all their bits unused."""
    known = tables()
    slot = (word >> _U64(48)).view(_I64)
    told = known.limit.take(slot) > 0
    strip = known.base.take(slot) >> _I64(PLACE)
    place, sign, first = word & _PLACES, word >> _U64(PLACE), coin.astype(_U64)
    hidden = (~told).nonzero()[0]
    strip[hidden] = at = known.least.searchsorted(word[hidden], side="right") - 1
    longer = np.zeros(len(word), dtype=bool)
    longer[hidden] = word[hidden] >= known.below.take(at)
    fresh = np.frombuffer(source.bytes(8 * hidden.size), dtype=_U64)
    place[hidden], sign[hidden] = fresh & _PLACES, fresh >> _U64(PLACE)
    first[hidden] = fresh >> _U64(48)
    words = np.frombuffer(source.bytes(8 * len(word)), dtype=_U64)
    second = (first << _U64(48)) | (words >> _U64(16))
    kept, doubtful = _accepted(strip, place, second)
    for k in (doubtful & ~longer).nonzero()[0].tolist():
        kept[k] = _accept_exactly(
            Deviate(False, int(strip[k]), int(place[k]), PLACE), int(second[k]), source
        )
    kept &= ~longer
    size = (strip << _I64(PLACE)) | place.view(_I64)
    out[open_[kept]] = _rounded(size[kept], sign[kept], bits)
    again = open_[~kept & ~longer]
    if again.size:
        out[again] = lattice_normals(again.size, bits, source)
    return open_[longer]


def _accepted(strip: Array, place: Array, coin: Array) -> tuple[Array, Array]:
    """Return masks of U < exp(-t), and of what is too near to tell in doubles; U given by its first 64 bits."""
    part = place.astype(np.float64) * 2.0**-PLACE
    reject = _one_minus_exp(part * (strip + 0.5 * part) * 4.0**-WIDTH)
    beyond = (~coin).astype(np.float64) * 2.0**-64 - reject  # 1 - U - (1 - exp(-t))
    return beyond > _MARGIN, np.abs(beyond) <= _MARGIN


def _one_minus_exp(t: Any) -> Any:
    """1 - exp(-t) for 0 <= t <= 0.2 by sums and products alone: eleven terms leave less than 2^-49."""
    total: Any = 0.0
    for k in range(11, 0, -1):
        total = t / k * (1.0 - total)
    return total


@dataclass
class Deviate:
    """A standard normal whose bits come as they are needed.

    Parameters
    ----------
    negative : bool
        Its sign.
    strip : int
        Its strip.
    place : int
        The first bits of its place in the strip; all further ones are uniform.
    bits : int
        How many they are.
    """

    negative: bool
    strip: int
    place: int
    bits: int

    def refine(self, source: Bits, bits: int) -> None:
        """Draw further bits."""
        self.place, self.bits = (self.place << bits) | big(source, bits), self.bits + bits

    def size(self) -> tuple[int, int]:
        """(m, k): the absolute value lies in [m, m + 1] times 2^-k."""
        return (self.strip << self.bits) | self.place, self.bits + WIDTH

    def rounded(self, bits: int) -> int:
        """The nearest integer to 2^bits times it."""
        size, scale = self.size()
        size = (size + (1 << (scale - bits - 1))) >> (scale - bits)
        return -size if self.negative else size


def deviate(source: Bits) -> Deviate:
    """Draw an exact standard normal deviate, to be refined at will."""
    return _deviate(big(source, 64), big(source, 16), source)


def _deviate(word: int, coin: int, source: Bits) -> Deviate:
    """Draw a deviate from its first word and coin on."""
    known = tables()
    while True:
        slot = word >> 48
        if known.limit[slot]:
            drawn = Deviate(
                bool(word >> PLACE & 1),
                int(known.base[slot]) >> PLACE,
                word & ((1 << PLACE) - 1),
                PLACE,
            )
            if coin < known.limit[slot]:
                return drawn
        else:
            fresh = big(source, 64)
            drawn = Deviate(
                bool(fresh >> PLACE & 1),
                _strip(word, source),
                fresh & ((1 << PLACE) - 1),
                PLACE,
            )
            coin = fresh >> 48
        if _accept(drawn, (coin << 48) | big(source, 48), source):
            return drawn
        word, coin = big(source, 64), big(source, 16)


def _strip(word: int, source: Bits) -> int:
    """The strip that a uniform number falls into, of which 64 bits are known and more are drawn until they tell."""
    bits = 64
    while True:
        word, bits = (word << 64) | big(source, 64), bits + 64
        table = thresholds(bits)
        i = bisect_right(table, word) - 1
        clear_below = i == 0 or table[i] + 2 <= word
        # Beyond the last strip of this table there are more, of a longer one.
        if clear_below and i + 2 < len(table) and word + 1 <= table[i + 1] - 1:
            return i


def _accept(drawn: Deviate, coin: int, source: Bits) -> bool:
    """Return whether U < exp(-t), in doubles unless they are too near to tell."""
    part = drawn.place * 2.0**-PLACE
    reject = _one_minus_exp(part * (drawn.strip + 0.5 * part) * 4.0**-WIDTH)
    beyond = ((1 << 64) - 1 - coin) * 2.0**-64 - reject
    if drawn.strip < 1 << 11 and abs(beyond) > _MARGIN:
        return bool(beyond > 0)
    return _accept_exactly(drawn, coin, source)


def _accept_exactly(drawn: Deviate, coin: int, source: Bits) -> bool:
    """Decide U < exp(-t) in integers: intervals of both sides gain 64 bits until they part."""
    bits = 64
    while True:
        shared = max(drawn.bits, bits) + 64
        low, high = (m << (shared - drawn.bits) for m in (drawn.place, drawn.place + 1))
        across = shared + 1 + 2 * WIDTH
        nearest = low * ((drawn.strip << (shared + 1)) + low) >> across
        furthest = (high * ((drawn.strip << (shared + 1)) + high) >> across) + 1
        below = exp_minus(furthest, shared)[0]
        above = exp_minus(nearest, shared)[1]
        if (coin + 1) << (shared - bits) <= below:
            return True
        if coin << (shared - bits) >= above:
            return False
        coin, bits = (coin << 64) | big(source, 64), bits + 64
        drawn.refine(source, 64)
