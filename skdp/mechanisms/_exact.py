"""Comparisons with Gumbel and Laplace noise that are those of real numbers (docs/proofs/exact_noise.md).

A draw is a function of uniform numbers of which 64 bits are known. In doubles that gives an interval; where the
intervals do not tell, more bits of the *same* uniforms are drawn and the comparison is made in long arithmetic, until
they part.

The best of a random number of runs, of which nothing else leaves (docs/proofs/selection.md).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, getcontext
from itertools import accumulate
from typing import Any, TypeVar

import numpy as np

from ._strips import Bits, big, long_arithmetic

__all__ = ["Laplace", "best_of", "drawn", "exponentials", "laplaces", "largest", "passes"]


Array = np.ndarray[Any, Any]
Interval = tuple[Decimal, Decimal]

_LN = 2.0**-45  # relative error that a logarithm in doubles surely stays within
_SUM = 2.0**-50  # the same for a few sums and products
_FURTHER = 64  # bits drawn at a time
_SPARE = 20  # digits of long arithmetic that may be wrong
_UNBOUNDED = Decimal("Infinity")


@dataclass
class _Uniform:
    """A uniform number in [word, word + 1] times 2^-bits."""

    word: int
    bits: int = 64

    def refine(self, source: Bits) -> None:
        """Draw more bits, until they tell the number from 0."""
        self.word, self.bits = (self.word << _FURTHER) | big(source, _FURTHER), self.bits + _FURTHER
        while not self.word:
            self.word, self.bits = big(source, _FURTHER), self.bits + _FURTHER

    def exponential(self) -> Interval:
        """Minus its logarithm."""
        unit = Decimal(2) ** self.bits
        low, high = (-(Decimal(self.word + k) / unit).ln() for k in (1, 0))
        return _widened(low, high)


def _widened(low: Decimal, high: Decimal) -> Interval:
    """Widen an interval by more than the roundings of a few operations."""
    slack = _slack()
    return low - abs(low) * slack - slack, high + abs(high) * slack + slack


def _slack() -> Decimal:
    return Decimal(1).scaleb(_SPARE - getcontext().prec)


def _long(*bits: int) -> Any:
    """Arithmetic of more digits than the bits that are known."""
    return long_arithmetic(100 + max(bits))


def exponentials(words: Array) -> tuple[Array, Array]:
    """Middle and half-width of minus the logarithms of the uniforms that begin with these 64-bit words."""
    uniform = (words.astype(np.float64) + 0.5) * 2.0**-64
    np.minimum(uniform, 1.0 - 2.0**-53, out=uniform)
    middle = -np.log(uniform)
    # The uniform is known to 2^-64 and its double to 2^-52 of it.
    width = 2.0**-63 / uniform + 2.0**-51 + _LN * middle
    width[words == 0] = np.inf
    return middle, width


def largest(scores: Array, scale: float, source: Bits) -> int:
    """Index of the largest ``score + scale * Gumbel``: the exponential mechanism."""
    if scores.ndim != 1:
        raise ValueError(f"scores of shape {scores.shape} must be one number a candidate.")
    if scale == 0.0:
        return int(np.argmax(scores))
    words = np.frombuffer(source.bytes(8 * len(scores)), dtype=np.uint64)
    middle, width = exponentials(words)
    with np.errstate(all="ignore"):
        low = _noisy(scores, scale, -np.log(middle + width), -1.0)
        high = _noisy(scores, scale, -np.log(np.maximum(middle - width, 0.0)), 1.0)
    able = np.flatnonzero(~(high < low.max()))
    if len(able) == 1:
        return int(able[0])
    return int(able[_largest([float(scores[k]) for k in able], scale, words[able], source)])


def _noisy(scores: Array, scale: float, gumbel: Array, side: float) -> Array:
    """Scores with noise, pushed outwards by all roundings."""
    gumbel = gumbel + side * _LN * (1.0 + np.abs(gumbel))
    total = scores + scale * gumbel
    return np.asarray(total + side * _SUM * (np.abs(scores) + scale * np.abs(gumbel)))


def _largest(scores: list[float], scale: float, words: Array, source: Bits) -> int:
    uniforms = [_Uniform(int(word)) for word in words]
    while True:
        for uniform in uniforms:
            uniform.refine(source)
        with _long(*(uniform.bits for uniform in uniforms)):
            bounds = [_gumbel_plus(s, scale, u) for s, u in zip(scores, uniforms)]
        first = max(range(len(bounds)), key=lambda k: bounds[k][0])
        if all(k == first or high < bounds[first][0] for k, (_, high) in enumerate(bounds)):
            return first


def _gumbel_plus(score: float, scale: float, uniform: _Uniform) -> Interval:
    low, high = uniform.exponential()
    low, high = _widened(-high.ln(), -low.ln() if low > 0 else _UNBOUNDED)
    return Decimal(score) + Decimal(scale) * low, Decimal(score) + Decimal(scale) * high


@dataclass
class Laplace:
    """A standard Laplace draw: the difference of two exponentials.

    Parameters
    ----------
    middle, width : float
        It lies within `width` of `middle`.
    uniforms : pair of uniforms
        Whose logarithms it is made of.
    """

    middle: float
    width: float
    uniforms: tuple[_Uniform, _Uniform]

    def refine(self, source: Bits) -> None:
        """Draw more bits."""
        for uniform in self.uniforms:
            uniform.refine(source)

    def bounds(self) -> Interval:
        """Return an interval that holds the noise, in long arithmetic from all bits that are known."""
        first, second = (uniform.exponential() for uniform in self.uniforms)
        return _widened(first[0] - second[1], first[1] - second[0])

    @property
    def bits(self) -> int:
        """Number of bits that are known."""
        return max(uniform.bits for uniform in self.uniforms)


def laplaces(count: int, source: Bits) -> list[Laplace]:
    """Independent standard Laplace draws."""
    words = np.frombuffer(source.bytes(16 * count), dtype=np.uint64).reshape(2, count)
    middle, width = exponentials(words)
    return [
        Laplace(float(m), float(w), (_Uniform(int(a)), _Uniform(int(b))))
        for m, w, a, b in zip(middle[0] - middle[1], width.sum(axis=0) * 1.001, words[0], words[1])
    ]


def passes(
    total: float,
    demand: float,
    test: tuple[float, Laplace],
    threshold: tuple[float, Laplace],
    source: Bits,
) -> bool:
    """Return whether ``total + scale * noise >= demand + scale' * noise'``, each pair (scale, noise) given as one."""
    (scale, noise), (wide, shared) = test, threshold
    if scale == wide == 0.0:
        return total >= demand
    gap = total - demand + scale * noise.middle - wide * shared.middle
    sizes = abs(total) + abs(demand) + scale * abs(noise.middle) + wide * abs(shared.middle)
    doubt = (scale * noise.width + wide * shared.width + _SUM * sizes) * 1.001
    if abs(gap) > doubt:
        return gap > 0.0
    while True:
        noise.refine(source)
        shared.refine(source)
        with _long(noise.bits, shared.bits):
            own, common = noise.bounds(), shared.bounds()
            fixed = Decimal(total) - Decimal(demand)
            low = fixed + Decimal(scale) * own[0] - Decimal(wide) * common[1]
            high = fixed + Decimal(scale) * own[1] - Decimal(wide) * common[0]
            low, high = _widened(low, high)
            slack = (abs(fixed) + abs(high - low)) * _slack()
        if low > slack or high < -slack:
            return low > 0


Result = TypeVar("Result")


def drawn(odds: Sequence[int], source: Bits) -> int:
    """An index with probability exactly proportional to these whole numbers."""
    total = sum(odds)
    bits = (total.bit_length() + _FURTHER + 7) // 8 * 8
    limit = (1 << bits) // total * total
    word = big(source, bits)
    while word >= limit:  # else the first ones would be likelier
        word = big(source, bits)
    return bisect_right(list(accumulate(odds)), word % total)


def best_of(
    run: Callable[[int], tuple[float, Result]],
    weights: Sequence[int],
    odds: Sequence[int],
    source: Bits,
) -> Result | None:
    """Return what the best of the first K runs released, K drawn by these odds; None if no score is a number.

    All runs that K might allow are made, whatever it is, so that their number tells nothing. K and all settings are
    drawn before the first run. Among equal scores the first wins.

    Parameters
    ----------
    run : callable
        From the index of a setting to a private score, and what is released with it. Runs must not share randomness.
    weights : sequence of int
        How likely each setting is, in proportion.
    odds : sequence of int
        How likely each number of runs is, from 1 on.
    source : Bits
        Where random bits come from.
    """
    count = 1 + drawn(odds, source)
    settings = [drawn(weights, source) for _ in odds]
    best, kept = -math.inf, None
    for number, setting in enumerate(settings):
        score, released = run(setting)
        if number < count and score > best:
            best, kept = score, released
    return kept
