"""Price of the best of a random number of runs, from the profile of one run (docs/proofs/selection.md).

Let K have generating function phi, f be a trade-off curve of one run and D its profile. The best of K has

    delta(epsilon) <= E over l of sup over u of [phi'(1 - u) l - e^epsilon phi'(f(u))]+,

l the likelihood ratio of one run. The supremum is that of lines in l: with the vertices (g_k, w_k) of their lower
hull, ``delta(epsilon) <= sum of (g_k - g_{k-1}) D(epsilon + log r_k)``, r_k the hull's slopes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._cost_registry import register
from ._runs import CappedGeometricRuns, Runs
from ._scipy import ndtr
from .events import BestOf, Script

__all__ = ["BestOfCurve", "Curve", "composed_curve"]

Array = NDArray[np.float64]

_U = np.concatenate([[0.0], np.logspace(-10, 0, 15_000)])
_NODES, _CELLS, _LEAST, _FURTHEST = 100, 2000, 1e-14, 600.0
_LEVEL = 1.5  # of its lowest value, a curve counts as level
_COMPOSED = 400  # chords of a search that is composed with others
_CLOSED_UP = 2e-15
_UP, _DOWN = 1 + 1e-12, 1 - 1e-12
_ROUND_OFF = 1e-9  # of a sum whose terms are all positive


class Curve:
    """A profile that is known at some points and bounded by chords between them, for every real epsilon.

    Both directions count: delta(-e) = 1 - e^-e (1 - delta(e)). Delta is convex in e^epsilon, so chords lie above it.

    Parameters
    ----------
    profile : callable
        Delta at epsilon of 0 or more, the larger of both directions.
    least : float
        Delta below which nothing more is asked.
    cells : int
        Number of chords.
    """

    def __init__(
        self, profile: Callable[[float], float], least: float = _LEAST, cells: int = _NODES
    ) -> None:
        self.nodes = np.linspace(0.0, _end(profile, least), cells + 1)
        found = [min(1.0, profile(float(e))) for e in self.nodes]
        self.deltas = closed(self.nodes, np.array(found))
        self._odds = np.exp(self.nodes)

    def at(self, epsilons: Array) -> Array:
        """Delta at any real epsilons."""
        far = np.minimum(np.abs(epsilons), self.nodes[-1])
        found = np.interp(np.exp(far), self._odds, self.deltas)
        negative = np.minimum(epsilons, 0.0)
        below = -np.expm1(negative) + np.exp(negative) * found
        return np.minimum(np.where(epsilons < 0, below, found), 1.0)

    def tradeoff(self, u: Array) -> Array:
        """A lower bound on the type II error at each type I error."""
        out = np.zeros_like(u)
        for odds, delta in zip(self._odds.tolist(), self.deltas.tolist()):
            np.maximum(out, (1.0 - delta) - odds * u, out=out)
            np.maximum(out, ((1.0 - delta) - u) / odds, out=out)
        return np.minimum(out, 1.0 - u)


def closed(nodes: Array, deltas: Array) -> Array:
    """Falling deltas by both directions together: (t, d) bounds each earlier one by that of its worst pair.

    That pair has delta(e) = 1 - (1 - d) (1 + e^e) / (1 + e^t) for e < t (docs/proofs/curve_pairs.md).
    """
    odds = 1 + np.exp(nodes)
    best = np.maximum.accumulate(((1 - deltas) / odds)[::-1])[::-1]
    return np.minimum.accumulate(np.minimum(deltas, 1 - odds * best + _CLOSED_UP))


def _end(profile: Callable[[float], float], least: float) -> float:
    """Return an epsilon at which delta has fallen to `least`, or nearly as far as it ever does."""
    if profile(0.0) <= least:
        return 1e-12
    low, high = 0.0, 1e-3
    while profile(high) > least and high < _FURTHEST:
        low, high = high, min(2.0 * high, _FURTHEST)
    if (
        high == _FURTHEST and (lowest := profile(high)) > least
    ):  # a curve that is level from somewhere on
        low, least = 0.0, min(_LEVEL * lowest, 1.0)
    # Receipts that were filed are of the grid that 20 rounds make.
    for _ in range(20 if low else 40):
        middle = (low + high) / 2
        low, high = (low, middle) if profile(middle) <= least else (middle, high)
    return high


class BestOfCurve:
    """The profile of the best of K runs.

    Parameters
    ----------
    run : Curve
        Of one run.
    runs : Runs
        Law of K, with the slope of its generating function.
    """

    def __init__(self, run: Curve, runs: Runs) -> None:
        self._run = run
        gains = runs.slope(1.0 - _U)[:-1] * _UP
        costs = runs.slope(run.tradeoff(_U))[1:] * _DOWN
        # g falls and w falls with u: at the left end of a cell g, at its right end w.
        heights, levels = _lower_hull(gains[::-1], costs[::-1])
        self._rises = np.diff(heights)
        with np.errstate(divide="ignore"):
            self._shifts = np.log(np.diff(levels) / self._rises)

    def __call__(self, epsilon: float) -> float:
        """Delta at epsilon."""
        if not self._run.deltas[0]:  # all runs are alike, and so is their best
            return 0.0
        terms = self._rises * self._run.at(epsilon + self._shifts)
        return min(1.0, float(terms.sum()) * (1.0 + _ROUND_OFF))


def _lower_hull(x: Array, y: Array) -> tuple[Array, Array]:
    """Vertices, from the origin on, of the lower convex hull of points whose x rises."""
    xs, ys = [0.0], [0.0]
    for a, b in zip(x.tolist(), y.tolist()):
        while len(xs) > 1 and (ys[-1] - ys[-2]) * (a - xs[-1]) >= (b - ys[-1]) * (xs[-1] - xs[-2]):
            xs.pop()
            ys.pop()
        if a > xs[-1]:
            xs.append(a)
            ys.append(b)
    return np.array(xs), np.array(ys)


@lru_cache(maxsize=256)
def _curve_of(script: Script, neighbors: str) -> Curve:
    from . import accountants  # which price this event, and by it what it is made of

    return Curve(lambda epsilon: accountants.delta(script, epsilon, neighbors))


@lru_cache(maxsize=64)
def _of_event(event: BestOf, neighbors: str) -> BestOfCurve:
    """A run that draws its script: of each epsilon, the mean of the scripts' deltas."""
    parts = [
        (weight, _curve_of(script, neighbors))
        for script, weight in zip(event.scripts, event.weights)
        if weight > 0
    ]
    total = math.fsum(weight for weight, _ in parts)

    def run(epsilon: float) -> float:
        at = np.array([epsilon])
        return float(math.fsum(weight * float(curve.at(at)[0]) for weight, curve in parts) / total)

    same = len({id(curve) for _, curve in parts}) == 1
    one = parts[0][1] if same else Curve(lambda epsilon: run(epsilon) * _UP)
    return BestOfCurve(one, CappedGeometricRuns(event.mean, event.cap))


