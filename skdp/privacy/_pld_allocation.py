"""Dominating pairs of an epoch of random allocation: removing a record, adding one, and replacing one.

The profile of an epoch of random allocation where one record replaces another.

It is the mean of the positive part of W_1 + ... + W_T over T, with W = Y - e^t Y', where Y rises and Y' falls with one
normal number (docs/proofs/random_allocation.md). For each epsilon t that is a sum of T independent terms: all but the
largest are divided between grid points that keep their means and added by one tilted Fourier transform, a single large
one is added in closed form, and two large ones count as telling the record for certain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.fft import next_fast_len
from scipy.special import ndtr, ndtri

from ._allocation import Grid, Ratios, Rough, Terms, cumulant, divided, law_of_sum, ratios
from ._discrete import Outcomes
from ._gaussian import gaussian_delta
from ._pld_curve_pairs import CurvePair, OutcomesPair
from ._pld_tilted import add_up

__all__ = ["AllocatedPair", "allocated_delta", "of_adding", "of_removing", "replaced_delta"]


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


_UNIT = 4e-15  # relative: covers the rounding of M
_RAREST = 1e-25
_LOOKS = 500
_MOST_NOISE = 1e3  # beyond, two steps are as good
_FAR, _FURTHEST = (
    16.0,
    300.0,
)  # losses that are rarely asked for, and whose exponentials are large doubles
_CELL, _COARSE_CELL = 6e-3, 3e-2
_KNOTS, _FALLS, _FAINT = 64, 256, 1e-15


def _rounding(found: Ratios) -> Array:
    return np.asarray(_UNIT * np.abs(found.above_one) / (1.0 + found.above_one))


@lru_cache(maxsize=8)
def of_removing(multiplier: float, batches: int) -> Outcomes:
    """Losses log M, of mass M times that without the record."""
    found = ratios(multiplier, batches)
    seen = found.above_one > -1.0
    found = Ratios(found.above_one[seen], found.masses[seen], found.lost_with, 0.0)
    losses = np.log1p(found.above_one) + _rounding(found)
    masses = found.masses * (1.0 + found.above_one) * (1.0 + _UNIT)
    return Outcomes(losses, masses, found.lost_with)


@lru_cache(maxsize=8)
def of_adding(multiplier: float, batches: int) -> Outcomes:
    """Losses -log M, of the mass without the record; M = 0 tells that it is not there."""
    found = ratios(multiplier, batches)
    seen = found.above_one > -1.0
    never = found.lost_without + float(found.masses[~seen].sum())
    found = Ratios(found.above_one[seen][::-1], found.masses[seen][::-1], 0.0, never)
    return Outcomes(-np.log1p(found.above_one) + _rounding(found), found.masses, never)


def allocated_delta(multiplier: float, batches: int, epsilon: float, neighbors: str) -> float:
    """Delta of one epoch at any real epsilon, never below the truth."""
    at = np.array([epsilon])
    sides = (of(multiplier, batches) for of in (of_removing, of_adding))
    if neighbors == "add_remove":
        return min(max(float(OutcomesPair.of(side, at)[0]) for side in sides), 1.0)
    if epsilon < 0:  # both directions are one
        mirrored = allocated_delta(multiplier, batches, -epsilon, neighbors)
        return -math.expm1(epsilon) + math.exp(epsilon) * mirrored
    if (
        epsilon > _FAR
    ):  # rounding grows with e^epsilon, and delta falls with it: what holds below holds here
        at = np.array([0.5, 0.75, 1.0]) * epsilon
    return float(_replaced(multiplier, batches, at, _CELL).min())


def _replaced(multiplier: float, batches: int, losses: Array, cell: float) -> Array:
    """Deltas of replacing a record: of the exact pair, or of two steps where that is less."""
    bounds = _in_two_steps(multiplier, batches, losses)
    if multiplier > _MOST_NOISE:
        return bounds
    least = np.maximum(OutcomesPair.of(of_removing(multiplier, batches), losses), _RAREST)
    for i, loss in enumerate(losses.tolist()):
        if loss < _FURTHEST and bounds[i] > _RAREST:
            found = replaced_delta(multiplier, batches, loss, float(least[i]), cell)
            bounds[i] = min(bounds[i], found)
    return bounds


def _in_two_steps(multiplier: float, batches: int, losses: Array) -> Array:
    """A bound by removing the one record and adding the other, or by a batch that all know.

    For every x, delta(t) <= H(x; removing) + e^x H(t - x; adding). The best x is where both thresholds are passed
    equally often without either record.
    """
    losses = np.minimum(losses, _FURTHEST)
    x = np.interp(losses, *_thresholds(multiplier, batches))
    removing = OutcomesPair.of(of_removing(multiplier, batches), x)
    adding = OutcomesPair.of(of_adding(multiplier, batches), losses - x)
    both = (removing + np.exp(x) * adding) * (1.0 + 16 * _UNIT)
    known = gaussian_delta(losses, 2.0 / multiplier) * (1.0 + 1e-9)
    return np.asarray(np.minimum(both, known))


@dataclass(frozen=True)
class AllocatedPair(CurvePair):
    """An epoch of random allocation under replace-one, by chords of its profile."""

    multiplier: float
    batches: int

    def profile(self, losses: Array) -> Array:
        """Chords between some epsilons, or the bound of two steps where that is less."""
        at, deltas = _chords(self.multiplier, self.batches)
        near = np.minimum(losses, at[-1])
        chords = np.interp(np.expm1(near), np.expm1(at), deltas) * (1.0 + 1e-12)
        return np.minimum(chords, _in_two_steps(self.multiplier, self.batches, losses))


@lru_cache(maxsize=8)
def _chords(multiplier: float, batches: int) -> tuple[Array, Array]:
    """Epsilons and their deltas, dense where delta falls fast."""
    last = 1e-3 / multiplier
    while last < _FURTHEST and _in_two_steps(multiplier, batches, np.array([last]))[0] > _FAINT:
        last *= 1.25
    even = np.linspace(0.0, last, 40 * _KNOTS)
    fall = -np.log(np.maximum(_in_two_steps(multiplier, batches, even), _FAINT))
    steps = np.linspace(fall[0], fall[-1], _FALLS)
    fast = np.interp(steps, np.maximum.accumulate(fall), even)
    at = np.union1d(even[::40], np.append(fast, last))
    return at, np.minimum.accumulate(_replaced(multiplier, batches, at, _COARSE_CELL))


@lru_cache(maxsize=8)
def _thresholds(multiplier: float, batches: int) -> tuple[Array, Array]:
    """Sums of two losses that are passed equally often without either record, and the first of the two."""
    found = ratios(multiplier, batches)
    seen = found.above_one > -1.0
    at, masses = np.log1p(found.above_one[seen]), found.masses[seen]
    below, above = np.log(np.cumsum(masses)), np.log(np.cumsum(masses[::-1])[::-1])
    shares = np.linspace(math.log(0.5), math.log(_RAREST), _LOOKS)
    first = np.interp(-shares, -above, at)
    second = np.interp(shares, below, at)
    both = np.maximum.accumulate(first - second)
    return both, first
