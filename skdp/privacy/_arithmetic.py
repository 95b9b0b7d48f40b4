"""Floating-point errors as numpy handles them by default, and numbers that are printed on the safe side.

Prices underflow where a tail is next to nothing, and bounds account for that. A caller for whom such errors are fatal
must not be refused for it: what stands at a door of this room is decorated with `own_arithmetic`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import ParamSpec, TypeVar

import numpy as np

__all__ = ["divisions", "own_arithmetic", "round_down", "round_up"]


def divisions(total: int, kinds: int) -> Iterator[tuple[int, ...]]:
    """All ways of writing ``total`` as an ordered sum of so many whole numbers."""
    if kinds == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in divisions(total - first, kinds - 1):
            yield (first, *rest)


def round_up(value: float, digits: int = 6) -> str:
    """Return at most so many digits of a price, or of whatever is said to be at most this, rounded up.

    Parameters
    ----------
    value : float
        What is printed.
    digits : int
        How many significant digits.

    Examples
    --------
    >>> from skdp.privacy._arithmetic import round_down, round_up
    >>> round_up(0.12341, 3), round_up(1.00004, 4), round_up(1e-6, 3), round_down(0.12349, 3)
    ('0.124', '1.001', '1e-06', '0.123')
    """
    return _rounded(value, digits, ROUND_CEILING)


def round_down(value: float, digits: int = 6) -> str:
    """Return at most so many digits of what is left, or of whatever is said to be at least this, rounded down.

    Parameters
    ----------
    value : float
        What is printed.
    digits : int
        How many significant digits.
    """
    return _rounded(value, digits, ROUND_FLOOR)


def _rounded(value: float, digits: int, way: str) -> str:
    number = float(value)
    if number == 0.0 or not math.isfinite(number):
        return f"{number:g}"
    written = Decimal(repr(number))  # the shortest text that reads as this double: 0.1 stays 0.1
    unit = Decimal(1).scaleb(written.adjusted() - digits + 1)
    return f"{float(written.quantize(unit, way)):.{digits}g}"


_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")


def own_arithmetic(function: Callable[_Given, _Found]) -> Callable[_Given, _Found]:
    """Run a function under numpy's default handling of floating-point errors.

    Parameters
    ----------
    function : callable
        That prices something.

    Returns
    -------
    callable
        The same, by the same name.
    """

    @functools.wraps(function)
    def inside(*args: _Given.args, **kwargs: _Given.kwargs) -> _Found:
        with np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"):
            return function(*args, **kwargs)

    return inside
