"""Long arithmetic with settings of our own: what a program sets for its own decimals must not reach the noise."""

from __future__ import annotations

from decimal import (
    MAX_EMAX,
    MIN_EMIN,
    ROUND_HALF_EVEN,
    Context,
    DivisionByZero,
    InvalidOperation,
    Overflow,
    localcontext,
)
from typing import Any

__all__ = ["long_arithmetic"]


def long_arithmetic(digits: int) -> Any:
    """A context of that many digits, whose exponents have no end that is ever met."""
    return localcontext(
        Context(
            prec=digits,
            rounding=ROUND_HALF_EVEN,
            Emin=MIN_EMIN,
            Emax=MAX_EMAX,
            capitals=1,
            clamp=0,
            flags=[],
            traps=[InvalidOperation, DivisionByZero, Overflow],
        )
    )
