"""Dominating pairs of one step, and their privacy losses put on a grid.

A pair (P, Q) is put on the grid {k * step} by connecting the dots (Doroshenko, Ghazi, Kamath, Kumar
and Manurangsi 2022): what falls between two neighbouring grid points is divided between them so that
its mass under P and its mass under Q are both kept. The result dominates the pair, and nothing on
the grid that dominates it is smaller. Dividing works on each cell alone, so no difference of a curve
is taken and tails keep their relative precision.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr

__all__ = [
    "AddPair",
    "GaussianPair",
    "LaplacePair",
    "Lattice",
    "Pair",
    "PurePair",
    "RemovePair",
    "ReplacePair",
    "SwapPair",
]

Array = NDArray[np.float64]
Components = tuple[tuple[float, float], ...]

_GAUSS_X, _GAUSS_W = np.polynomial.legendre.leggauss(5)
_NARROW = 0.3  # cells this wide (in sd) are integrated to 1e-15 by five points
_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)


@dataclass(frozen=True)
class Lattice:
    """Losses on a grid: ``mass[i]`` under P at ``(first + i) * step``, the rest at infinity."""

    first: int
    mass: Array
    infinite: float


class Pair(Protocol):
    """One step's dominating pair: enough of it to plan with, and a rigorous grid version."""

    @property
    def largest_loss(self) -> float:
        """Supremum of the loss."""
        ...

    def nodes(self, reach: float) -> tuple[Array, Array]:
        """Losses and their weights under P: a quadrature good enough to choose a grid by."""
        ...

    def lattice(self, step: float, reach: float) -> Lattice:
        """Loss distribution under P on the grid, never below the truth; tails end at ``reach``."""
        ...


def _log_interval(a: Array, b: Array) -> Array:
    """log(Phi(b) - Phi(a)) for a <= b, without cancellation in either tail."""
    flip = a > 0
    low, high = np.where(flip, -b, a), np.where(flip, -a, b)
    with np.errstate(divide="ignore", invalid="ignore"):
        top = log_ndtr(high)
        tail = top + np.log1p(-np.exp(log_ndtr(low) - top))
        middle = np.log(ndtr(high) - ndtr(low))
    out = np.where(high > 0, middle, tail)
    return np.where(b > a, out, -np.inf)


def _log_mass(components: Components, a: Array, b: Array) -> Array:
    parts = [math.log(w) + _log_interval(a - mean, b - mean) for w, mean in components]
    return np.logaddexp.reduce(parts, axis=0)


def _density(components: Components, x: Array) -> Array:
    out = np.zeros_like(x)
    for weight, mean in components:
        out += weight * np.exp(-0.5 * (x - mean) ** 2 - _LOG_SQRT_2PI)
    return out


def _mixed(y: Array, rate: float) -> Array:
    """log(1 - rate + rate * e^y), exact in relative terms near 0 and at large |y|."""
    small = np.minimum(y, 30.0)
    far = math.log(rate) + y + np.log1p((1 - rate) / rate * np.exp(-np.maximum(y, 30.0)))
    return np.where(y < 30.0, np.log1p(rate * np.expm1(small)), far)


def _normal_nodes(reach: float) -> tuple[Array, Array]:
    grid = np.linspace(-reach, reach, 241)
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
        grid, weight = _normal_nodes(reach)
        x = np.concatenate([grid + mean for _, mean in self.upper])
        return self.loss(x), np.concatenate([w * weight for w, _ in self.upper])

    def lattice(self, step: float, reach: float) -> Lattice:
        """Connect the dots between the losses at ``reach`` sd from the outer means of P."""
        means = np.array([mean for _, mean in self.upper])
        ends = self.loss(np.array([means.min() - reach, means.max() + reach]))
        first, last = math.floor(ends[0] / step), max(math.ceil(ends[1] / step), 1)
        first = min(first, last - 1)
        edges = self.at(step * np.arange(first, last + 1))
        stay, rise = self.shares(first, step, edges)
        mass = np.concatenate([stay, [0.0]])
        mass[1:] += rise
        mass[0] += math.fsum(w * ndtr(edges[0] - mean) for w, mean in self.upper)
        beyond = math.fsum(w * ndtr(mean - edges[-1]) for w, mean in self.upper)
        return Lattice(first, mass, beyond)

    def shares(self, first: int, step: float, edges: Array) -> tuple[Array, Array]:
        """Mass of each cell that stays at its lower grid point and that rises to its upper one."""
        width = np.diff(edges)
        narrow = width * max(1.0, self.shift) < _NARROW
        mass, gap = np.empty_like(width), np.empty_like(width)
        floor = step * np.arange(first, first + len(width))
        for part, integrate in ((narrow, self._by_points), (~narrow, self._by_tails)):
            if part.any():
                ends = edges[:-1][part], edges[1:][part]
                mass[part], gap[part] = integrate(floor[part], *ends)
        rise = np.clip(gap / -math.expm1(-step), 0.0, mass)
        return mass - rise, rise

    def _by_points(self, floor: Array, a: Array, b: Array) -> tuple[Array, Array]:
        half = (b - a) / 2
        x = ((a + b) / 2)[:, None] + half[:, None] * _GAUSS_X
        weight = half[:, None] * _GAUSS_W * _density(self.upper, x)
        gap = -np.expm1(np.minimum(floor[:, None] - self.loss(x), 0.0))
        return weight.sum(axis=1), (weight * gap).sum(axis=1)

    def _by_tails(self, floor: Array, a: Array, b: Array) -> tuple[Array, Array]:
        mass = np.exp(_log_mass(self.upper, a, b))
        return mass, mass - np.exp(np.minimum(floor + _log_mass(self.lower, a, b), 0.0))


