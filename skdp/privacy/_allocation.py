"""One epoch of random allocation: the law of its likelihood ratio, on atoms that dominate it.

Each record is in one uniformly random batch of T. With a record or without it, the answers of an epoch have the ratio
M = (Y_1 + ... + Y_T) / T with independent log-normal Y (docs/proofs/random_allocation.md). Both profiles are means of
convex functions of M without the record. So each Y may be divided between two grid points that keep its mean, which
only raises them, and the sum of T such Y is a convolution. What is cut tells the record for certain.

Many small terms are added by Fourier transforms, at several tilts so that both tails keep their digits. The few that
exceed a bound are divided by octaves, on grids that grow with them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.fft import next_fast_len
from scipy.special import gammaln, ndtr

from ._pld_tilted import add_up

__all__ = [
    "UNIT",
    "Grid",
    "Ratios",
    "Rough",
    "Terms",
    "cumulant",
    "divided",
    "law_of_sum",
    "ratios",
]

Array = NDArray[np.float64]

_REACH = 10.0  # sd beyond which a single term is cut
_LENGTH = 40.0  # of a sum of small terms, in its sd
_TINY = 1e-24  # what else may be cut
_CELL = 6e-3  # of a grid, in sd of a term: it adds a sixth of the square to the variance
_FEWEST, _MOST = 2**15, 2**20  # cells of the sum of small terms
_FINE, _COARSE = 1024, 128  # cells of an octave, for one large term and for more
_BOUND = 4.0  # of small terms, in sd of their sum
_MOST_LARGE = 16
_SPACING = 9.0  # sd between the tilted means
_NARROW = ((0.01, 3), (0.3, 5))  # sd below which a cell is integrated to 1e-14 by so many points
UNIT = 1e-13  # relative: covers the rounding of a computed mass
_BLOCKS = 2000
_CACHED = 15_000  # numbers of an array that takes no fresh pages of memory
_LADDER = np.concatenate([[0.0], np.geomspace(1e-2, 1e2, 81)])


@dataclass(frozen=True, eq=False)
class Ratios:
    """Values of M - 1 and their masses without the record; what is cut, with the record and without it."""

    above_one: Array
    masses: Array
    lost_with: float
    lost_without: float


@dataclass(frozen=True, eq=False)
class Grid:
    """Masses at ``step * (first + i)``: of terms, each less 1, or of sums of them."""

    first: int
    masses: Array
    step: float

    @property
    def index(self) -> Array:
        """The points in grid steps."""
        return np.arange(self.first, self.first + len(self.masses), dtype=float)

    @property
    def values(self) -> Array:
        """The points."""
        return self.step * self.index

    def on(self, step: float) -> Grid:
        """Each mass divided between two points of another grid so that its mean stays."""
        if not len(self.masses):
            return Grid(0, self.masses, step)
        place = self.values / step
        low = np.floor(place)
        share, at = place - low, (low - low[0]).astype(int)
        stay = np.bincount(at, weights=self.masses * (1.0 - share))
        rise = np.bincount(at, weights=self.masses * share)
        return Grid(int(low[0]), np.append(stay, 0.0) + np.append(0.0, rise), step)

    def plus(self, other: Grid) -> Grid:
        """The measure of both."""
        if not len(other.masses):
            return self
        first = min(self.first, other.first)
        last = max(self.first + len(self.masses), other.first + len(other.masses))
        out = np.zeros(last - first)
        for part in (self, other):
            out[part.first - first : part.first - first + len(part.masses)] += part.masses
        return Grid(first, out, self.step)

    def times(self, other: Grid) -> Grid:
        """The law of the sum of independent terms."""
        if not len(self.masses) or not len(other.masses):
            return Grid(0, np.zeros(0), self.step)
        masses = np.convolve(self.masses, other.masses)
        return Grid(self.first + other.first, masses, self.step)

    def scaled(self, factor: float) -> Grid:
        """All masses times a number."""
        return Grid(self.first, self.masses * factor, self.step)


class Rough:
    """The sum of so many terms by blocks of their cells: good enough to choose tilts and windows by."""

    def __init__(self, terms: Grid, count: int) -> None:
        starts = np.arange(0, len(terms.masses), max(len(terms.masses) // _BLOCKS, 1))
        masses = np.add.reduceat(terms.masses, starts)
        at = np.add.reduceat(terms.masses * terms.index, starts)
        kept = masses > 0
        self._logs, self._at, self._count = np.log(masses[kept]), at[kept] / masses[kept], count

    def _weights(self, tilts: Array) -> tuple[Array, Array]:
        exponents = self._logs + tilts[:, None] * self._at
        peaks = exponents.max(axis=1)
        return np.exp(exponents - peaks[:, None]), peaks

    def cumulants(self, tilts: Array) -> Array:
        """log E e^(tilt sum), the sum in grid steps."""
        few = max(
            _CACHED // len(self._at), 1
        )  # tilts whose weights stay in the cache, and need no fresh memory
        found = []
        for at in range(0, len(tilts), few):
            weights, peaks = self._weights(tilts[at : at + few])
            found.append(peaks + np.log(weights.sum(axis=1)))
        return np.asarray(self._count * np.concatenate(found))

    def moments(self, tilts: Array) -> tuple[Array, Array]:
        """Mean and sd of the tilted sum, in grid steps."""
        weights = self._weights(tilts)[0]
        weights /= weights.sum(axis=1)[:, None]
        means = weights @ self._at
        squares = (weights * (self._at - means[:, None]) ** 2).sum(axis=1)
        return self._count * means, np.sqrt(self._count * squares)


@dataclass(frozen=True)
class Terms:
    """Summands of a tilted sum, as `add_up` takes them."""

    weights: Array
    first: int
    count: int

    @property
    def mean(self) -> float:
        """Mean in grid steps."""
        return self.first + float(self.weights @ np.arange(len(self.weights)))


def _ratio_at(excess: Array, s: float) -> tuple[Array, Array]:
    """Y, and the standard normal number without the record, where Y - 1 has these values."""
    excess = np.where(excess < 1e-14 - 1.0, -1.0, excess)  # zero, but for rounding
    with np.errstate(divide="ignore"):
        return 1.0 + excess, np.log1p(excess) / s + s / 2


def divided(y: Array, u: Array, width: Array, s: float, against: float = 0.0) -> Array:
    """Masses at the edges of cells, if W = Y - against / Y between two of them is divided so that its mean stays.

    Parameters
    ----------
    y, u : ndarray
        Y at rising edges, and its standard normal numbers without the record.
    width : ndarray
        What W gains over each cell.
    s : float
        One over the multiplier: log Y = s u - s^2 / 2.
    against : float
        What the record that comes instead counts, times e^(-s^2).
    """
    low, high = np.empty(len(width)), np.empty(len(width))
    length, wide = np.diff(u), np.full(len(width), True)
    for most, points in _NARROW:
        part = wide & (length * max(1.0, s) <= most)
        wide &= ~part
        cells = u[:-1][part], length[part] / 2, y[:-1][part], width[part]
        low[part], high[part] = _by_points(points, *cells, s, against)
    if wide.any():
        a, b, ends = u[:-1][wide], u[1:][wide], (y[:-1][wide], y[1:][wide])
        without, total = _between(a, b), _between(a - s, b - s)
        start, end = ends
        if against:
            total = total - against * math.exp(s * s) * _between(a + s, b + s)
            start, end = (edge - against / edge for edge in ends)
        high[wide] = np.maximum(total - start * without, 0.0) / width[wide]
        low[wide] = np.maximum(end * without - total, 0.0) / width[wide]
    out = np.append(low, 0.0)
    out[1:] += high
    return np.asarray(out * (1.0 + UNIT))


def _by_points(
    points: int, u: Array, half: Array, y: Array, width: Array, s: float, against: float
) -> tuple[Array, Array]:
    """Masses that stay at the lower edges of cells and that rise to the upper ones, by Gauss and Legendre."""
    nodes, weights = np.polynomial.legendre.leggauss(points)
    low, high = np.zeros(len(u)), np.zeros(len(u))
    for node, weight in zip(nodes.tolist(), weights.tolist()):
        off = half * (1.0 + node)
        mass = half * weight * np.exp(-((u + off) ** 2) / 2) / math.sqrt(2 * math.pi)
        rise = np.expm1(s * off) * y
        if against:
            rise -= np.expm1(-s * off) * (against / y)
        part = mass * np.minimum(rise / width, 1.0)
        high += part
        low += mass - part
    return low, high


def _cells(first: int, last: int, step: float, s: float) -> Grid:
    """The law of Y - 1 between two grid points."""
    y, u = _ratio_at(step * np.arange(first, last + 1, dtype=float), s)
    return Grid(first, divided(y, u, np.full(last - first, step), s), step)


def _between(a: Array, b: Array) -> Array:
    """Normal mass of intervals."""
    flip = a > 0
    return np.asarray(ndtr(np.where(flip, -a, b)) - ndtr(np.where(flip, -b, a)))


@dataclass(frozen=True)
class _Choice:
    """Choice of where terms are cut, where they are large, and the grid of the others; any is sound."""

    s: float  # one over the multiplier
    batches: int
    per_one: int  # cells of length 1
    least: int  # Y - 1 in cells, below which it is cut
    top: int  # and above which it is large
    octaves: int  # beyond that, up to where it is cut

    @property
    def bound(self) -> float:
        """The least large Y - 1."""
        return self.top / self.per_one

    def above(self, excess: float) -> tuple[float, float]:
        """Probability that a term exceeds it, with the record in its batch and without it."""
        at = math.log1p(excess) / self.s
        return float(ndtr(self.s / 2 - at)), float(ndtr(-self.s / 2 - at))

    def cut(self) -> tuple[float, float]:
        """Probability that a term is cut, with the record and without it, at most."""
        with_it, without = self.above(self.bound * 2**self.octaves)
        if self.least > -self.per_one:
            at = math.log1p(self.least / self.per_one) / self.s
            with_it += float(ndtr(at - self.s / 2))
            without += float(ndtr(at + self.s / 2))
        return with_it + self.batches * without, self.batches * without

    def more(self, most: int) -> tuple[float, float]:
        """Probability of more than so many large terms, with the record and without it, at most."""
        if most >= self.batches or not self.octaves:
            return 0.0, 0.0
        with_it, without = self.above(self.bound)
        known = math.exp(_log_ways(self.batches - 1, most)) * without**most * with_it
        none = math.exp(_log_ways(self.batches, most + 1)) * without ** (most + 1)
        return none + known, none

    def overflow(self, j: int, lost: float) -> tuple[float, float]:
        """Return the part of the sum of small terms that is lost, as a part of all where j terms are large."""
        with_it, without = self.above(self.bound) if self.octaves else (0.0, 0.0)
        ways = math.exp(_log_ways(self.batches, j)) * lost
        known = ways * without**j * (1.0 + self.bound)
        if j:
            known += ways * without ** (j - 1) * with_it * j / self.batches
        return known, ways * without**j


def _choice(multiplier: float, batches: int) -> _Choice:
    s, wide = 1.0 / multiplier, math.sqrt(batches)
    most = math.expm1(s * _REACH + s * s / 2)
    bound = _bound_of(batches, s, most)
    sd = _sd(1.0 + bound, s)
    cells = min(max(_LENGTH * wide / _CELL, _FEWEST, _MOST / batches), _MOST)
    per_one = math.ceil(max(cells / (_LENGTH * wide * sd), 4.0))
    least = math.floor(max(math.expm1(-s * _REACH - s * s / 2), -1.0) * per_one)
    top = math.ceil(bound * per_one)
    octaves = max(math.ceil(math.log2(most * per_one / top)), 0)
    return _Choice(s, batches, per_one, least, top, octaves)


def _sd(bound: float, s: float) -> float:
    """Deviation of Y up to a bound, by which grids are chosen."""
    if s < 1e-2:
        return s
    at = math.log(bound) / s
    mass, mean, square = (float(ndtr(at + s / 2 - k * s)) for k in range(3))
    return math.sqrt(max(math.exp(s * s) * square - mean**2 / max(mass, 1e-300), 1e-12))


def _bound_of(batches: int, s: float, most: float) -> float:
    """Return the most that a small term exceeds 1 by: some sd of the sum of all small ones."""
    bound = most
    for _ in range(60):
        wide = _BOUND * math.sqrt(batches) * _sd(1.0 + bound, s)
        bound = min(most, max(wide, 4.0 * min(s, 1.0)))
    return most if 2 * bound > most else bound


@lru_cache(maxsize=8)
def ratios(multiplier: float, batches: int) -> Ratios:
    """Atoms of M - 1 whose profiles are nowhere below the true ones, in either direction.

    Parameters
    ----------
    multiplier : float
        Standard deviation of the noise over the bound of one record's contribution.
    batches : int
        Batches of the epoch, T.
    """
    choice = _choice(multiplier, batches)
    step = 1.0 / choice.per_one
    small = _cells(choice.least, choice.top, step, choice.s)
    large = 0
    while large < min(batches, _MOST_LARGE) and choice.more(large)[0] >= _TINY:
        large += 1
    lost, bodies = [choice.cut(), choice.more(large)], []
    for j in range(large + 1):
        body, out = _sum_of_small(small, batches - j, tilted=j < 2)
        lost.append(choice.overflow(j, out))
        bodies.append(body)
    wider = min(int(math.sqrt(batches) / 8), len(bodies[0].masses) // _FEWEST)
    parts = [bodies[0].on(wider * step) if wider > 1 else bodies[0]]
    if large:
        parts += _with_large(bodies, choice)
    x = np.concatenate([part.values for part in parts]) / batches
    masses = np.concatenate([part.masses for part in parts])
    order = np.argsort(x, kind="stable")
    order = order[masses[order] > 0]
    masses = masses[order] * (1.0 + batches * 1e-15 + UNIT)
    with_it, without = (min(math.fsum(part), 1.0) for part in zip(*lost))
    return Ratios(np.maximum(x[order], -1.0), masses, with_it, without)


def _log_ways(batches: int, j: int) -> float:
    return float(gammaln(batches + 1) - gammaln(j + 1) - gammaln(batches - j + 1))


def _sum_of_small(small: Grid, count: int, tilted: bool) -> tuple[Grid, float]:
    """The law of a sum of small terms in a window, never below the truth, and what is outside."""
    if count < 2:
        return (small if count else Grid(0, np.ones(1), small.step)), 0.0
    rough = Rough(small, count)
    tilts = _LADDER[1:] / rough.moments(np.zeros(1))[1][0]
    ends, lost = [], 0.0
    for way, edge in ((-1, small.first), (1, small.first + len(small.masses) - 1)):
        far = (rough.cumulants(way * tilts) - math.log(_TINY)) / tilts
        best, edge = int(far.argmin()), way * count * edge
        ends.append(way * min(math.ceil(far[best]), edge))
        if far[best] < edge:
            norm = count * cumulant(small, small.index, way * tilts[best])[1]
            lost += math.exp(min(norm - tilts[best] * way * ends[-1], 0.0))
    first, last = ends
    chosen = [0.0]
    if tilted:
        chosen += [t for way in (-1, 1) for t in _apart(rough, way * tilts, first, last)]
    size = next_fast_len(last - first + 1, real=True)
    masses = law_of_sum(small, count, chosen, first, size)[: last - first + 1]
    return Grid(first, masses, small.step), lost * (1.0 + 1e-9)


def _apart(rough: Rough, tilts: Array, first: int, last: int) -> list[float]:
    """Choose tilts of a ladder from zero on whose laws lie some sd apart within a window."""
    means, spreads = rough.moments(np.append(0.0, tilts))
    chosen, here = [], 0
    for k in range(1, len(means)):
        if not first <= means[k] <= last:
            break
        if abs(means[k] - means[here]) >= _SPACING * min(spreads[here], spreads[k]):
            chosen.append(float(tilts[k - 1]))
            here = k
    return chosen


def law_of_sum(small: Grid, count: int, tilts: list[float], first: int, size: int) -> Array:
    """Masses of a sum on a window, never below the truth: at each point of the tilt that knows it best."""
    logs, at = np.full(size, math.inf), np.arange(first, first + size)
    for tilt in tilts:
        weights, log_norm = cumulant(small, small.index, tilt)
        masses = add_up([Terms(weights, small.first, count)], first, size)
        with np.errstate(divide="ignore"):
            logs = np.minimum(logs, np.log(masses) + (count * log_norm - tilt * at))
    return np.asarray(np.exp(np.minimum(logs, 0.0)) * (1.0 + UNIT))


def cumulant(small: Grid, index: Array, tilt: float) -> tuple[Array, float]:
    """Tilted, normalised masses and the log of their sum."""
    exponents = tilt * index
    top = float(exponents.max())
    weights = small.masses * np.exp(exponents - top)
    total = float(weights.sum())
    return weights / total, top + math.log(total)


def _with_large(bodies: list[Grid], choice: _Choice) -> list[Grid]:
    """The laws of the sums with large terms, by the octave of the largest."""
    ways = [math.exp(_log_ways(choice.batches, j)) for j in range(len(bodies))]
    out, one, lesser = [], bodies[1], Grid(0, np.zeros(0), 1.0)
    for k in range(choice.octaves):
        edge = choice.bound * 2**k
        fine, coarse = edge / _FINE, edge / _COARSE
        single = _cells(_FINE, 2 * _FINE, fine, choice.s)
        here, lesser, one = single.on(coarse), lesser.on(coarse), one.on(fine)
        bodies = [body.on(coarse) for body in bodies]
        out.append(one.times(single).scaled(ways[1]))
        # sums of j large terms: with one at least in this octave, and with none
        both = here.plus(lesser)
        with_it, without = here, lesser
        for j in range(2, len(bodies)):
            with_it = with_it.times(both).plus(without.times(here))
            without = without.times(lesser)
            out.append(bodies[j].times(with_it).scaled(ways[j]))
        lesser = both
    return out
