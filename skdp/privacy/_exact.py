"""Pure prices as exact numbers: what the user wrote, added without rounding.

A number written as 0.1 is no double: the nearest double lies 5.5e-18 above it, and ten of those
doubles add up to more than 1. So a pure price, and the budget it is held against, are read as the
shortest decimal that prints the double (David Gay 1990), at most half an ulp away, and decimals are
added as fractions. What this gives away, and what covers it, is on docs/accounting.md.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, TypeAlias

from .curves import cost
from .events import AboveThreshold, BoundedRange, Event, Laplace, PoissonPure, PureDP

__all__ = ["Exact", "at_least", "at_most", "exact", "meant", "pure_price", "short"]

Exact: TypeAlias = "Fraction | float"  # a float only where it is infinite

_LONG = 10**120
_ROUND_OFF = 1e-15


def meant(value: float) -> Exact:
    """The number that the double prints as."""
    return Fraction(repr(float(value))) if math.isfinite(value) else math.inf


def exact(value: float) -> Exact:
    """The double itself as a fraction."""
    return Fraction(value) if math.isfinite(value) else math.inf


def short(value: Exact) -> Exact:
    """The number, rounded up if its denominator has grown beyond 120 digits."""
    if isinstance(value, float) or value.denominator < _LONG:
        return value
    return Fraction(-((-value.numerator * _LONG) // value.denominator), _LONG)


def at_least(value: Exact) -> float:
    """The smallest double that means no less."""
    near = float(value)
    while math.isfinite(near) and meant(near) < value:
        near = math.nextafter(near, math.inf)
    return near


def at_most(value: Exact) -> float:
    """The largest double that means no more."""
    near = float(value)
    while near > 0 and meant(near) > value:
        near = math.nextafter(near, 0.0)
    return near


def pure_price(event: Event, neighbors: str) -> Exact:
    """Epsilon of one reduced event: an exact sum of what was written, else rounded up."""
    price: Any = cost(event, "pure", neighbors)  # refuses what has none
    if isinstance(event, (PureDP, BoundedRange)):
        return meant(event.epsilon)
    if isinstance(event, PoissonPure):  # rounded up already
        return meant(price(event, neighbors))
    if isinstance(event, AboveThreshold):
        return meant(event.threshold_epsilon) + 2 * meant(event.query_epsilon)
    if isinstance(event, Laplace):
        noise = meant(event.multiplier)
        return 1 / noise if noise else math.inf
    return exact(price(event, neighbors) * (1 + _ROUND_OFF))
