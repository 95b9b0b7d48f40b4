"""Dominating pairs of steps without replacement, of pure steps, of losses that are few, and of Laplace noise.

Dominating pair of all selections of bounded range in a script, chosen one after the other in view of answers.

A selection of range b is dominated, for some t in [0, b], by a pair with the losses t and t - b (Dong, Durfee and
Rogers 2020), and which t is worst depends on the losses so far. So the profile of k of them obeys, for every real
epsilon,

    H_k(eps) = max over t of  p_t H_(k-1)(eps - t) + (1 - p_t) H_(k-1)(eps - t + b),   p_t = (1 - e^(t - b))/(1 - e^-b),

which docs/proofs/bounded_range.md proves, with the rounding of the maximum between grid points.

Dominating pairs of Laplace noise on the sum over a Poisson sample (docs/proofs/sampled_noise.md).

Let a be the bound C of one record's contribution over the scale of the noise. Without sampling, the loss y of a record
that is removed has, under the law without it, the density e^{-(y + a)/2} / 4 between an atom of 1/2 at -a and one of
e^{-a}/2 at a. Under the law with it, that is multiplied by e^y. So all masses, and the shares of cells, are integrals
in closed form.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from ._costs import pure_mu
from ._discrete import Outcomes
from ._gaussian import gaussian_epsilon
from ._pld_curve_pairs import CurvePair
from ._pld_pairs import RemovePair, mixed
from ._pld_plan import Array, Lattice, density, rising_share
from ._sampled_pure import Atoms

__all__ = [
    "FAINTEST_RANGED",
    "LARGEST_RANGE",
    "SMALLEST_RANGE",
    "AtomPair",
    "LaplaceAddPair",
    "LaplacePair",
    "LaplaceRemovePair",
    "LaplaceReplacePair",
    "ListedPair",
    "PurePair",
    "RangePair",
    "SwapPair",
    "range_pairs",
]


SMALLEST_RANGE, LARGEST_RANGE = 1e-9, 40.0  # others are priced as pure steps
# Selections of one pair, and their largest loss; more are composed as if each pair knew the losses of the others.
_JOINT, _FURTHEST = 128, 600.0
_WORK, _MOST_PARTS = (
    4e6,
    1024,
)  # grid points times their neighbours times selections; grid points to a range
FAINTEST_RANGED = 1e-24  # deltas below are known by largest losses alone
_FAINT = 1e-30
_PLAIN = 30.0  # mu beyond which nothing is cut
_UNIT = 1e-14  # relative: covers the rounding of one step


def range_pairs(epsilon: float, count: int) -> list[tuple[RangePair, int]]:
    """Pairs, and how often each is composed, of so many selections of one range.

    Parameters
    ----------
    epsilon : float
        The range.
    count : int
        Number of selections.
    """
    groups = -(-count // min(_JOINT, math.floor(_FURTHEST / epsilon)))
    each, more = divmod(count, groups)
    sizes = ((each + 1, more), (each, groups - more))
    return [(RangePair(epsilon, size), times) for size, times in sizes if times]


@dataclass(frozen=True)
class RangePair(CurvePair):
    """The symmetric pair of the profile of ``count`` selections of range ``epsilon``."""

    epsilon: float
    count: int

    @property
    def largest_loss(self) -> float:
        """All selections at the largest loss of one, rounded up."""
        return self.count * self.epsilon * (1 + 1e-15)

    @property
    def furthest(self) -> float:
        """The loss up to which the profile is known."""
        step, known = _profile(self.epsilon, self.count)
        return step * (len(known) - 1)

    def profile(self, losses: Array) -> Array:
        """Delta at epsilons of 0 or more: in closed form for one, by chords for several."""
        b = self.epsilon
        if self.count == 1:
            return _once(b, losses)
        step, known = _profile(b, self.count)
        place = np.clip((losses / step).astype(int), 0, len(known) - 2)
        share = np.clip(np.expm1(losses - step * place) / math.expm1(step), 0.0, 1.0)
        chords = known[place] * (1 - share) + known[place + 1] * share
        return np.where(losses < self.largest_loss, chords * (1 + _UNIT), 0.0)


def _once(b: float, epsilons: NDArray[Any]) -> Array:
    """(1 - e^((eps - b)/2))^2 / (1 - e^-b), at t = (eps + b)/2."""
    rest = -np.expm1((np.minimum(epsilons, b) - b) / 2)
    return np.asarray(rest**2 / -math.expm1(-b) * (1 + _UNIT))


@lru_cache(maxsize=64)
def _profile(b: float, count: int) -> tuple[float, Array]:
    """Step of a grid, and deltas at its points from 0 on, never below the truth; from the last point on it is level."""
    last, mu = count * b, math.sqrt(count) * pure_mu(b / 2)
    if mu < _PLAIN:
        last = min(last, gaussian_epsilon(mu, _FAINT) + b)
    parts = min(math.ceil(math.sqrt(_WORK * b / (count * last)) + 8 * b), _MOST_PARTS)
    step = b / parts
    size = math.ceil(last / step) + 1
    out = _once(b, step * np.arange(size))
    for _ in range(count - 1):
        out = _another(out, b, parts)
    return step, out


def _another(known: Array, b: float, parts: int) -> Array:
    """Deltas of one selection more, at the same grid points."""
    step, size = b / parts, len(known)
    down = -step * np.arange(parts, 0, -1)
    mirrored = (
        -np.expm1(down) + np.exp(down) * np.append(known, np.full(parts, known[-1]))[parts:0:-1]
    )
    whole = np.concatenate([mirrored, known, np.full(parts, known[-1])])
    falls = np.append(-np.diff(whole), 0.0)
    drops = falls[:-parts] - math.exp(-b) * falls[parts:]
    bows = np.maximum(math.exp(step) * math.expm1(step) / -math.expm1(-b) * drops, 1e-300)
    flat = 0.25 / bows  # four times the height of a bow over its chord is `bows`
    best, last = np.zeros(size), np.zeros(size)
    for k in range(parts + 1):  # t falls from b to 0
        up = math.expm1(-step * k) / math.expm1(-b)
        value = up * whole[k : k + size] + (1 - up) * whole[k + parts : k + parts + size]
        if k:
            cell = slice(k - 1, k - 1 + size)
            over = np.maximum(bows[cell] - np.abs(value - last), 0.0)
            np.maximum(best, np.maximum(value, last) + over * over * flat[cell], out=best)
        last = value
    return np.minimum(best * (1 + _UNIT), 1.0)


_POINTS = 800
_AT_AN_END = 4e-15  # relative: covers the rounding of a computed loss at an end


def _unmixed(loss: Array, rate: float) -> Array:
    """The y with log(1 - rate + rate e^y) = loss; minus infinity where there is none."""
    near, far = np.minimum(loss, 1.0), np.maximum(loss, 1.0)
    with np.errstate(divide="ignore", over="ignore"):
        small = np.log1p(np.maximum(np.expm1(near) / rate, -1.0))
        large = far - math.log(rate) + np.log1p(-(1 - rate) * np.exp(-far))
    return np.where(loss < 1.0, small, large)


@dataclass(frozen=True)
class LaplaceRemovePair:
    """The record is there under P only: (1-q) L(0) + q L(shift) against L(0), L the law of the noise.

    Parameters
    ----------
    shift : float
        Bound of one record's contribution, over the scale of the noise.
    rate : float
        Probability that the record is in the sample.
    """

    shift: float
    rate: float

    def _loss(self, y: Array) -> Array:
        """Loss where it would be y, or -y where a record is added, without sampling: it increases with y."""
        return mixed(y, self.rate)

    def _at(self, loss: Array) -> Array:
        """Inverse of `_loss`, cut to what y may be."""
        return np.clip(_unmixed(loss, self.rate), -self.shift, self.shift)

    def _cells(self, y: Array) -> tuple[Array, Array]:
        """Mass under P between neighbours of y, and what it is above e^loss, at the lower end, times that under Q."""
        low, width = y[:-1], np.diff(y)
        without = np.exp(-(low + self.shift) / 2) * -np.expm1(-width / 2)
        with_it = np.exp((low - self.shift) / 2) * np.expm1(width / 2)
        gap = 2 * self.rate * np.exp((low - self.shift) / 2) * np.sinh(width / 4) ** 2
        return ((1 - self.rate) * without + self.rate * with_it) / 2, gap

    @property
    def _atoms(self) -> tuple[float, float]:
        """Masses of P at the smallest and at the largest loss."""
        rare = math.exp(-self.shift) / 2
        return (1 - self.rate) / 2 + self.rate * rare, (1 - self.rate) * rare + self.rate / 2

    @property
    def _range(self) -> tuple[float, float]:
        low, high = self._loss(np.array([-self.shift, self.shift])).tolist()
        return low + _AT_AN_END * abs(low), high + _AT_AN_END * abs(high)

    @property
    def largest_loss(self) -> float:
        """Loss of the upper atom, rounded up."""
        return self._range[1]

    def nodes(self, reach: float) -> tuple[Array, Array]:
        """Midpoint rule between the atoms at the ends."""
        y = np.linspace(-self.shift, self.shift, _POINTS + 1)
        (low, high), (rare, often) = self._range, self._atoms
        losses = np.concatenate([[low], self._loss((y[1:] + y[:-1]) / 2), [high]])
        return losses, np.concatenate([[rare], self._cells(y)[0], [often]])

    def ends(self, reach: float, floor: float) -> tuple[float, float]:
        """The smallest and the largest loss."""
        low, high = self._range
        return min(max(low, floor), high), high

    def lattice(self, step: float, reach: float, floor: float) -> Lattice:
        """Divide the density cell by cell, and the two atoms."""
        low, high = self.ends(reach, floor)
        first, last = math.floor(low / step), math.floor(high / step) + 1
        grid = step * np.arange(first, last + 1, dtype=float)
        y = self._at(grid)
        mass, gap = self._cells(y)
        lowest, (rare, often) = self._range[0], self._atoms
        atoms = [(high, often)]
        if low == lowest:  # the first cell begins below it
            gap[0] += (mass[0] - gap[0]) * -math.expm1(min(grid[0] - lowest, 0.0))
            atoms.append((lowest, rare))
        rise = np.clip(gap / -math.expm1(-step), 0.0, mass)
        out = np.append(mass - rise, 0.0) + np.append(0.0, rise)
        if low > lowest:
            below = np.array([-self.shift, y[0]])
            out[0] += rare + float(self._cells(below)[0][0])
        for loss, weight in atoms:
            k, share = math.floor(loss / step) - first, float(rising_share(loss, step))
            out[k : k + 2] += weight * np.array([1 - share, share])
        return Lattice(first, out, 0.0)


class LaplaceAddPair(LaplaceRemovePair):
    """The record is there under Q only, on the mirrored line: y has the sign that makes the loss increase."""

    def _loss(self, y: Array) -> Array:
        return -mixed(-y, self.rate)

    def _at(self, loss: Array) -> Array:
        return np.clip(-_unmixed(-loss, self.rate), -self.shift, self.shift)

    def _cells(self, y: Array) -> tuple[Array, Array]:
        low, width = y[:-1], np.diff(y)
        mass = np.exp((low - self.shift) / 2) * np.expm1(width / 2) / 2
        grown = self._loss(low) - (low + self.shift) / 2
        return mass, 2 * self.rate * np.exp(grown) * np.sinh(width / 4) ** 2

    @property
    def _atoms(self) -> tuple[float, float]:
        return math.exp(-self.shift) / 2, 0.5


class LaplaceReplacePair(LaplaceRemovePair):
    """Opposite contributions: (1-q) L(0) + q L(shift) against (1-q) L(0) + q L(-shift).

    Positive losses are those of the removal above its smallest one, which is subtracted, with the same masses: where
    neither record tells, nor does their difference. Negative losses mirror them.
    """

    @property
    def _least(self) -> float:
        """The smallest loss of the removal."""
        return float(mixed(np.array([-self.shift]), self.rate)[0])

    @property
    def _range(self) -> tuple[float, float]:
        high = float(mixed(np.array([self.shift]), self.rate)[0]) - self._least
        high += _AT_AN_END * (high + abs(self._least))
        return -high, high

    def nodes(self, reach: float) -> tuple[Array, Array]:
        """The positive losses and their image."""
        y = np.linspace(-self.shift, self.shift, _POINTS + 1)
        up = np.append(self._loss((y[1:] + y[:-1]) / 2) - self._least, self.largest_loss)
        mass = np.append(self._cells(y)[0], self._atoms[1])
        return np.concatenate([up, -up]), np.concatenate([mass, mass * np.exp(-up)])

    def lattice(self, step: float, reach: float, floor: float) -> Lattice:
        """Connect the dots on the positive side; the negative side is its image."""
        low, high = self.ends(reach, floor)
        cells = math.floor(high / step) + 1
        grid = step * np.arange(cells + 1, dtype=float)
        with np.errstate(divide="ignore"):
            rise_of_ratio = np.log(np.expm1(np.minimum(grid, 1.0)) / self.rate)
            far = grid - math.log(self.rate) + np.log1p(-np.exp(-np.maximum(grid, 1.0)))
        ratio = np.where(grid < 1.0, rise_of_ratio, far) + self._least
        y = np.clip(np.logaddexp(-self.shift, ratio), -self.shift, self.shift)
        mass, gap = self._cells(y)
        rise = np.clip(gap / -math.expm1(-step), 0.0, mass)
        up = np.append(mass - rise, 0.0) + np.append(0.0, rise)
        share = float(rising_share(high, step))
        up[-2:] += self._atoms[1] * np.array([1 - share, share])
        down = up * np.exp(-grid)
        lowest = min(max(math.ceil(-low / step), 1), cells)
        down[lowest] += down[lowest + 1 :].sum()
        out = np.concatenate([down[lowest:0:-1], [up[0] + down[0]], up[1:]])
        return Lattice(-lowest, out, 0.0)


_NODES = 600


@dataclass(frozen=True)
class SwapPair:
    """A Gaussian step on a batch of fixed size without replacement, under replace-one.

    Both directions obey H_{e^t} <= q H_{e^u}(N(2C/sd) || N(0)) with u = log1p(expm1(t) / q) for
    t >= 0 (joint convexity; the three means lie in a ball of radius C). The symmetric pair of that
    curve has, on positive losses, the masses of the removal pair at shift 2C/sd; negative losses
    mirror them, and what is left has loss zero.
    """

    shift: float  # 2 C / sd
    rate: float

    @property
    def largest_loss(self) -> float:
        """Unbounded."""
        return math.inf

    @property
    def _half(self) -> RemovePair:
        return RemovePair(self.shift, self.rate)

    @property
    def _zero(self) -> float:
        return (1 - self.rate) * math.erf(self.shift / math.sqrt(8))

    @property
    def _positive(self) -> float:
        return math.fsum(w * ndtr(mean - self.shift / 2) for w, mean in self._half.upper)

    def nodes(self, reach: float) -> tuple[Array, Array]:
        """Midpoint rule on the positive losses of the removal pair, mirrored."""
        half = self._half
        edges = np.linspace(max(self.shift / 2, self.shift - reach), self.shift + reach, 401)
        x = (edges[1:] + edges[:-1]) / 2
        up, mass = half.loss(x), density(half.upper, x)
        mass *= self._positive / mass.sum()
        down = mass * np.exp(-up)
        down *= ndtr(-self.shift / 2) / max(down.sum(), 1e-300)
        return np.concatenate([up, -up, [0.0]]), np.concatenate([mass, down, [self._zero]])

    def ends(self, reach: float, floor: float) -> tuple[float, float]:
        """The loss at ``reach`` sd above the shift, and its image."""
        top = float(self._half.loss(np.array([self.shift + reach]))[0])
        return -min(-floor, top), top

    def lattice(self, step: float, reach: float, floor: float) -> Lattice:
        """Connect the dots on the positive side; the negative side is its image."""
        half = self._half
        lowest_loss, top = self.ends(reach, floor)
        cells = max(math.ceil(top / step), 1)
        edges = half.at(step * np.arange(cells + 1, dtype=float))
        edges[0] = self.shift / 2
        stay, rise = half.shares(0, step, edges)
        up = np.concatenate([stay, [0.0]])
        up[1:] += rise
        down = up * np.exp(-step * np.arange(cells + 1))
        far = edges[-1]
        infinite = math.fsum(w * ndtr(mean - far) for w, mean in half.upper)
        down[-1] += ndtr(-far)
        lowest = min(max(math.ceil(-lowest_loss / step), 1), cells)
        down[lowest] += down[lowest + 1 :].sum()
        down = down[: lowest + 1]
        mass = np.concatenate([down[:0:-1], [up[0] + down[0] + self._zero], up[1:]])
        return Lattice(-lowest, mass, infinite)


@dataclass(frozen=True)
class PurePair:
    """Randomised response, which dominates every epsilon-differentially private release."""

    epsilon: float

    @property
    def largest_loss(self) -> float:
        """Epsilon."""
        return self.epsilon

    def nodes(self, reach: float) -> tuple[Array, Array]:
        """The two losses."""
        high = 1 / (1 + math.exp(-self.epsilon))
        return np.array([-self.epsilon, self.epsilon]), np.array([1 - high, high])

    def ends(self, reach: float, floor: float) -> tuple[float, float]:
        """The two losses."""
        return max(-self.epsilon, floor), self.epsilon

    def lattice(self, step: float, reach: float, floor: float) -> Lattice:
        """Divide each of the two losses between its grid neighbours."""
        losses, weights = np.array(self.ends(reach, floor)), self.nodes(reach)[1]
        weights[0] = 1 / (1 + math.exp(min(self.epsilon, 700.0)))
        return _divided(losses, weights, step)


@dataclass(frozen=True)
class AtomPair:
    """A pair whose loss takes a few values: those of `_sampled_pure.atoms`, rounded up there."""

    atoms: Atoms

    @property
    def largest_loss(self) -> float:
        """The largest of the values."""
        return max(loss for loss, _ in self.atoms)

    def nodes(self, reach: float) -> tuple[Array, Array]:
        """The values and their masses."""
        losses, masses = np.array(self.atoms).T
        return losses, masses

    def ends(self, reach: float, floor: float) -> tuple[float, float]:
        """The smallest and the largest value."""
        return max(min(loss for loss, _ in self.atoms), floor), self.largest_loss

    def lattice(self, step: float, reach: float, floor: float) -> Lattice:
        """Divide each value between its grid neighbours."""
        losses, masses = self.nodes(reach)
        return _divided(np.maximum(losses, floor), masses, step)


@dataclass(frozen=True)
class ListedPair:
    """A pair whose answers are listed, with losses and masses rounded up (`_discrete`).

    What is rarer than a normal law beyond ``reach`` sd is at infinity.
    """

    side: Outcomes

    @property
    def largest_loss(self) -> float:
        """The largest of the losses, infinite if an answer tells the record for certain."""
        return math.inf if self.side.infinite else float(self.side.losses[-1])

    def _kept(self, reach: float, floor: float) -> tuple[Array, Array, float]:
        """Losses and masses up to the reach, and what is above it."""
        losses, masses = self.side.losses, self.side.masses
        if not self.side.infinite:
            return np.maximum(losses, floor), masses, 0.0
        above = np.cumsum(masses[::-1])[::-1]
        kept = np.maximum(np.searchsorted(-above, -ndtr(-reach)), 1)
        far = self.side.infinite + (float(above[kept]) if kept < len(above) else 0.0)
        return np.maximum(losses[:kept], floor), masses[:kept], far * (1 + 1e-12)

    def nodes(self, reach: float) -> tuple[Array, Array]:
        """The losses and their masses, those of near neighbours in one where they are many."""
        losses, masses, _ = self._kept(reach, -math.inf)
        first = np.arange(0, len(losses), max(len(losses) // _NODES, 1))
        if len(losses) > _NODES:  # tails have few of them
            even = np.linspace(losses[0], losses[-1], _NODES)
            first = np.union1d(first, np.searchsorted(losses, even))
        weights = np.add.reduceat(masses, first)
        means = np.add.reduceat(masses * losses, first) / np.maximum(weights, 1e-300)
        return means, weights

    def ends(self, reach: float, floor: float) -> tuple[float, float]:
        """The smallest and the largest loss that are kept."""
        losses = self._kept(reach, floor)[0]
        return float(losses[0]), float(losses[-1])

    def lattice(self, step: float, reach: float, floor: float) -> Lattice:
        """Divide each loss between its grid neighbours."""
        losses, masses, far = self._kept(reach, floor)
        return replace(_divided(losses, masses, step), infinite=far)


def _divided(losses: Array, masses: Array, step: float) -> Lattice:
    places = np.floor(losses / step)
    low = int(places.min())
    rise = rising_share(losses, step) * masses
    at = (places - low).astype(int)
    stay, rises = (np.bincount(at, weights=part) for part in (masses - rise, rise))
    return Lattice(low, np.append(stay, 0.0) + np.append(0.0, rises), 0.0)


@dataclass(frozen=True)
class LaplacePair:
    """Laplace noise whose mean moves by ``shift`` scales: a loss between -shift and shift."""

    shift: float

    @property
    def largest_loss(self) -> float:
        """The shift."""
        return self.shift

    def nodes(self, reach: float) -> tuple[Array, Array]:
        """Midpoint rule between the two atoms at the ends, where there is mass."""
        a = self.shift
        edges = np.linspace(max(-a, a - 80), a, 401)
        inner = -0.5 * np.exp((edges[1:] - a) / 2) * np.expm1(-np.diff(edges) / 2)
        loss = np.concatenate([[-a], (edges[:-1] + edges[1:]) / 2, [a]])
        return loss, np.concatenate([[math.exp(-a) / 2], inner, [0.5]])

    def ends(self, reach: float, floor: float) -> tuple[float, float]:
        """The shift and minus the shift."""
        return max(-self.shift, floor), self.shift

    def lattice(self, step: float, reach: float, floor: float) -> Lattice:
        """Divide the density e^{(t - shift)/2} / 4 cell by cell, and the two atoms."""
        a, cells = self.shift, math.floor(self.shift / step) + 1
        first = -cells if floor <= -a else math.floor(self.ends(reach, floor)[0] / step)
        grid = step * np.arange(first, cells)
        low, high = np.clip(grid, -a, a), np.clip(grid + step, -a, a)
        lift, width = low - grid, high - low
        mass = -0.5 * np.exp((high - a) / 2) * np.expm1(-width / 2)
        gap = mass * -np.expm1(-(2 * lift + width) / 2)
        rise = np.clip(gap / -math.expm1(-step), 0.0, mass)
        out = np.concatenate([mass - rise, [0.0]])
        out[1:] += rise
        atoms = [(a, 0.5), (-a, 0.5 * math.exp(-a))]
        if (
            floor > -a
        ):  # up to the first grid point there is half of e^{(t - shift)/2}, raised to it
            out[0] += 0.5 * math.exp((grid[0] - a) / 2)
            atoms.pop()
        for atom, weight in atoms:
            k, share = math.floor(atom / step) - first, float(rising_share(np.float64(atom), step))
            out[k : k + 2] += weight * np.array([1 - share, share])
        return Lattice(first, out, 0.0)
