"""Long arithmetic: integers, and decimals with settings of our own, which a program cannot change."""

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

__all__ = ["exp_minus", "long_arithmetic"]


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


def exp_minus(t: int, bits: int) -> tuple[int, int]:
    """Integers around 2^bits exp(-t 2^-bits), t 2^-bits at most 1: each term of the series errs by less than one."""
    total = term = 1 << bits
    k = 0
    while term:
        k += 1
        term = (term * t >> bits) // k
        total += -term if k & 1 else term
    return total - 2 * k - 2, total + 2 * k + 2
