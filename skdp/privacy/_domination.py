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

import numpy as np
from numpy.typing import NDArray

from . import accountants
from ._gaussian import gaussian_delta
from .events import Script

__all__ = ["Profile", "covering_mu", "profile_down_to"]

Array = NDArray[np.float64]

_NODES, _FINE = 24, 1500
_UP, _ROUND_OFF = 1 + 1e-9, 1e-15
_WORST = 4  # points at which a larger mu is looked for at a time


class Profile:
    """A bound of delta on [0, end], by convexity between nodes; beyond the end it is ``tail`` at most.

    Parameters
    ----------
    nodes : ndarray
        Epsilons, rising from 0.
    deltas : ndarray
        What delta is at most, there.
    """

    def __init__(self, nodes: Array, deltas: Array) -> None:
        self.nodes, self.deltas = nodes, _closed(nodes, np.minimum.accumulate(deltas))
        self.tail = float(self.deltas[-1])
        self.points: Array = np.linspace(0.0, nodes[-1], _FINE + 1)
        chords = np.interp(np.exp(self.points), np.exp(nodes), self.deltas)
        above = self.deltas[np.searchsorted(nodes, self.points, side="right") - 1]
        self.highest: Array = (chords * _UP + _ROUND_OFF * above)[
            :-1
        ]  # on [points[i], points[i + 1]]


def _closed(nodes: Array, deltas: Array) -> Array:
    """What both directions together imply: a point (e1, d1) bounds delta below e1 too.

    The pair that is worst at (e1, d1) has delta(e) = 1 - (1 - d1) (1 + e^e) / (1 + e^e1) for e < e1.
    """
    odds = 1 + np.exp(nodes)
    best = np.maximum.accumulate(((1 - deltas) / odds)[::-1])[::-1]
    return np.minimum(deltas, 1 - odds * best + _ROUND_OFF)


@lru_cache(maxsize=1024)
def profile_down_to(script: Script, neighbors: str, least: float) -> Profile | None:
    """The profile of a script up to where delta has come down to ``least``; None if it never does."""
    end = accountants.epsilon(script, least, neighbors) * _UP
    for _ in range(40):
        if not end < 700 or accountants.delta(script, end, neighbors) <= least:
            break
        end *= 1.01
    if not end < 700:
        return None
    nodes = np.linspace(0.0, max(end, 1e-300), _NODES + 1)
    deltas = [accountants.delta(script, float(e), neighbors) for e in nodes]
    return Profile(nodes, np.array(deltas))


def covering_mu(profile: Profile, shift: float, miss: float) -> float:
    """The least mu, rounded up, with which (shift, mu, miss) covers a script; infinite if none does."""
    if profile.tail > miss:
        return math.inf
    left, right = profile.highest, profile.points[1:]
    mu = 1e-12
    for _ in range(60):
        excess = np.log(left) - np.log(_covered(right, shift, mu, miss))
        worst = np.argsort(excess)[-_WORST:]
        if excess[worst[-1]] <= 0:
            return mu
        points, wanted = right[worst], left[worst]

        def covers(mu: float, points: Array = points, wanted: Array = wanted) -> bool:
            return bool(np.all(wanted <= _covered(points, shift, mu, miss)))

        mu = _least(covers, mu)
    return math.inf


def _covered(epsilons: Array, shift: float, mu: float, miss: float) -> Array:
    """What a triple leaves to delta(epsilon): its own and, of -epsilon, what the other direction leaves."""
    own = miss + gaussian_delta(epsilons - shift, mu)
    other = miss - math.expm1(-shift) + math.exp(-shift) * gaussian_delta(epsilons + shift, mu)
    return np.asarray(np.minimum(own, other) / _UP)


def _least(covers: Callable[[float], bool], low: float) -> float:
    """The least mu above ``low`` that covers, rounded up by 1e-5."""
    high = max(low, 1e-6)
    while not covers(high):
        low, high = high, 2 * high
        if high > 1e4:
            return math.inf
    while high - low > 1e-5 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if covers(middle) else (middle, high)
    return high
