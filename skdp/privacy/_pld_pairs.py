"""Dominating pairs of Gaussian steps on a Poisson sample, and of Gaussian steps on everybody."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import ndtr

from ._pld_plan import Array, Components, Lattice, density, log_mass

__all__ = [
    "AddPair",
    "GaussianPair",
    "MixturePair",
    "MovedPair",
    "RemovePair",
    "ReplacePair",
    "mixed",
]


_RULES = (np.polynomial.legendre.leggauss(3), np.polynomial.legendre.leggauss(5))
_NARROWS = (
    2e-3,
    0.3,
)  # cells this wide (in sd) are integrated to 1e-15 by three and by five points


def mixed(y: Array, rate: float) -> Array:
    """log(1 - rate + rate * e^y), exact in relative terms near 0 and at large |y|."""
    small = np.minimum(y, 30.0)
    far = math.log(rate) + y + np.log1p((1 - rate) / rate * np.exp(-np.maximum(y, 30.0)))
    return np.where(y < 30.0, np.log1p(rate * np.expm1(small)), far)


def _normal_nodes(reach: float) -> tuple[Array, Array]:
    grid = np.linspace(-reach, reach, 151)
    weight = np.exp(-0.5 * grid**2)
    return grid, weight / weight.sum()


@dataclass(frozen=True)
class MixturePair:
    """Two mixtures of unit Gaussians on a line along which the loss log P/Q increases.

    Parameters
    ----------
    shift : float
        Distance between the means of a record's presence and absence, over the noise's sd.
    """

    shift: float

    @property
    def upper(self) -> Components:
        """(weight, mean) of the components of P."""
        raise NotImplementedError

    @property
    def lower(self) -> Components:
        """(weight, mean) of the components of Q."""
        raise NotImplementedError

    def loss(self, x: Array) -> Array:
        """Privacy loss at the points x."""
        raise NotImplementedError

    def at(self, loss: Array) -> Array:
        """Points where the loss takes these values; infinite where it never does."""
        raise NotImplementedError

    @property
    def largest_loss(self) -> float:
        """Unbounded, unless a subclass says otherwise."""
        return math.inf

    def nodes(self, reach: float) -> tuple[Array, Array]:
        """Losses and weights of a trapezoidal rule around every component of P."""
        grid, weight = _normal_nodes(reach + 3)
        means = [mean for _, mean in self.upper]
        x = np.concatenate([grid + mean for mean in means])
        weights = np.concatenate([w * weight for w, _ in self.upper])
        inside = (x >= min(means) - reach) & (x <= max(means) + reach)
        return self.loss(x[inside]), weights[inside]

    def ends(self, reach: float, floor: float) -> tuple[float, float]:
        """Losses at ``reach`` sd from the outer means of P."""
        means = [mean for _, mean in self.upper]
        low, high = self.loss(np.array([min(means) - reach, max(means) + reach])).tolist()
        return min(max(low, floor), high), max(high, 0.0)

    def lattice(self, step: float, reach: float, floor: float) -> Lattice:
        """Connect the dots between the ends."""
        low, high = self.ends(reach, floor)
        last = max(math.ceil(high / step), 1)
        first = min(math.floor(low / step), last - 1)
        edges = self.at(step * np.arange(first, last + 1, dtype=float))
        stay, rise = self.shares(first, step, edges)
        mass = np.concatenate([stay, [0.0]])
        mass[1:] += rise
        mass[0] += math.fsum(w * ndtr(edges[0] - mean) for w, mean in self.upper)
        beyond = math.fsum(w * ndtr(mean - edges[-1]) for w, mean in self.upper)
        return Lattice(first, mass, beyond)

    def shares(self, first: int, step: float, edges: Array) -> tuple[Array, Array]:
        """Mass of each cell that stays at its lower grid point and that rises to its upper one."""
        # Two edges where no loss comes are one, with nothing between them.
        with np.errstate(invalid="ignore"):
            width = np.diff(edges)
        kind = np.searchsorted(_NARROWS, width * max(1.0, self.shift), side="right")
        mass, gap = np.empty_like(width), np.empty_like(width)
        floor = step * np.arange(first, first + len(width), dtype=float)
        for i in range(3):
            part = kind == i
            if part.any():
                cells = floor[part], edges[:-1][part], edges[1:][part]
                mass[part], gap[part] = (
                    self._by_points(i, *cells) if i < 2 else self._by_tails(*cells)
                )
        rise = np.clip(gap / -math.expm1(-step), 0.0, mass)
        return mass - rise, rise

    def _by_points(self, rule: int, floor: Array, a: Array, b: Array) -> tuple[Array, Array]:
        half, (points, weights) = (b - a) / 2, _RULES[rule]
        x = ((a + b) / 2)[:, None] + half[:, None] * points
        weight = half[:, None] * weights * density(self.upper, x)
        gap = -np.expm1(np.minimum(floor[:, None] - self.loss(x), 0.0))
        return weight.sum(axis=1), (weight * gap).sum(axis=1)

    def _by_tails(self, floor: Array, a: Array, b: Array) -> tuple[Array, Array]:
        mass = np.exp(log_mass(self.upper, a, b))
        return mass, mass - np.exp(np.minimum(floor + log_mass(self.lower, a, b), 0.0))


class GaussianPair(MixturePair):
    """N(shift, 1) against N(0, 1)."""

    @property
    def upper(self) -> Components:
        """Components of the upper distribution: a single Gaussian at the shift."""
        return ((1.0, self.shift),)

    @property
    def lower(self) -> Components:
        """Components of the lower distribution: a single Gaussian at zero."""
        return ((1.0, 0.0),)

    def loss(self, x: Array) -> Array:
        """shift * x - shift^2 / 2."""
        return self.shift * (x - self.shift / 2)

    def at(self, loss: Array) -> Array:
        """Inverse of `loss`."""
        return loss / self.shift + self.shift / 2


@dataclass(frozen=True)
class SampledPair(MixturePair):
    """A Poisson-sampled Gaussian step whose record is in the sample with probability ``rate``."""

    rate: float

    def _mixture(self, mean: float) -> Components:
        return ((1 - self.rate, 0.0), (self.rate, mean))


class RemovePair(SampledPair):
    """The record is there under P only: (1-q) N(0) + q N(shift) against N(0)."""

    @property
    def upper(self) -> Components:
        """The sampled mixture."""
        return self._mixture(self.shift)

    @property
    def lower(self) -> Components:
        """Noise alone."""
        return ((1.0, 0.0),)

    def loss(self, x: Array) -> Array:
        """log(1 - q + q e^y), y the loss of the Gaussian that is not sampled."""
        return mixed(self.shift * (x - self.shift / 2), self.rate)

    def at(self, loss: Array) -> Array:
        """Inverse of `loss`; minus infinity at and below log(1 - q)."""
        q = self.rate
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            rising = np.log(np.exp(-np.maximum(loss, 0)) * q - np.expm1(-np.maximum(loss, 0)))
            falling = np.log(np.maximum(np.expm1(np.minimum(loss, 0)) + q, 0))
            y = np.where(loss > 0, loss + rising, falling) - math.log(q)
        return y / self.shift + self.shift / 2


class AddPair(SampledPair):
    """The record is there under Q only: N(0) against (1-q) N(0) + q N(-shift)."""

    @property
    def largest_loss(self) -> float:
        """-log(1 - q): noise alone is never much likelier without the record."""
        return -math.log1p(-self.rate)

    @property
    def upper(self) -> Components:
        """Noise alone."""
        return ((1.0, 0.0),)

    @property
    def lower(self) -> Components:
        """The sampled mixture."""
        return self._mixture(-self.shift)

    def loss(self, x: Array) -> Array:
        """Minus the loss of the removal, mirrored so that it increases."""
        return -mixed(-self.shift * (x + self.shift / 2), self.rate)

    def at(self, loss: Array) -> Array:
        """Inverse of `loss`; infinite at and above -log(1 - q)."""
        return -RemovePair(self.shift, self.rate).at(-loss)


class ReplacePair(SampledPair):
    """Antipodal contributions: (1-q) N(0) + q N(shift) against (1-q) N(0) + q N(-shift).

    It dominates for all contributions of norm at most C in any dimension: with G the noise and s
    its quantile of the same mass, a sampled half-space {S - g} has mass at most Phi(s + shift).
    """

    @property
    def upper(self) -> Components:
        """Mixture with the record at +C."""
        return self._mixture(self.shift)

    @property
    def lower(self) -> Components:
        """Mixture with the record at -C."""
        return self._mixture(-self.shift)

    def loss(self, x: Array) -> Array:
        """Difference of the two removal losses; odd in x."""
        up, down = self.shift * (x - self.shift / 2), -self.shift * (x + self.shift / 2)
        return mixed(up, self.rate) - mixed(down, self.rate)

    def at(self, loss: Array) -> Array:
        """x = (t/2 + arcsinh((1-q)/q e^{shift^2/2} sinh(t/2))) / shift, the root of a quadratic."""
        half = np.abs(loss) / 2
        lift = math.log1p(-self.rate) - math.log(self.rate) + self.shift**2 / 2
        with np.errstate(divide="ignore"):
            log_arg = lift + half + np.log(-np.expm1(-2 * half) / 2)
        small = np.arcsinh(np.exp(np.minimum(log_arg, 20.0)))
        root = np.where(log_arg < 20.0, small, log_arg + math.log(2))
        return np.copysign((half + root) / self.shift, loss)


_NEAR, _RARE = (
    30.0,
    1e-3,
)  # exponents up to which, unless few do not move, digits of small losses are kept
_KNOTS, _NODES = 2049, 601
_ROUNDS, _HALVINGS = 60, 100
_QUADRATIC = 1e-8
_WIDEST = 1e6  # sd beyond which no loss is looked for


def _log_ratio(components: Components, x: Array) -> tuple[Array, Array]:
    """log of a mixture's density over that of noise alone, and its slope."""
    exponents = [mean * (x - mean / 2) for _, mean in components]
    top = np.max(exponents, axis=0)
    lazy = components[0][1] == 0 and components[0][0] >= _RARE
    base = np.where((top < _NEAR) & lazy, 0.0, top)
    rise, grown, slope = np.zeros(x.shape), np.zeros(x.shape), np.zeros(x.shape)
    for (weight, mean), y in zip(components, exponents):
        rise += weight * np.expm1(np.minimum(y, _NEAR))
        ratio = weight * np.exp(y - base)
        grown += ratio
        slope += mean * ratio
    with np.errstate(divide="ignore", invalid="ignore"):
        small, large = np.log1p(rise), base + np.log(grown)
    return np.where((top < _NEAR) & lazy, small, large), slope / grown


