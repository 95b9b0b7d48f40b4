"""Dominating pairs of Gaussian steps on a Poisson sample, and of Gaussian steps on everybody."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from ._pld_lattice import Array, Components, Lattice, density, log_mass

__all__ = ["AddPair", "GaussianPair", "MixturePair", "RemovePair", "ReplacePair", "mixed"]

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
