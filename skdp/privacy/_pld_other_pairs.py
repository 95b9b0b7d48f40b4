"""Dominating pairs of steps without replacement, of pure steps, of losses that are few, and of Laplace noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr

from ._discrete import Outcomes
from ._pld_lattice import Array, Lattice, density, rising_share
from ._pld_pairs import RemovePair
from ._sampled_pure import Atoms

__all__ = ["AtomPair", "LaplacePair", "ListedPair", "PurePair", "SwapPair"]


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
