"""Pure prices as exact numbers: what the user wrote, added without rounding.

A number written as 0.1 is no double: the nearest double lies 5.5e-18 above it, and ten of those
doubles add up to more than 1. So a pure price, and the budget it is held against, are read as the
shortest decimal that prints the double (David Gay 1990), at most half an ulp away, and decimals are
added as fractions. What this gives away, and what covers it, is on docs/accounting.md.

Amounts as whole numbers of 1e-60: prices are counted up and budgets down, and sums are exact.

Decimals of up to 60 places are counted as they are, so that ten times 0.1 is 1; whole numbers add in
a tenth of the time that fractions take.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, TypeAlias

from .curves import cost
from .events import AboveThreshold, BoundedRange, Event, Laplace, PoissonPure, PureDP

__all__ = [
    "Counted",
    "Exact",
    "amount",
    "at_least",
    "at_most",
    "down",
    "exact",
    "meant",
    "plus",
    "pure_price",
    "short",
    "up",
]


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


Counted: TypeAlias = "tuple[int, ...]"

_UNITS = 10**60


def up(*amounts: Exact) -> Counted | None:
    """Prices, counted up; None if one is infinite."""
    if any(math.isinf(a) for a in amounts):
        return None
    return tuple(
        -((-a.numerator * _UNITS) // a.denominator) for a in [Fraction(a) for a in amounts]
    )


def down(*amounts: Exact) -> Counted:
    """Budgets, counted down; one that is infinite holds all that can be counted."""
    return tuple(
        10**400 if math.isinf(a) else (Fraction(a).numerator * _UNITS) // Fraction(a).denominator
        for a in amounts
    )


def amount(count: int) -> Fraction:
    """Return the amount that a count of units stands for."""
    return Fraction(count, _UNITS)


def plus(total: Counted, ways: Iterable[Counted], caps: Counted) -> Counted | None:
    """The total with the first of the prices that goes in; None if none does."""
    for price in ways:
        after = tuple(map(operator.add, total, price))
        if all(map(operator.le, after, caps)):
            return after
    return None
