"""Dominating pairs of Laplace noise on the sum over a Poisson sample (docs/proofs/sampled_noise.md).

Let a be the bound C of one record's contribution over the scale of the noise. Without sampling, the loss y of a record
that is removed has, under the law without it, the density e^{-(y + a)/2} / 4 between an atom of 1/2 at -a and one of
e^{-a}/2 at a. Under the law with it, that is multiplied by e^y. So all masses, and the shares of cells, are integrals
in closed form.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ._pld_lattice import Array, Lattice, rising_share
from ._pld_pairs import mixed

__all__ = ["LaplaceAddPair", "LaplaceRemovePair", "LaplaceReplacePair"]

_NODES = 800
_UNIT = 4e-15  # relative: covers the rounding of a computed loss at an end


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
        return low + _UNIT * abs(low), high + _UNIT * abs(high)

    @property
    def largest_loss(self) -> float:
        """Loss of the upper atom, rounded up."""
        return self._range[1]

    def nodes(self, reach: float) -> tuple[Array, Array]:
        """Midpoint rule between the atoms at the ends."""
        y = np.linspace(-self.shift, self.shift, _NODES + 1)
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
        high += _UNIT * (high + abs(self._least))
        return -high, high

    def nodes(self, reach: float) -> tuple[Array, Array]:
        """The positive losses and their image."""
        y = np.linspace(-self.shift, self.shift, _NODES + 1)
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
