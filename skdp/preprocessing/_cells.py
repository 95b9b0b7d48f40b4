"""Cells of a column as numbers, or as places among declared values: each a function of its own cell alone.

What is no number is missing, and what is not declared is unknown: nothing here raises on a cell, or shows one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..fitting.data import Array, attempt

__all__ = ["Array", "as_numbers", "codes"]


def as_numbers(column: Any) -> Array:
    """Floats; what is no number (an empty field, ``?``, None) is NaN.

    Parameters
    ----------
    column : array-like of shape (n,)
        Cells of any kind.

    Returns
    -------
    ndarray of shape (n,)
    """
    found, wrong = attempt(lambda: np.asarray(column, dtype=np.float64))
    if wrong is None:
        return np.asarray(found)
    cells = _objects(column)
    return np.fromiter(map(_number, cells), dtype=np.float64, count=len(cells))


def codes(column: Any, values: Sequence[Any]) -> Array:
    """Place of each cell among declared values, or their number where it is none of them.

    Text counts without the blanks around it. A number and the text that spells it are the same value.

    Parameters
    ----------
    column : array-like of shape (n,)
        Cells of any kind.
    values : sequence
        What is declared.

    Returns
    -------
    ndarray of int of shape (n,)
    """
    known, other = _known(values), len(values)
    cells = _objects(column)
    found, wrong = attempt(lambda: np.frompyfunc(known.get, 2, 1)(cells, other).astype(np.intp))
    if wrong is not None:  # a cell that has no hash
        return np.fromiter((_look_up(cell, known, other) for cell in cells), np.intp, len(cells))
    for place in np.flatnonzero(found == other):
        found[place] = _look_up(cells[place], known, other)
    return np.asarray(found)


def _objects(column: Any) -> Array:
    """One object for each cell, whatever it holds."""
    found, wrong = attempt(lambda: np.asarray(column, dtype=object))
    if wrong is None and found.ndim == 1:
        return np.asarray(found)
    cells = list(column)
    held = np.empty(len(cells), dtype=object)
    for place, cell in enumerate(cells):
        held[place] = cell
    return held


def _number(cell: Any) -> float:
    try:
        return float(cell)
    except Exception:
        return math.nan


def _look_up(cell: Any, known: dict[Any, int], other: int) -> int:
    try:
        return known.get(cell.strip() if isinstance(cell, str) else cell, other)
    except Exception:
        return other


def _known(values: Sequence[Any]) -> dict[Any, int]:
    """Places of the values, and of other spellings of them that are no values themselves."""
    known = {value: place for place, value in enumerate(values)}
    for place, value in enumerate(values):
        for spelling in _spellings(value):
            known.setdefault(spelling, place)
    return known


def _spellings(value: Any) -> Iterator[Any]:
    if not isinstance(value, str):
        yield from (str(value), f"{value:g}")
    elif value in ("True", "False"):
        yield value == "True"
    elif not math.isnan(_number(value)):
        yield _number(value)
