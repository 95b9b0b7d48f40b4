"""Dominating pairs of Gaussian noise on a sum that moves at random (docs/proofs/sampled_noise.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import ndtr

from ._pld_lattice import Array, Components, Lattice, density
from ._pld_pairs import MixturePair

__all__ = ["MovedPair"]

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
