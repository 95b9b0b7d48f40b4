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
from typing import Any

import numpy as np
from scipy.special import ndtri

__all__ = ["Noise", "Silence"]

Array = np.ndarray[Any, Any]
_DROPPED = np.uint64(12)
_EXPONENT_OF_ONE = np.uint64(0x3FF0000000000000)


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
        data = os.urandom(8 * count) if self._stream is None else self._stream.bytes(8 * count)
        return np.frombuffer(data, dtype=np.uint64)

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
        last = -1.0
        block = int(n * rate + 4.0 * math.sqrt(n * rate)) + 8
        while last < n and n > 0 and rate > 0.0:
            positions = np.log(self.uniform(block))
            positions /= math.log1p(-rate)
            np.ceil(positions, out=positions)
            positions[0] += last
            np.add.accumulate(positions, out=positions)
            parts.append(positions[: positions.searchsorted(n)].astype(np.intp))
            last = float(positions[-1])
        if len(parts) == 1:
            return parts[0]
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.intp)

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


class Silence(Noise):
    """No noise at all, for the rehearsal on a blank vault: it never sees a record."""

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
