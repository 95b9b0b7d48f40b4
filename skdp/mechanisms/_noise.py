"""The only random number generator of the library.

Unseeded, every draw asks the operating system's cryptographic generator (`os.urandom`) for fresh bytes. There is no
buffer and no state, so two fits, threads, forked or pickled processes cannot repeat each other's noise. Seeded, the
bytes come from a counter-based generator (Philox) and the receipt says that the seed was fixed.

Every law below is a vectorised function of those bytes, so that both sources run the same code. Samples are doubles:
the real-number theorems are idealised here, as `docs/threat_model.md` says (Mironov 2012).
"""

from __future__ import annotations

import math
import os
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import ndtri

__all__ = ["Noise", "Silence"]

Array = np.ndarray[Any, Any]
_DROPPED = np.uint64(12)
_EXPONENT_OF_ONE = np.uint64(0x3FF0000000000000)
_WORDS = 1 << 16
_BEYOND = 2.0**40  # more records than any table holds: sums of gaps stay integers
_RARELY = 2.0**-30  # rate below which a gap, at most 53 log(2) / rate, could pass that
_MANY, _OFTEN = 1024, 2.0**-10  # gaps, and rates, from which on a table of 16-bit words saves work


class Noise:
    """Draws for the mechanisms.

    Parameters
    ----------
    seed : int or None
        None: operating-system entropy, never reproducible. An integer: reproducible, for tests and debugging.
    """

    def __init__(self, seed: int | None = None) -> None:
        self._stream = None if seed is None else np.random.Generator(np.random.Philox(seed))

    @property
    def seeded(self) -> bool:
        """Whether someone who knows the seed can subtract the noise."""
        return self._stream is not None

    def __reduce__(self) -> Any:
        raise TypeError("a noise source is made anew for each fit and is never copied or pickled.")

    def _words(self, count: int) -> Array:
        return np.frombuffer(self._bytes(8 * count), dtype=np.uint64)

    def _bytes(self, count: int) -> bytes:
        return os.urandom(count) if self._stream is None else self._stream.bytes(count)

    def uniform(self, shape: int | tuple[int, ...] = ()) -> Array:
        """Uniform on the open interval (0, 1): odd multiples of 2^-53, so neither end can occur."""
        count = math.prod(shape) if isinstance(shape, tuple) else shape
        # 52 random bits under the exponent of [1, 2), less the largest double below 1: exact in every bit.
        halves = (self._words(count) >> _DROPPED) | _EXPONENT_OF_ONE
        open_interval = halves.view(np.float64)
        open_interval -= 1.0 - 2.0**-53
        return open_interval.reshape(shape)

    def normal(self, shape: int | tuple[int, ...] = ()) -> Array:
        """Standard normal by inversion."""
        return ndtri(self.uniform(shape))

    def exponential(self, shape: int | tuple[int, ...] = ()) -> Array:
        """Standard exponential by inversion."""
        return -np.log(self.uniform(shape))

    def laplace(self, shape: int | tuple[int, ...] = ()) -> Array:
        """Standard Laplace: the difference of two exponentials."""
        return self.exponential(shape) - self.exponential(shape)

    def gumbel(self, shape: int | tuple[int, ...] = ()) -> Array:
        """Standard Gumbel: minus the logarithm of an exponential."""
        return -np.log(self.exponential(shape))

    def radial(self, shape: int | tuple[int, ...]) -> Array:
        """Density proportional to exp(-|z|): a Gamma(d) radius times a uniform direction (not coordinate Laplace)."""
        direction = self.normal(shape)
        radius = self.exponential(direction.size).sum()
        return direction * (radius / np.linalg.norm(direction))

    def poisson_batch(self, n: int, rate: float) -> Array:
        """Each of n records independently with probability `rate`, in increasing order, in O(n * rate).

        The gaps between chosen records are geometric, so the records left out cost nothing.
        """
        if rate >= 1.0:
            return np.arange(n)
        parts: list[Array] = []
        last = -1
        block = int(n * rate + 4.0 * math.sqrt(n * rate)) + 8
        while last < n and n > 0 and rate > 0.0:
            positions = self._gaps(block, rate)
            positions[0] += last
            np.add.accumulate(positions, out=positions)
            parts.append(positions[: positions.searchsorted(n)])
            last = int(positions[-1])
        if len(parts) == 1:
            return parts[0]
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.intp)

    def _gaps(self, count: int, rate: float) -> Array:
        """Independent geometric gaps ceil(log U / log(1 - rate)), at least 1.

        For many gaps U is drawn in two steps: its first 16 bits, which settle nearly all gaps by a table, and the
        rest where they do not. Random bits are dearer than all else here.
        """
        if count < _MANY or rate < _OFTEN:
            return _gaps_at(self.uniform(count), rate)
        words = np.frombuffer(self._bytes(2 * count), dtype=np.uint16)
        gaps = _gaps_by_word(rate).take(words).astype(np.intp)
        unsettled = np.flatnonzero(gaps == 0)
        whole = (words.take(unsettled) + self.uniform(len(unsettled))) / _WORDS
        # Rounding may have made a 1 of what lies just below it.
        gaps[unsettled] = np.maximum(_gaps_at(whole, rate), 1)
        return gaps

    def subset(self, n: int, size: int) -> Array:
        """A uniformly random subset of `size` out of n records, in increasing order, in O(size log size)."""
        if not 0 <= size <= n:
            raise ValueError(f"size={size} must lie between 0 and n={n}.")
        if 2 * size > n:
            kept = np.ones(n, dtype=bool)
            kept[self.subset(n, n - size)] = False
            return np.flatnonzero(kept)
        # Drawing until `size` distinct ones have come keeps only their first occurrences: uniform over subsets.
        drawn = self._integers(n, size)
        while np.unique(drawn).size < size:
            drawn = np.concatenate([drawn, self._integers(n, size)])
        first = np.sort(np.unique(drawn, return_index=True)[1])[:size]
        return np.sort(drawn[first])

    def permutation(self, n: int) -> Array:
        """A uniformly random order of n records (ties of 64-bit keys have probability below n^2 / 2^65)."""
        return np.argsort(self._words(n), kind="stable")

    def _integers(self, n: int, count: int) -> Array:
        return np.minimum((self.uniform(count) * n).astype(np.intp), n - 1)