@lru_cache(maxsize=64)
def _chords(event: BestOf, neighbors: str) -> Curve:
    """The event's own profile by chords, for sums over the loss of what stands beside it."""
    return Curve(_of_event(event, neighbors), 1e3 * event.cap * _LEAST)


@lru_cache(maxsize=64)
def composed_curve(event: BestOf, neighbors: str) -> Curve:
    """The event's own profile by more chords and as far as it is known, for the loss distribution of several."""
    return Curve(_of_event(event, neighbors), cells=_COMPOSED)


@register(BestOf, "profile")
def _profile(event: BestOf, epsilon: Any, neighbors: str, extra_mu: float = 0.0) -> Any:
    """Alone, or beside a Gaussian: the mean over the Gaussian's loss, each cell of it at its upper end."""
    values = np.asarray(epsilon, float)
    if not extra_mu:
        curve, chords = _of_event(event, neighbors), _chords(event, neighbors)
        alone = np.array([_at(curve, e) for e in values.ravel()]).reshape(values.shape)
        return np.minimum(alone, chords.at(values))[()]
    if math.isinf(extra_mu):
        return np.ones(values.shape)[()]
    edges = np.linspace(-9.0, 9.0, _CELLS + 1)
    mass = np.append(np.diff(ndtr(edges), prepend=0.0), ndtr(-9.0))
    losses = np.append(extra_mu**2 / 2 + extra_mu * edges, np.inf)
    found = [_beside(_chords(event, neighbors), e - losses[:-1], mass) for e in values.ravel()]
    return np.array(found).reshape(values.shape)[()]


def _at(curve: BestOfCurve, epsilon: float) -> float:
    """Return delta at any epsilon, a negative one through the other direction."""
    if epsilon >= 0:
        return curve(epsilon)
    return min(1.0, -math.expm1(epsilon) + math.exp(epsilon) * curve(-epsilon))


def _beside(curve: Curve, epsilons: Array, mass: Array) -> float:
    return min(1.0, float(mass[:-1] @ curve.at(epsilons) + mass[-1]) * (1.0 + _ROUND_OFF))
