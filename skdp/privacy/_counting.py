"""Amounts as whole numbers of 1e-60: prices are counted up and budgets down, and sums are exact.

Decimals of up to 60 places are counted as they are, so that ten times 0.1 is 1; whole numbers add in
a tenth of the time that fractions take.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from fractions import Fraction
from typing import TypeAlias

from ._exact import Exact

__all__ = ["Counted", "amount", "down", "plus", "up"]

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
