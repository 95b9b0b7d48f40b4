"""The profile of an epoch of random allocation where one record replaces another.

It is the mean of the positive part of W_1 + ... + W_T over T, with W = Y - e^t Y', where Y rises and Y' falls with one
normal number (docs/proofs/random_allocation.md). For each epsilon t that is a sum of T independent terms: all but the
largest are divided between grid points that keep their means and added by one tilted Fourier transform, a single large
one is added in closed form, and two large ones count as telling the record for certain.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.fft import next_fast_len
from scipy.special import ndtr, ndtri

from ._allocation import Grid, Rough, Terms, cumulant, divided, law_of_sum
from ._pld_tilted import add_up

__all__ = ["replaced_delta"]

Array = NDArray[np.float64]

_SHARE = 1e-6  # of delta, that what is cut or raised may add
_MOST = 2**19  # cells of a single term
_RANGE = 500.0  # sd of the bulk that a single term has at least, times the root of T
_BESIDE = 4000  # cells of a sum beside a large term
_LONGEST, _SPAN = 2**20, 30.0  # cells of a sum, and its length in sd
_RATES = np.geomspace(1e-2, 1e2, 61)
_LARGE = 1e3
_BULK = np.linspace(-2.0, 2.0, 61)
_WRAPPED = 1e-12  # of a law, that comes round to the other end of its window


class _Term:
    """One W, as a function of its normal number u."""

    def __init__(self, s: float, loss: float) -> None:
        self.s, self.a = s, math.exp(loss)
        self.against = self.a * math.exp(-s * s)

    def at(self, u: Array) -> Array:
        """W."""
        y = np.exp(self.s * u - self.s**2 / 2)
        return np.asarray(y - self.against / y)

    def ratio(self, w: Array) -> Array:
        """Y where W has these values."""
        root = np.sqrt(w * w + 4.0 * self.against)
        far = np.abs(w) + root
        return np.asarray(np.where(w > 0, far / 2, 2.0 * self.against / far))

    def number(self, y: Array) -> Array:
        """The normal number where Y has these values."""
        return np.asarray(np.log(y) / self.s + self.s / 2)

    def beyond(self, z: Array, u: float) -> Array:
        """Mean of the positive part of z + W over all W beyond a number, rounded up."""
        start = np.maximum(self.number(self.ratio(-z)), u)
        gain = ndtr(self.s - start) + np.maximum(z, 0.0) * ndtr(-start)
        cost = self.a * ndtr(-self.s - start) + np.maximum(-z, 0.0) * ndtr(-start)
        return np.asarray(np.maximum(gain - cost, 0.0) + 1e-13 * (gain + cost))


def replaced_delta(
    multiplier: float, batches: int, loss: float, least: float, cell: float
) -> float:
    """Delta of an epoch under replace-one, never below the truth.

    Parameters
    ----------
    multiplier : float
        Standard deviation of the noise over the bound of one record's contribution.
    batches : int
        Batches of the epoch, T.
    loss : float
        Epsilon, 0 or more.
    least : float
        About what removing a record costs there: what may be cut is in proportion.
    cell : float
        Of the grid, in sd of the bulk of a term.
    """
    s = 1.0 / multiplier
    term = _Term(s, loss)
    top = _largest(s, batches, least)
    floor = float(ndtri(_SHARE / batches))
    bulk, wide = float(term.at(_BULK).std()), math.sqrt(batches)
    high = max(float(term.at(np.array([top]))[0]), bulk)
    lowest, low = term.at(np.array([floor, -3.0])).tolist()
    # Lower terms are raised: hardly any sum recovers from them.
    low = max(lowest, 2.0 * min(low, -high))
    step = cell * min(bulk, (high - low) * wide / _RANGE)
    step = max(step, (high - low) / _MOST, _SPAN * wide * bulk / _LONGEST)
    first, last = math.ceil(low / step), math.ceil(high / step)
    y = term.ratio(np.arange(first, last + 1) * step)
    u = term.number(y)
    masses = divided(y, u, np.full(last - first, step), s, term.against)
    masses[0] += ndtr(u[0]) * (1 + 1e-13)
    small = Grid(first, masses, step)

    large = float(u[-1])
    q, p = float(ndtr(-large)), float(ndtr(s - large))
    two = (batches - 1) * q * (p + batches * q / 2)
    alone = _positive_part(small, batches, least)
    beside = _beside(small, batches - 1, term, large, least)
    return min((alone + beside) * (1 + 1e-9) + two, 1.0)


def _largest(s: float, batches: int, least: float) -> float:
    """The number beyond which a term is large: two of them are rarer than what may be cut."""
    u = np.linspace(0.0, s + 40.0, 4001)
    q, p = ndtr(-u), ndtr(s - u)
    two = (batches - 1) * q * (p + batches * q / 2)
    return float(u[np.argmax(two <= _SHARE * least)])


def _upper(rough: Rough, tilts: Array, log_share: float) -> tuple[float, float]:
    """A grid point beyond which there is next to nothing, and the tilt that shows it."""
    ends = (rough.cumulants(tilts) - log_share) / tilts
    best = int(ends.argmin())
    return float(ends[best]), float(tilts[best])


def _far(small: Grid, count: int, tilt: float, end: float) -> tuple[float, float]:
    """Probability that a sum exceeds a grid point, and its mean there, at most."""
    most = math.exp(min(count * cumulant(small, small.index, tilt)[1] - tilt * end, 300.0))
    peak = end if tilt * end >= 1 else math.exp(tilt * end - 1) / tilt
    return most, most * peak * small.step


def _lower(rough: Rough, tilt: float, tilts: Array, log_share: float) -> float:
    """A grid point below which a tilted sum has next to nothing."""
    here = rough.cumulants(np.array([tilt]))[0]
    return float(((here + log_share - rough.cumulants(tilt - tilts)) / tilts).max())


def _positive_part(small: Grid, batches: int, least: float) -> float:
    """Mean of the positive part of a sum of terms that are not large, over T."""
    rough = Rough(small, batches)
    tilts = _RATES / rough.moments(np.zeros(1))[1][0]
    ladder = np.append(0.0, tilts)
    tilt = float(ladder[rough.cumulants(ladder).argmin()])
    end, rate = _upper(rough, tilts, math.log(_SHARE * least) - 3.0)
    start = math.floor(min(_lower(rough, tilt, tilts, math.log(_WRAPPED)), 0.0))
    size = next_fast_len(max(math.ceil(end), 0) - start + 2, real=True)
    weights, log_norm = cumulant(small, small.index, tilt)
    masses = add_up([Terms(weights, small.first, batches)], start, size)[1 - start :]
    at = np.arange(1, len(masses) + 1, dtype=float)
    log_norm *= batches
    inside = float((masses * at * np.exp(log_norm - tilt * at)).sum()) * small.step
    return (inside + _far(small, batches, rate, float(at[-1]))[1]) / batches


def _beside(small: Grid, count: int, term: _Term, large: float, least: float) -> float:
    """Mean of the positive part of one large term beside so many that are not."""
    rough = Rough(small, count)
    tilts = _RATES / rough.moments(np.zeros(1))[1][0]
    end, rate = _upper(rough, tilts, min(math.log(_SHARE * least / term.a), math.log(_WRAPPED)))
    start = math.floor(_lower(rough, 0.0, tilts, math.log(_WRAPPED)))
    size = next_fast_len(math.ceil(end) - start + 2, real=True)
    chosen = [0.0, rate] if term.a > _LARGE else [0.0]  # then what is above zero is rare
    masses = law_of_sum(small, count, chosen, start, size)
    law = Grid(start, masses, small.step).on(small.step * max(1.0, size / _BESIDE))
    q, p = float(ndtr(-large)), float(ndtr(term.s - large))
    often, mean = _far(small, count, rate, float(start + size - 1))
    return float(law.masses @ term.beyond(law.values, large)) + often * p + mean * q
