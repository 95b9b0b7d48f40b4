"""Dominating pairs of which a curve is known: symmetric pairs of a profile, and bundles on one Poisson sample."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from scipy.special import expit, gammaln, log_ndtr, ndtr

from ._best_of import closed, composed_curve
from ._discrete import Outcomes
from ._pld_pairs import MixturePair, RemovePair, ReplacePair
from ._pld_plan import Array, Components, Lattice
from .events import BestOf

__all__ = [
    "BestOfPair",
    "BundleAddPair",
    "BundleRemovePair",
    "BundleReplacePair",
    "CurvePair",
    "answers_of",
]

_UNIT = 2.3e-16
_NODES, _MOST_ANSWERS = 400, 128
_ROUNDS = 100  # of leaving points out
_FURTHEST = 700.0  # losses whose exponential is a double
_LOOKS = 100  # losses at which a bound is tuned first


class CurvePair:
    """The symmetric pair of a profile that holds in both directions.

    A profile is convex in e^epsilon, so chords between its values on the grid are the profile of a pair that dominates
    it. A chord's slope is the mass under Q above it: slopes are rounded up, and never fall towards zero.
    """

    def profile(self, losses: Array) -> Array:
        """Delta at rising epsilons of 0 or more, never below the truth of either direction."""
        raise NotImplementedError

    @property
    def largest_loss(self) -> float:
        """Unbounded, unless a subclass says otherwise."""
        return math.inf

    @property
    def furthest(self) -> float:
        """The loss up to which the profile is asked."""
        return _FURTHEST

    def nodes(self, reach: float) -> tuple[Array, Array]:
        """The pair on a coarse grid."""
        top = self.ends(reach, -math.inf)[1]
        grid = self.lattice(top / _NODES, reach, -math.inf)
        index = np.arange(grid.first, grid.first + len(grid.mass), dtype=float)
        return np.asarray(top / _NODES * index), grid.mass

    def ends(self, reach: float, floor: float) -> tuple[float, float]:
        """The loss beyond which there is less than a normal law has beyond ``reach`` sd, and its image."""
        top = _end(self, float(ndtr(-reach)))
        return -min(-floor, top), top

    def lattice(self, step: float, reach: float, floor: float) -> Lattice:
        """Chords of the profile between grid points; the negative side is the image of the positive one."""
        lowest_loss, top = self.ends(reach, floor)
        cells = max(math.ceil(top / step), 1)
        grid = step * np.arange(cells + 1, dtype=float)
        known = closed(grid, np.minimum(self.profile(grid), 1.0))
        kept, slopes = _convex(grid, known)
        down = np.zeros(cells + 1)
        down[kept[1:]] = -np.diff(np.append(slopes, 0.0))
        up = down * np.exp(grid) * (1 + 4 * _UNIT * (1 + grid))
        zero = max(1.0 - float(up.sum()) - float(down.sum()) - float(known[-1]), 0.0)
        lowest = min(max(math.ceil(-lowest_loss / step), 1), cells)
        down[lowest] += down[lowest + 1 :].sum()
        mass = np.concatenate([down[lowest:0:-1], [zero], up[1:]])
        return Lattice(-lowest, mass, float(known[-1]))


def _convex(grid: Array, known: Array) -> tuple[Any, Array]:
    """Points that a convex curve below ``known`` may go through, and chords' slopes in e^loss, rounded up.

    A chord between any points is above the curve. So points above the chord of their neighbours are left out; what is
    still not convex after some rounds is rounding, and slopes are raised for it.
    """
    kept = np.arange(len(grid))
    for _ in range(_ROUNDS):
        slopes = _slopes(grid[kept], known[kept])
        above = np.append(False, np.append(slopes[:-1] < slopes[1:], False))
        if not above.any():
            break
        kept = kept[~above]
    slopes = _slopes(grid[kept], known[kept]) * (1 + 8 * _UNIT)
    return kept, np.maximum.accumulate(slopes[::-1])[::-1]


def _slopes(losses: Array, known: Array) -> Array:
    """Fall per e^loss, so divided that no exponential overflows."""
    return np.asarray(-np.diff(known) / np.expm1(np.diff(losses)) * np.exp(-losses[:-1]))


@lru_cache(maxsize=256)
def _end(pair: CurvePair, least: float) -> float:
    """A loss, of a few, at which delta has come down to ``least``."""
    most = min(pair.largest_loss, pair.furthest)
    high = min(1e-3, most)
    while high < most and pair.profile(np.array([high]))[0] > least:
        high = min(2 * high, most)
    grid = np.linspace(0.0, high, 65)[1:]
    met = pair.profile(grid) <= least
    return float(grid[np.argmax(met)]) if met.any() else high


@dataclass(frozen=True)
class BestOfPair(CurvePair):
    """A search, by chords of its profile."""

    event: BestOf
    neighbors: str

    @property
    def furthest(self) -> float:
        """Return the epsilon from which delta is level, or next to nothing."""
        return float(composed_curve(self.event, self.neighbors).nodes[-1])

    def profile(self, losses: Array) -> Array:
        """Chords of the profile."""
        curve = composed_curve(self.event, self.neighbors)
        return np.asarray(curve.at(losses) * (1 + 1e-12))


@dataclass(frozen=True)
class OutcomesPair(CurvePair):
    """The symmetric pair of listed answers where either neighbour may come first: the larger of both profiles."""

    sides: tuple[Outcomes, ...]

    def profile(self, losses: Array) -> Array:
        """Sums of what is above each loss."""
        return np.max([self.of(side, losses) for side in self.sides], axis=0)

    @staticmethod
    def of(side: Outcomes, t: Array) -> Array:
        """Delta of one side at any real epsilons, rounded up."""
        losses, masses = side.losses, side.masses
        above = np.append(np.cumsum(masses[::-1])[::-1], 0.0)
        rest = np.append(np.cumsum((masses * np.exp(-losses))[::-1])[::-1], 0.0)
        first = np.searchsorted(losses, t, side="right")
        round_off = _UNIT * (len(losses) + 16) * above[first]
        return np.maximum(above[first] - np.exp(t) * rest[first], 0.0) + side.infinite + round_off


@lru_cache(maxsize=64)
def answers_of(epsilons: tuple[float, ...]) -> tuple[tuple[float, float], ...]:
    """Losses, and their masses under P, of randomised responses asked together.

    Responses of the smallest epsilons are made one of their sum, which dominates them, where the losses are too many.
    """
    counts = {e: epsilons.count(e) for e in sorted(set(epsilons))}
    while math.prod(k + 1 for k in counts.values()) > _MOST_ANSWERS:
        (first, k), *_ = counts.items()
        counts.pop(first)
        joined = [2 * first] * (k // 2) if k > 1 else [first + next(iter(counts), 0.0)]
        if k > 1:
            joined += [first] * (k % 2)
        else:
            other = next(iter(counts))
            counts[other] -= 1
        left = [e for e, n in counts.items() for _ in range(n)] + joined
        counts = {e: left.count(e) for e in sorted(set(left))}
    laws = [_responses(e, k) for e, k in counts.items()]
    out: dict[float, float] = {}
    for parts in product(*laws):
        loss = math.fsum(loss for loss, _ in parts)
        out[loss] = out.get(loss, 0.0) + math.prod(mass for _, mass in parts)
    return tuple(sorted(out.items()))


def _responses(epsilon: float, count: int) -> list[tuple[float, float]]:
    lies = np.arange(count + 1)
    truth = -math.log1p(math.exp(-epsilon))
    logs = lies * (truth - epsilon) + (count - lies) * truth
    logs += gammaln(count + 1) - gammaln(lies + 1) - gammaln(count - lies + 1)
    return [((count - 2 * j) * epsilon, math.exp(log)) for j, log in zip(lies.tolist(), logs)]


@dataclass(frozen=True)
class BundleRemovePair(MixturePair):
    """A Gaussian step and pure ones on one Poisson sample: (1-q) B + q A against B.

    A and B are the laws of all steps with and without the record. On the line of their summed loss, in units of
    ``shift``, both are mixtures of unit Gaussians, one for each sum of the pure losses.
    """

    rate: float
    epsilons: tuple[float, ...]

    def _with(self) -> Components:
        mu = self.shift
        return tuple((mass, loss / mu + mu / 2) for loss, mass in answers_of(self.epsilons))

    def _without(self) -> Components:
        mu = self.shift
        return tuple(
            (mass * math.exp(-loss), loss / mu - mu / 2) for loss, mass in answers_of(self.epsilons)
        )

    @property
    def upper(self) -> Components:
        """The sampled mixture."""
        taken = tuple((self.rate * w, mean) for w, mean in self._with())
        if self.rate == 1:
            return taken
        return tuple(((1 - self.rate) * w, mean) for w, mean in self._without()) + taken

    @property
    def lower(self) -> Components:
        """All steps without the record."""
        return self._without()

    def loss(self, x: Array) -> Array:
        """log(1 - q + q e^y), y the loss without sampling."""
        return RemovePair(self.shift, self.rate).loss(x + self.shift / 2)

    def at(self, loss: Array) -> Array:
        """Inverse of `loss`."""
        return RemovePair(self.shift, self.rate).at(loss) - self.shift / 2


class BundleAddPair(BundleRemovePair):
    """Pair of a bundle with the record under Q only, on the mirrored line."""

    @property
    def largest_loss(self) -> float:
        """-log(1 - q)."""
        return -math.log1p(-self.rate) if self.rate < 1 else math.inf

    @property
    def upper(self) -> Components:
        """All steps without the record."""
        return tuple((w, -mean) for w, mean in super().lower)

    @property
    def lower(self) -> Components:
        """The sampled mixture."""
        return tuple((w, -mean) for w, mean in super().upper)

    def loss(self, x: Array) -> Array:
        """Minus the loss of the removal, mirrored so that it increases."""
        return -super().loss(-x)

    def at(self, loss: Array) -> Array:
        """Inverse of `loss`."""
        return -super().at(-loss)


@dataclass(frozen=True)
class BundleReplacePair(CurvePair):
    """A Gaussian step and pure ones on one Poisson sample, under replace-one.

    For every w, with r = (1 - e^-t) (1 - q) / q e^w and y = t + log(1 + r),
    delta(t) <= q (r H(y - w; 1) + H(y; 2)) / (1 + r), H(.; k) the profile of all steps without sampling where the
    Gaussian moves by k shifts (docs/proofs/curve_pairs.md). Any w is sound; nearly the best is found.
    """

    shift: float  # C / sd
    rate: float
    epsilons: tuple[float, ...]

    def profile(self, losses: Array) -> Array:
        """The bound with nearly the best w at each loss."""
        some = losses
        if len(losses) > _LOOKS:
            some = np.append(losses[0], np.geomspace(losses[1], losses[-1], _LOOKS))
        if self.rate == 1:
            return np.minimum(self._bound(losses, np.zeros(len(losses))), 1.0)
        start = self.shift * (ReplacePair(self.shift, self.rate).at(some) + self.shift / 2)
        shares = np.linspace(0.0, 1.25, 26)
        bounds = np.array([self._bound(some, share * start) for share in shares])
        found = self._better(some, shares[bounds.argmin(axis=0)] * start, 6)
        if len(losses) > _LOOKS:
            found = self._better(losses, np.interp(losses, some, found), 3)
        return np.minimum(self._bound(losses, found), 1.0)

    def _better(self, t: Array, w: Array, rounds: int) -> Array:
        """Newton's steps towards the w at which both tests err equally often."""
        for _ in range(rounds):
            share, x, y = self._thresholds(t, w)
            (one, slope), (other, fall) = self._above(x, 1.0), self._above(y, 2.0)
            with np.errstate(divide="ignore", invalid="ignore"):
                step = (one - other) / (slope * (1 - share) + fall * share)
            most = 0.5 * self.shift
            w = w - np.clip(np.nan_to_num(step, posinf=0.0, neginf=0.0), -most, most)
        return w

    def _thresholds(self, t: Array, w: Array) -> tuple[Array, Array, Array]:
        with np.errstate(divide="ignore"):
            logs = np.log(-np.expm1(-t)) + np.log((1 - self.rate) / self.rate) + w
        y = t + np.logaddexp(0.0, logs)
        return expit(logs), y - w, y

    def _bound(self, t: Array, w: Array) -> Array:
        share, x, y = self._thresholds(t, w)
        both = share * self._plain(x, 1.0) + (1 - share) * self._plain(y, 2.0)
        return np.asarray(self.rate * both * (1 + 32 * _UNIT))

    def _above(self, loss: Array, times: float) -> tuple[Array, Array]:
        """Probability and density of the loss of all steps without sampling above and at a value."""
        mu, tail, density = times * self.shift, np.zeros(len(loss)), np.zeros(len(loss))
        for offset, mass in answers_of(self.epsilons):
            x = np.maximum(loss - offset, -_FURTHEST) / mu - mu / 2
            tail += mass * ndtr(-x)
            density += mass * np.exp(-x * x / 2) / (mu * math.sqrt(2 * math.pi))
        return tail, density

    def _plain(self, epsilon: Array, times: float) -> Array:
        """Delta of all steps without sampling, rounded up."""
        mu, out = times * self.shift, np.zeros(len(epsilon))
        for loss, mass in answers_of(self.epsilons):
            left = np.maximum(epsilon - loss, -_FURTHEST)
            near, far = mu / 2 - left / mu, -mu / 2 - left / mu
            gain, cost = ndtr(near), np.exp(np.minimum(left + log_ndtr(far), 0.0))
            round_off = _UNIT * (64 + 4 * (near**2 + far**2))  # of tails at rounded points
            out += mass * (np.maximum(gain - cost, 0.0) + round_off * gain)
        return out