@dataclass(frozen=True)
class MovedPair(MixturePair):
    """Unit noise whose mean moves up under P and down under Q, by one of ``moves`` times ``shift``.

    Parameters
    ----------
    shift : float
        Largest of the moves over the noise's sd.
    moves : tuple of float
        Rising parts of ``shift``; the first is 0.
    up, down : tuple of float
        Their probabilities under P and under Q.
    """

    moves: tuple[float, ...]
    up: tuple[float, ...]
    down: tuple[float, ...]

    def _components(self, weights: tuple[float, ...], sign: float) -> Components:
        return tuple((w, sign * m * self.shift) for m, w in zip(self.moves, weights) if w > 0)

    @cached_property
    def upper(self) -> Components:  # type: ignore[override]
        """(weight, mean) of the components of P, with rising means."""
        return self._components(self.up, 1.0)

    @cached_property
    def lower(self) -> Components:  # type: ignore[override]
        """(weight, mean) of the components of Q, with falling means."""
        return self._components(self.down, -1.0)

    @property
    def largest_loss(self) -> float:
        """Unbounded, unless nothing moves under P."""
        return math.inf if any(self.up[1:]) else -self._least(self.lower) * (1 + 1e-15)

    @staticmethod
    def _least(components: Components) -> float:
        """log of the probability not to move."""
        weight, mean = components[0]
        if mean != 0:
            return -math.inf
        moved = math.fsum(w for w, _ in components[1:])
        return math.log1p(-moved) if moved < 0.5 else math.log(weight)

    def loss(self, x: Array) -> Array:
        """Losses at the points x, which increase with them."""
        return self._loss_and_slope(x)[0]

    def _loss_and_slope(self, x: Array) -> tuple[Array, Array]:
        (up, rise), (down, fall) = (_log_ratio(side, x) for side in (self.upper, self.lower))
        return up - down, rise - fall

    def at(self, loss: Array) -> Array:
        """Inverse of `loss` by Newton's steps between bounds; infinite where it never takes the value."""
        lowest = -math.inf if any(self.down[1:]) else self._least(self.upper)
        out = np.where(loss <= lowest, -math.inf, math.inf)
        asked = (loss > lowest) & (loss < self.largest_loss)
        if asked.any():
            out[asked] = self._between(loss[asked])
        return out

    def _between(self, wanted: Array) -> Array:
        """Points of losses that are taken; infinite where they are beyond `_WIDEST`."""
        ends = np.array([-1.0, 1.0])
        while ends[0] > -_WIDEST and self.loss(ends)[0] > wanted.min():
            ends[0] *= 2
        while ends[1] < _WIDEST and self.loss(ends)[1] < wanted.max():
            ends[1] *= 2
        knots = np.linspace(ends[0], ends[1], _KNOTS)
        known = np.maximum.accumulate(self.loss(knots))
        place = np.clip(np.searchsorted(known, wanted), 1, _KNOTS - 1)
        low, high = knots[place - 1], knots[place]
        x = np.clip(self._start(wanted, known, knots), low, high)
        for _ in range(_ROUNDS):
            loss, slope = self._loss_and_slope(x)
            error = loss - wanted
            low, high = np.where(error <= 0, x, low), np.where(error >= 0, x, high)
            with np.errstate(divide="ignore", invalid="ignore"):
                step = error / slope
            small = np.abs(step) * max(1.0, self.shift) <= _QUADRATIC
            inside = (x - step >= low) & (x - step <= high)
            x = np.where(small | inside, x - step, (low + high) / 2)
            if small.all():
                break  # the next of Newton's steps would be the square of this one
        else:
            x = low  # what is counted to the next cell only costs more
        x = np.where(wanted < known[0], -math.inf, x)
        return np.where(wanted > known[-1], math.inf, x)

    def _start(self, wanted: Array, known: Array, knots: Array) -> Array:
        """Points near the wanted ones: of many, cubic pieces between a few that are found first."""
        if len(wanted) <= 2 * _KNOTS:
            return np.interp(wanted, known, knots)
        some = np.linspace(wanted.min(), wanted.max(), _KNOTS)
        found = self._between(some)
        slope = self._loss_and_slope(np.clip(found, knots[0], knots[-1]))[1]
        place = np.clip(np.searchsorted(some, wanted), 1, _KNOTS - 1)
        width = some[1] - some[0]
        t = (wanted - some[place - 1]) / width
        a, b = found[place - 1], found[place]
        with np.errstate(divide="ignore", invalid="ignore"):
            left, right = width / slope[place - 1], width / slope[place]
            cubic = a + t * (left + t * (3 * (b - a) - 2 * left - right))
            cubic += t**3 * (left + right - 2 * (b - a))
        return np.where(np.isfinite(cubic), cubic, np.interp(wanted, known, knots))

    def ends(self, reach: float, floor: float) -> tuple[float, float]:
        """Losses beyond which P has what a normal law has beyond ``reach`` sd."""
        low, high = self.loss(np.array(self._tails(reach))).tolist()
        return min(max(low, floor), high), max(high, 0.0)

    def _tails(self, reach: float) -> tuple[float, float]:
        """Points below and above which P has so little."""
        most = float(ndtr(-reach))
        first, last = self.upper[0][1], self.upper[-1][1]
        out = []
        for sign, low, high in ((-1.0, -last, reach - first), (1.0, first, last + reach)):
            for _ in range(_HALVINGS):
                x = (low + high) / 2
                tail = math.fsum(w * ndtr(sign * mean - x) for w, mean in self.upper)
                low, high = (low, x) if tail <= most else (x, high)
            out.append(sign * high)
        return out[0], out[1]

    def lattice(self, step: float, reach: float, floor: float) -> Lattice:
        """Connect the dots between the ends."""
        return _lattice(self, step, reach, floor)

    def divided(self, step: float, reach: float, floor: float) -> Lattice:
        """The grid of `lattice`, which bounds of both sides ask for twice."""
        return super().lattice(step, reach, floor)

    def nodes(self, reach: float) -> tuple[Array, Array]:
        """Losses and weights of a trapezoidal rule between the tails."""
        low, high = self._tails(reach)
        x = np.linspace(low, high, max(_NODES, min(math.ceil(8 * (high - low)), 64 * _NODES)))
        weights = density(self.upper, x)
        return self.loss(x), weights / weights.sum()


@lru_cache(maxsize=4)
def _lattice(pair: MovedPair, step: float, reach: float, floor: float) -> Lattice:
    grid = pair.divided(step, reach, floor)
    grid.mass.setflags(write=False)
    return grid
