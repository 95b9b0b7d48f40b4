"""Reading of a single cell by its own content, whatever a reader of files made of its column.

A reader of files decides by all cells of a column what the column is: beside one word, numbers and booleans stay text.
So a cell must mean the same in every form in which it may come, or one record would turn the rows of all others:

* Text counts without the blanks around it, and bytes are text in UTF-8.
* "true" and "false" in any case are booleans, and booleans are the numbers 1 and 0.
* Text that spells a number is that number. Numbers are doubles, the nearest where a cell has more digits; -0 is 0.
* None, NaN, NaT, NA and their usual spellings (`MISSING`) are missing, and so is what is no text and no number.

A cell of single precision is the number that it holds: 0.1 in a float32 column is not the 0.1 of a text. No reader of
files makes such a column unasked.

Nothing here raises on a cell, or shows one.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ._arrays import Array, any_table, attempt, is_frame, table

__all__ = [
    "as_cells",
    "as_numbers",
    "cells_of",
    "codes",
    "find_ambiguous",
    "numbers_of",
    "read_cell",
]

# What pandas takes for a missing cell, in columns of text too; "nan" in any case spells the number NaN.
MISSING = frozenset(
    ("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "1.#IND", "1.#QNAN", "<NA>", "N/A")
    + ("NA", "NULL", "None", "n/a", "null")
)
PLAIN = frozenset(
    (str, int, float, bool, type(None))
)  # of which numpy makes the doubles that `float` makes
SPANS = np.datetime64, np.timedelta64  # the second counts as an integer


def read_cell(cell: Any) -> float | str | None:
    """Read one cell.

    Parameters
    ----------
    cell : object
        Of any kind.

    Returns
    -------
    float, str or None
        A number other than NaN, a text that spells none, or None where the cell is missing.
    """
    if isinstance(cell, bytes):
        cell = cell.decode(errors="replace")
    if isinstance(cell, str):
        return _read_text(cell)
    if hasattr(cell, "as_py"):  # a scalar of Arrow
        return read_cell(cell.as_py())
    if isinstance(cell, SPANS) or not isinstance(cell, numbers.Number | np.bool_):
        return None
    return _known(_as_double(cell))


def as_numbers(column: Any) -> Array:
    """Return the cells as doubles; a non-number is NaN.

    Parameters
    ----------
    column : array-like of shape (n,)
        Cells of any kind.

    Returns
    -------
    ndarray of shape (n,)
    """
    cells = as_cells(column)
    if cells.dtype.kind == "O" and PLAIN.issuperset(map(type, cells)):
        found, wrong = attempt(lambda: cells.astype(np.float64))
        cells = cells if wrong else found
    if cells.dtype.kind == "O":
        read = (_number(found) for found in _read_all(cells))
        return np.fromiter(read, dtype=np.float64, count=len(cells))
    with np.errstate(all="ignore"):
        return np.asarray(np.add(cells, 0.0, dtype=np.float64, casting="same_kind"))  # -0 is 0


def codes(column: Any, values: Sequence[Any] | Array) -> Array:
    """Return the place of each cell among declared values, or their number where it is none of them.

    Parameters
    ----------
    column : array-like of shape (n,)
        Cells of any kind.
    values : sequence or ndarray
        What is declared; no two that read alike, see `find_ambiguous`.

    Returns
    -------
    ndarray of int of shape (n,)
    """
    other = len(values)
    known: dict[Any, int] = {read_cell(value): place for place, value in enumerate(values)}
    known.pop(None, None)
    cells = as_cells(column)
    if cells.dtype.kind == "O":
        places = (known.get(found, other) for found in _read_all(cells))
        return np.fromiter(places, dtype=np.intp, count=len(cells))
    kinds, back = np.unique(as_numbers(cells), return_inverse=True)
    places = (known.get(kind, other) for kind in kinds.tolist())
    return np.fromiter(places, dtype=np.intp, count=len(kinds))[back]


def find_ambiguous(values: Iterable[Any]) -> tuple[Any, ...]:
    """Find the first declared values that no cell can be told by.

    Parameters
    ----------
    values : iterable
        What is declared.

    Returns
    -------
    tuple
        The first value that reads as a missing cell; or the first two that read alike; or nothing.
    """
    read: dict[Any, Any] = {}
    for value in values:
        found = read_cell(value)
        if found is None:
            return (value,)
        if found in read:
            return read[found], value
        read[found] = value
    return ()


def as_cells(column: Any) -> Array:
    """Return a column as numbers if its type says so, and else as one object for each cell.

    Parameters
    ----------
    column : array-like of shape (n,)
        Cells of any kind.

    Returns
    -------
    ndarray of shape (n,)
    """
    kind = getattr(column, "dtype", None)
    if isinstance(kind, np.dtype) and kind.kind in "biuf":
        return np.asarray(column)
    found, wrong = attempt(lambda: np.asarray(column, dtype=object))
    if wrong is None and found.ndim == 1:
        return np.asarray(found)
    cells = list(column)
    held = np.empty(len(cells), dtype=object)
    for place, cell in enumerate(cells):
        held[place] = cell
    return held


def _read_all(cells: Iterable[Any]) -> Iterable[float | str | None]:
    """Read each cell, and a text that occurs again once."""
    known: dict[str, float | str | None] = {}
    for cell in cells:
        if type(cell) is not str:
            yield read_cell(cell)
            continue
        if cell not in known:
            known[cell] = _read_text(cell)
        yield known[cell]


def _read_text(cell: str) -> float | str | None:
    text = cell.strip()
    try:
        return _known(float(text))
    except ValueError:
        pass
    word = text.lower()
    if word in ("true", "false"):
        return float(word == "true")
    return None if text in MISSING else text


def _as_double(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf
    except Exception:  # complex, or a NaN that signals
        return math.nan


def _known(number: float) -> float | None:
    return None if math.isnan(number) else number + 0.0


def _number(read: float | str | None) -> float:
    return read if isinstance(read, float) else math.nan


# --- Columns of a table ----------------------------------------------------------------------------------------------


def cells_of(table: Any, place: int, name: object, numbers: bool) -> Any:
    """The cells of a column; of numbers, as floats.

    Parameters
    ----------
    table : frame or ndarray
        Of any cells.
    place : int
        Which column.
    name : object
        Its name, for the error.
    numbers : bool
        Whether it holds numbers.

    Returns
    -------
    array-like of shape (n,)
    """
    cells = table[table.columns[place]] if is_frame(table) else table[:, place]
    kind = getattr(getattr(cells, "dtype", None), "kind", None)
    if kind is None:  # a column of polars; none of its cells is asked
        kind = attempt(lambda: np.asarray(cells[:0]).dtype.kind)[0]
    if kind in ("c", "m", "M"):
        raise ValueError(
            f"Column {name!r} holds {'complex numbers' if kind == 'c' else 'dates'}; convert them to real numbers."
        )
    return as_numbers(cells) if numbers else cells


def numbers_of(estimator: Any, X: Any, cells: str, *, reset: bool) -> Array:
    """Cells of all columns as doubles.

    Parameters
    ----------
    estimator : estimator
        Keeps the names and the number of columns.
    X : frame or array-like of shape (n_samples, n_features)
        What the user gave.
    cells : {"numbers", "any", "finite"}
        Whether each must be a number, or what is none is NaN; "finite": what is infinite is NaN too.
    reset : bool
        Whether this is a fit, which sets names and number.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
    """
    if cells == "numbers":
        return np.asarray(table(estimator, X, reset=reset, sparse=False), dtype=np.float64)
    found = any_table(estimator, X, reset=reset)
    if not is_frame(found) and found.dtype.kind in "biuf":
        x = np.asarray(found, dtype=np.float64)
    else:
        columns = range(estimator.n_features_in_)
        x = np.column_stack([cells_of(found, j, f"x{j}", True) for j in columns])
    return np.where(np.isfinite(x), x, np.nan) if cells == "finite" else x
