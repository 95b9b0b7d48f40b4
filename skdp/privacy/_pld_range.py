"""Dominating pair of all selections of bounded range in a script, chosen one after the other in view of answers.

A selection of range b is dominated, for some t in [0, b], by a pair with the losses t and t - b (Dong, Durfee and
Rogers 2020), and which t is worst depends on the losses so far. So the profile of k of them obeys, for every real
epsilon,

    H_k(eps) = max over t of  p_t H_(k-1)(eps - t) + (1 - p_t) H_(k-1)(eps - t + b),   p_t = (1 - e^(t - b))/(1 - e^-b),

which docs/proofs/bounded_range.md proves, with the rounding of the maximum between grid points.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._costs import pure_mu
from ._gaussian import gaussian_epsilon
from ._pld_curve_pairs import CurvePair
from ._pld_lattice import Array

__all__ = ["FAINTEST_RANGED", "LARGEST_RANGE", "SMALLEST_RANGE", "RangePair", "range_pairs"]

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
