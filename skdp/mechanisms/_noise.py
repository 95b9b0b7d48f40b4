"""The only source of noise in the library, and the only place where noise meets what was measured.

Unseeded, every draw asks the operating system's cryptographic generator (`os.urandom`) for fresh bytes. There is no
buffer and no state, so two fits, threads, forked or pickled processes cannot repeat each other's noise. Seeded, the
bytes come from a counter-based generator (Philox) and the receipt says that the seed was fixed. Both run the same code.

A mechanism hands in its exact statistic and gets the private answer, so that nothing else can be done with either. The
laws hold for the doubles that leave, not for real numbers that they stand for: docs/proofs/exact_noise.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from . import _batches, _exact
from ._lattice import Lattice, on_lattice, radial_on_lattice

__all__ = ["Noise", "Silence"]

Array = np.ndarray[Any, Any]


class Noise:
    """Noise for the mechanisms.

    Parameters
    ----------
    seed : int or None
        None: operating-system entropy, never reproducible. An integer: reproducible, for tests and debugging.

    See Also
    --------
    Silence : No noise, for rehearsals.

    Attributes
    ----------
    seeded : bool
        Whether someone who knows the seed can subtract the noise.

    Examples
    --------
    >>> from skdp.mechanisms import Noise
    >>> Noise().seeded, Noise(seed=0).seeded  # the receipt of a fit says which
    (False, True)
    >>> Noise(seed=0).subset(n=10, size=3).tolist() == Noise(seed=0).subset(n=10, size=3).tolist()
    True
    """

    def __init__(self, seed: int | None = None) -> None:
        self._stream = None if seed is None else np.random.Generator(np.random.Philox(seed))
        self.seeded = seed is not None

    def __reduce__(self) -> Any:
        raise TypeError("a noise source is made anew for each fit and is never copied or pickled.")

    def bytes(self, count: int) -> bytes:
        """Fresh uniform bytes."""
        return os.urandom(count) if self._stream is None else self._stream.bytes(count)

    def gaussian(self, statistic: Array, grid: Lattice) -> Array:
        """The statistic plus Gaussian noise, on a public lattice."""
        return on_lattice(statistic, grid, self) if grid.step else statistic

    def radial(self, statistic: Array, grid: Lattice) -> Array:
        """The statistic plus noise of density exp(-|z| / scale), on a public lattice."""
        return radial_on_lattice(statistic, grid, self) if grid.step else statistic

    def linear_term(self, shape: tuple[int, ...], grid: Lattice, pure: bool = False) -> Array:
        """Noise alone, Gaussian or radial: the random linear term of an objective."""
        draw = self.radial if pure else self.gaussian
        return draw(np.zeros(shape), grid)

    def largest(self, scores: Array, scale: float) -> int:
        """Index of the largest ``score + scale * Gumbel``: the exponential mechanism."""
        return _exact.largest(scores, scale, self)

    def first_above(
        self, totals: Iterable[float], demands: Array, own: Array, shared: Array
    ) -> int:
        """Index of the first total that passes, or their number: the sparse vector technique.

        Total k passes where it and ``own[k]`` times a Laplace draw of its own reach ``demands[k]`` and ``shared[k]``
        times the one Laplace draw of the threshold. What is never asked is never computed.
        """
        threshold, *draws = _exact.laplaces(1 + len(demands), self)
        for k, total in enumerate(totals):
            test, against = (float(own[k]), draws[k]), (float(shared[k]), threshold)
            if _exact.passes(total, float(demands[k]), test, against, self):
                return k
        return len(demands)

    def poisson_batch(self, n: int, rate: float) -> Array:
        """Draw each of n records independently with probability `rate`, in increasing order, in O(n * rate)."""
        return _batches.poisson_batch(n, rate, self)

    def subset(self, n: int, size: int) -> Array:
        """A uniformly random subset of `size` out of n records, in increasing order, in O(size log size)."""
        return _batches.subset(n, size, self)

    def allocation(self, n: int, batches: int) -> Array:
        """The batch of each of n records, independent and uniform."""
        return _batches.integers(batches, n, self)

    def permutation(self, n: int) -> Array:
        """A uniformly random order of n records."""
        return _batches.permutation(n, self)


class Silence(Noise):
    """No noise at all, for the rehearsal on a blank vault: it never sees a record.

    See Also
    --------
    Noise : The source that fits use.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.mechanisms import Public, Records, SecondMoment, Silence
    >>> public = Public(n=5, n_features=2, intercept=0.0, neighbors="replace_one")
    >>> SecondMoment(multiplier=1.0).answer(Records.blank(public), Silence())
    array([[0., 0.],
           [0., 0.]])
    """

    def bytes(self, count: int) -> bytes:
        """Zeros."""
        return bytes(count)

    def gaussian(self, statistic: Array, grid: Lattice) -> Array:
        """The statistic itself."""
        return statistic

    def radial(self, statistic: Array, grid: Lattice) -> Array:
        """The statistic itself."""
        return statistic

    def largest(self, scores: Array, scale: float) -> int:
        """The largest score."""
        return int(np.argmax(scores))

    def first_above(
        self, totals: Iterable[float], demands: Array, own: Array, shared: Array
    ) -> int:
        """The first that meets its demand."""
        return next((k for k, (t, d) in enumerate(zip(totals, demands)) if t >= d), len(demands))

    def allocation(self, n: int, batches: int) -> Array:
        """The batches in turn."""
        return np.arange(n) % batches

    def permutation(self, n: int) -> Array:
        """The given order."""
        return np.arange(n)