class GaussianPair(MixturePair):
    """N(shift, 1) against N(0, 1)."""

    @property
    def upper(self) -> Components:
        """One Gaussian."""
        return ((1.0, self.shift),)

    @property
    def lower(self) -> Components:
        """One Gaussian."""
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
        return _mixed(self.shift * (x - self.shift / 2), self.rate)

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
        return -_mixed(-self.shift * (x + self.shift / 2), self.rate)

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
        return _mixed(up, self.rate) - _mixed(down, self.rate)

    def at(self, loss: Array) -> Array:
        """x = (t/2 + arcsinh((1-q)/q e^{shift^2/2} sinh(t/2))) / shift, the root of a quadratic."""
        half = np.abs(loss) / 2
        lift = math.log1p(-self.rate) - math.log(self.rate) + self.shift**2 / 2
        with np.errstate(divide="ignore"):
            log_arg = lift + half + np.log(-np.expm1(-2 * half) / 2)
        small = np.arcsinh(np.exp(np.minimum(log_arg, 20.0)))
        root = np.where(log_arg < 20.0, small, log_arg + math.log(2))
        return np.copysign((half + root) / self.shift, loss)


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

    def nodes(self, reach: float) -> tuple[Array, Array]:
        """Nodes of the removal pair with a positive loss, mirrored."""
        loss, weight = self._half.nodes(reach)
        up, mass = loss[loss > 0], weight[loss > 0]
        down = mass * np.exp(-up)
        rest = max(1 - mass.sum() - down.sum(), 0.0)
        return np.concatenate([up, -up, [0.0]]), np.concatenate([mass, down, [rest]])

    def lattice(self, step: float, reach: float) -> Lattice:
        """Connect the dots on the positive side; the negative side is its image."""
        half = self._half
        top = half.loss(np.array([self.shift + reach]))[0]
        cells = max(math.ceil(top / step), 1)
        edges = half.at(step * np.arange(cells + 1))
        edges[0] = self.shift / 2
        stay, rise = half.shares(0, step, edges)
        up = np.concatenate([stay, [0.0]])
        up[1:] += rise
        down = up * np.exp(-step * np.arange(cells + 1))
        far = edges[-1]
        infinite = math.fsum(w * ndtr(mean - far) for w, mean in half.upper)
        down[-1] += ndtr(-far)
        middle = self.shift / 2
        zero = (1 - self.rate) * math.erf(middle / math.sqrt(2))
        mass = np.concatenate([down[:0:-1], [up[0] + down[0] + zero], up[1:]])
        return Lattice(-cells, mass, infinite)


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

    def lattice(self, step: float, reach: float) -> Lattice:
        """Divide each of the two losses between its grid neighbours."""
        low = math.floor(-self.epsilon / step)
        losses, weights = self.nodes(reach)
        weights[0] = 1 / (1 + math.exp(min(self.epsilon, 700.0)))
        mass = np.zeros(math.floor(self.epsilon / step) + 2 - low)
        for loss, weight in zip(losses, weights):
            k = math.floor(loss / step)
            rise = min(max(math.expm1(k * step - loss) / math.expm1(-step), 0.0), 1.0)
            mass[k - low] += weight * (1 - rise)
            mass[k - low + 1] += weight * rise
        return Lattice(low, mass, 0.0)


@dataclass(frozen=True)
class LaplacePair:
    """Laplace noise whose mean moves by ``shift`` scales: a loss between -shift and shift."""

    shift: float

    @property
    def largest_loss(self) -> float:
        """The shift."""
        return self.shift

    def nodes(self, reach: float) -> tuple[Array, Array]:
        """Midpoint rule between the two atoms at the ends."""
        a = self.shift
        edges = np.linspace(-a, a, 401)
        inner = 0.5 * np.exp((edges[:-1] - a) / 2) * np.expm1(np.diff(edges) / 2)
        loss = np.concatenate([[-a], (edges[:-1] + edges[1:]) / 2, [a]])
        return loss, np.concatenate([[math.exp(-a) / 2], inner, [0.5]])

    def lattice(self, step: float, reach: float) -> Lattice:
        """Divide the density e^{(t - shift)/2} / 4 cell by cell, and the two atoms."""
        a = self.shift
        cells = math.floor(a / step) + 1
        floor = step * np.arange(-cells, cells)
        low, high = np.clip(floor, -a, a), np.clip(floor + step, -a, a)
        lift, width = low - floor, high - low
        mass = 0.5 * np.exp((low - a) / 2) * np.expm1(width / 2)
        gap = 2 * np.exp((floor - a) / 2) * np.sinh((2 * lift + width) / 4) * np.sinh(width / 4)
        rise = np.clip(gap / -math.expm1(-step), 0.0, mass)
        out = np.concatenate([mass - rise, [0.0]])
        out[1:] += rise
        share = min(max(math.expm1(floor[-1] - a) / math.expm1(-step), 0.0), 1.0)
        out[-2:] += 0.5 * np.array([1 - share, share])
        share = min(max(math.expm1(floor[0] + a) / math.expm1(-step), 0.0), 1.0)
        out[:2] += 0.5 * math.exp(-a) * np.array([1 - share, share])
        return Lattice(-cells, out, 0.0)