def _gaps_at(uniform: Array, rate: float) -> Array:
    """Geometric gaps from uniforms below 1, written over them."""
    np.log(uniform, out=uniform)
    uniform /= math.log1p(-rate)
    np.ceil(uniform, out=uniform)
    if rate < _RARELY:
        np.minimum(uniform, _BEYOND, out=uniform)
    return uniform.astype(np.intp)


@lru_cache(maxsize=8)
def _gaps_by_word(rate: float) -> Array:
    """The gap of all uniforms that begin with a 16-bit word, 0 where they differ."""
    words = np.arange(float(_WORDS))
    least = _gaps_at((words + (1.0 - 2.0**-37)) / _WORDS, rate)
    most = _gaps_at((words + 2.0**-37) / _WORDS, rate)
    table = np.where(least == most, least, 0)
    table[0] = 0  # whose logarithms have no end
    # At rates from _OFTEN on, settled gaps are below 16 log(2) / _OFTEN.
    table = table.astype(np.uint16)
    table.setflags(write=False)
    return table


class Silence(Noise):
    """No noise at all, for the rehearsal on a blank vault: it never sees a record."""

    def _bytes(self, count: int) -> bytes:
        return bytes(count)

    def uniform(self, shape: int | tuple[int, ...] = ()) -> Array:
        """The middle of the interval."""
        return np.full(shape, 0.5)

    def normal(self, shape: int | tuple[int, ...] = ()) -> Array:
        """Zero."""
        return np.zeros(shape)

    def exponential(self, shape: int | tuple[int, ...] = ()) -> Array:
        """One, the mean, so that no logarithm or ratio of it is undefined."""
        return np.ones(shape)

    def radial(self, shape: int | tuple[int, ...]) -> Array:
        """Zero."""
        return np.zeros(shape)

    def permutation(self, n: int) -> Array:
        """The given order."""
        return np.arange(n)
