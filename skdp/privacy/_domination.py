"""A script as a shifted Gaussian: triples (c, mu, d) of which the adaptive composition is known.

A triple covers a script if, for every real epsilon and in both directions,

    delta(epsilon) <= d + H(epsilon - c, mu),

H being the profile of a Gaussian. The profile of the script is known at some points, and is convex
in e^epsilon, so that chords bound it in between; docs/proofs/shifted_ledger.md says how a mu is found.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import accountants
from ._gaussian import gaussian_delta
from ._scipy import brentq
from .events import Script

__all__ = ["Profile", "covering_mu", "profile_down_to"]

Array = NDArray[np.float64]

_NODES, _FINE = 30, 1500
_UP, _ROUND_OFF = 1 + 1e-9, 1e-15
_SOME = 60  # every so many points are looked at before all are
_WORST = 4  # points at which a larger mu is looked for then


class Profile:
    """A bound of delta on [0, end], by convexity between nodes; beyond the end it is the last one's at most.

    Parameters
    ----------
    nodes : ndarray
        Epsilons, rising from 0.
    deltas : ndarray
        What delta is at most, there.
    """

    def __init__(self, nodes: Array, deltas: Array) -> None:
        self.nodes, self.deltas = nodes, _closed(nodes, np.minimum.accumulate(deltas))
        self.points: Array = np.linspace(0.0, nodes[-1], _FINE + 1)
        chords = np.interp(np.exp(self.points), np.exp(nodes), self.deltas)
        above = self.deltas[np.searchsorted(nodes, self.points, side="right") - 1]
        self.highest: Array = (chords * _UP + _ROUND_OFF * above)[
            :-1
        ]  # on [points[i], points[i + 1]]


def _closed(nodes: Array, deltas: Array) -> Array:
    """Tighten deltas by both directions together: a point (e1, d1) bounds delta below e1 too.

    The pair that is worst at (e1, d1) has delta(e) = 1 - (1 - d1) (1 + e^e) / (1 + e^e1) for e < e1.
    """
    odds = 1 + np.exp(nodes)
    best = np.maximum.accumulate(((1 - deltas) / odds)[::-1])[::-1]
    return np.minimum(deltas, 1 - odds * best + _ROUND_OFF)


def profile_down_to(script: Script, neighbors: str, least: float) -> Profile | None:
    """The profile of a script up to where delta has come down to ``least``; None if it never does.

    Books of one ledger ask for deltas that are near one another: they share one, somewhat longer.
    """
    return _profile(script, neighbors, math.ldexp(1.0, 10 * ((math.frexp(least)[1] - 1) // 10)))


@lru_cache(maxsize=1024)
def _profile(script: Script, neighbors: str, least: float) -> Profile | None:
    end = accountants.epsilon(script, least, neighbors) * _UP
    for _ in range(40):
        if not end < 700 or accountants.delta(script, end, neighbors) <= least:
            break
        end *= 1.01
    if not end < 700:
        return None
    nodes = np.linspace(0.0, max(end, 1e-300), _NODES + 1)
    return Profile(nodes, accountants.profile(script, nodes, neighbors))


def covering_mu(profile: Profile, shift: float, miss: float) -> float:
    """The least mu, rounded up, with which (shift, mu, miss) covers a script; infinite if none does."""
    if profile.deltas[-1] > miss:
        return math.inf
    with np.errstate(divide="ignore"):  # a delta of 0 is covered by anything
        wanted, points = np.log(profile.highest), profile.points[1:]

    def excess(mu: float, some: Any) -> Array:
        return np.asarray(wanted[some] - np.log(_covered(points[some], shift, mu, miss)))

    def most(some: Any) -> Callable[[float], float]:
        return lambda mu: float(excess(mu, some).max())

    mu, some = 1e-12, np.arange(0, len(points), _SOME)
    for _ in range(60):
        mu = _least(most(some), mu)
        over = excess(mu, slice(None)) if mu < math.inf else np.zeros(1)
        if over.max() <= 0:
            return mu
        some = np.argsort(over)[-_WORST:]
    return math.inf


def _covered(epsilons: Array, shift: float, mu: float, miss: float) -> Array:
    """Bound delta(epsilon) by a triple: its own curve, or the other direction's at -epsilon where that is smaller."""
    own = miss + gaussian_delta(epsilons - shift, mu)
    other = miss - math.expm1(-shift) + math.exp(-shift) * gaussian_delta(epsilons + shift, mu)
    return np.asarray(np.minimum(own, other) / _UP)


def _least(excess: Callable[[float], float], low: float) -> float:
    """The least mu from ``low`` on at which a falling excess is not above 0, rounded up by 1e-5."""
    high, factor = low, 1.01
    while excess(high) > 0:
        low, high, factor = high, high * factor, min(factor**2, 4.0)
        if high > 1e4:
            return math.inf
    if low < high:
        low = float(brentq(excess, low, high, xtol=1e-6 * low, rtol=1e-6))
    while excess(low) > 0:
        low *= 1 + 1e-5
    return low
