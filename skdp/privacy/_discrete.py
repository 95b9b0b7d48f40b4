"""Costs of events with countably many answers, and their dominating pairs, rounded up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._cost_registry import register
from ._costs import inverse_up, pure_mu, pure_renyi
from ._scipy import logsumexp
from .events import DiscreteGaussian, DiscreteLaplace, RandomizedResponse, WorstPair

__all__ = ["Outcomes", "outcomes"]

Array = NDArray[np.float64]

_UNIT = 4e-15  # relative: covers the rounding of a computed mass or loss
_LEAST = 1e-290  # answers that are rarer count as told for certain


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Rising losses and their masses in one direction, and what is at infinity."""

    losses: Array
    masses: Array
    infinite: float


@lru_cache(maxsize=64)
def outcomes(event: Any, neighbors: str) -> tuple[Outcomes, Outcomes]:
    """Both directions of an event's worst pair."""
    p, q = event.worst_pair(neighbors)
    removing, adding = _direction(p, q), _direction(q, p)
    return removing, (removing if _alike(removing, adding) else adding)


def _alike(one: Outcomes, other: Outcomes) -> bool:
    """Return whether both directions are one, as they are by symmetry but for the rounding of sums."""
    if len(one.losses) != len(other.losses):
        return False
    parts = ((one.losses, other.losses), (one.masses, other.masses))
    same = all(np.allclose(a, b, rtol=_UNIT / 4, atol=0.0) for a, b in parts)
    return same and one.infinite == other.infinite


def _direction(p: Array, q: Array) -> Outcomes:
    seen = (p > _LEAST) & (q > _LEAST)
    losses = np.log(p[seen] / q[seen])
    values, place = np.unique(losses, return_inverse=True)
    masses = np.asarray(np.bincount(place, weights=p[seen]) * (1 + _UNIT), np.float64)
    values = values + _UNIT * (1 + np.abs(values))
    lost = math.fsum(p[~seen]) + max(1.0 - math.fsum(p) - _UNIT, 0.0)
    return Outcomes(values, masses, lost * (1 + _UNIT))


@register(DiscreteGaussian, "zcdp")
def _discrete_rho(event: DiscreteGaussian, neighbors: str) -> float:
    """Return the rho of continuous noise, which holds here too (Canonne, Kamath and Steinke 2020, Theorem 4)."""
    return math.inf if event.sd == 0 else (event.shift / event.sd) ** 2 / 2 * (1 + _UNIT)


@register(DiscreteGaussian, "rdp")
def _discrete_renyi(event: DiscreteGaussian, orders: Array, neighbors: str) -> Array:
    return orders * _discrete_rho(event, neighbors)


def _epsilon(event: Any) -> float:
    if isinstance(event, RandomizedResponse):
        return float(event.epsilon)
    return float(event.shift * inverse_up(event.scale) * (1 + _UNIT))


def _pure(event: Any, neighbors: str) -> float:
    return _epsilon(event)


def _mu(event: Any, neighbors: str) -> float:
    return pure_mu(_epsilon(event))


def _rho(event: Any, neighbors: str) -> float:
    return _epsilon(event) ** 2 / 2


def _renyi(event: Any, orders: Array, neighbors: str) -> Array:
    return pure_renyi(_epsilon(event), orders)


for _kind in (DiscreteLaplace, RandomizedResponse):
    register(_kind, "pure")(_pure)
    register(_kind, "gdp")(_mu)
    register(_kind, "zcdp")(_rho)
    register(_kind, "rdp")(_renyi)


@register(WorstPair, "pure")
def _largest(event: WorstPair, neighbors: str) -> float:
    sides = outcomes(event, neighbors)
    if any(side.infinite for side in sides):
        return math.inf
    return max(float(side.losses[-1]) for side in sides)


@register(WorstPair, "rdp")
def _pair_renyi(event: WorstPair, orders: Array, neighbors: str) -> Array:
    """log of the mean of e^((a - 1) loss), the larger of both directions."""
    out = np.zeros(len(orders))
    for side in outcomes(event, neighbors):
        if side.infinite:
            return np.full(len(orders), math.inf)
        logs = np.multiply.outer(orders - 1, side.losses) + np.log(side.masses)
        found = logsumexp(logs, axis=1)
        out = np.maximum(out, found / (orders - 1))
    return out
