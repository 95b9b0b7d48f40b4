"""A declared column to a block of numbers, and blocks to rows of norm at most 1: by the declaration alone.

Theorem. Let block j of a row have norm at most sqrt(q_j), whatever the record holds. Then the row has norm at most
sqrt(q_1 + ... + q_m), and dividing by that leaves at most 1. No record takes part in choosing the map, and each row is
a function of its own record, so the map costs no privacy and commutes with replacing, adding or removing a record.

* A number between bounds becomes one in [-1, 1], or a 0 beside a mark where it is missing: q = 1. Not [0, 1]: a column
  that lives far from zero would spend the row's norm on a constant, which the intercept already has.
* One of K values becomes one 1 among zeros, or none: q = 1.
* Or it becomes Helmert's contrasts, K - 1 orthonormal columns orthogonal to the constant: q = 1 - 1/K.
* The outer product of two blocks has the product of their norms: q = q_i q_j.

Declared columns and their places in a table; options that all transformers share.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from scipy.linalg import helmert

from ..entry import cells_of
from ..fitting.data import Array, as_text, codes
from ._declaration import Categories, Declared, Numbers, did_you_mean, unit_interval

__all__ = [
    "CONTRASTS",
    "OTHER",
    "UNKNOWN",
    "Block",
    "Column",
    "NumberBlock",
    "ValueBlock",
    "all_of",
    "assemble",
    "place_of",
    "refuse_unless",
    "refuse_word",
    "root",
]


OTHER: dict[type, str] = {Numbers: "DeclaredEncoder", Categories: "BoundsScaler"}


class Column(NamedTuple):
    """Declared column: its place in the table, its name, and its declaration."""

    place: int
    name: str
    declared: Declared

    def cells(self, table: Any) -> Any:
        """The cells of this column in a checked table; of numbers, as floats."""
        return cells_of(table, self.place, self.name, isinstance(self.declared, Numbers))


def refuse_unless(given: dict[str, Any]) -> None:
    """Refuse options of blocks that there are not.

    Parameters
    ----------
    given : dict
        contrasts, unknown, missing: those that a transformer has.
    """
    for name, known in (("contrasts", CONTRASTS), ("unknown", UNKNOWN)):
        if name in given:
            refuse_word(name, given[name], known)
    missing = given.get("missing", 0.0)
    number = isinstance(missing, int | float) and not isinstance(missing, bool)
    marked = isinstance(missing, str) and missing == INDICATOR
    if not marked and not (number and -1.0 <= missing <= 1.0):
        raise ValueError(
            f"missing={as_text(missing)} must be a place in [-1, 1] (0 is the midpoint of the bounds), or 'indicator'."
        )


def refuse_word(name: str, value: object, known: Collection[str]) -> None:
    """Refuse an unknown word for a parameter, and suggest the word that was probably meant."""
    if not isinstance(value, str) or value not in known:
        raise ValueError(
            f"{name}={as_text(value)} is not known; use one of {', '.join(map(repr, known))}"
            f"{did_you_mean(value, known)}."
        )


def all_of(columns: list[Column], names: list[Any]) -> list[Column]:
    """The columns in the order of the table, if none of it lacks a declaration."""
    bare = set(range(len(names))) - {column.place for column in columns}
    if bare:
        raise ValueError(
            f"Column {names[min(bare)]!r} has no declaration; declare it, or drop it before."
        )
    return sorted(columns, key=lambda column: column.place)


def place_of(key: Any, names: list[Any], named: bool) -> int:
    """Place of a declared column in a table."""
    if key in names and (named or isinstance(key, str)):
        return names.index(key)
    if (
        isinstance(key, int | np.integer)
        and not isinstance(key, bool)
        and -len(names) <= key < len(names)
    ):
        return int(key) % len(names)
    if isinstance(key, str) and not named:
        raise ValueError(
            f"Column {key!r} is declared by its name, and X has no names: pass a frame, or declare places 0, 1, ..."
        )
    raise ValueError(
        f"Column {key!r} is declared, but X does not have it{did_you_mean(key, names)}."
    )


CONTRASTS = ("helmert", "one-hot")
UNKNOWN = ("value", "zero", "refuse")
INDICATOR = "indicator"


class Block(Protocol):
    """Block of output columns that one input column becomes."""

    @property
    def width(self) -> int:
        """Number of output columns."""

    @property
    def squared(self) -> float:
        """Bound on the square of their norm."""

    def names(self, column: str) -> list[str]:
        """Return one name for each output column."""

    def write(self, column: ArrayLike, out: Array) -> None:
        """Fill `out`, of shape (n, width), from the cells of the column."""


@dataclass(frozen=True)
class NumberBlock:
    """A number between declared bounds.

    Parameters
    ----------
    declared : Numbers
        Bounds and scale.
    missing : float or "indicator"
        Where in [-1, 1] a missing number goes; or to 0, with a second column that is 1 for it.
    """

    declared: Numbers
    missing: float | str = 0.0

    squared = 1.0

    @property
    def width(self) -> int:
        """A second column marks missing numbers."""
        return 1 + (self.missing == INDICATOR)

    def names(self, column: str) -> list[str]:
        """The column's own, and that of the mark."""
        return [column, f"{column}=missing"][: self.width]

    def write(self, column: ArrayLike, out: Array) -> None:
        """The number on [-1, 1]."""
        unit = unit_interval(column, self.declared)
        absent = np.isnan(unit)
        if self.missing == INDICATOR:
            out[:, 1] = absent
        unit[absent] = 0.0 if self.missing == INDICATOR else float(self.missing)
        out[:, 0] = unit


@dataclass(frozen=True)
class ValueBlock:
    """Block of a column with declared values.

    Parameters
    ----------
    declared : Categories
        The values.
    contrasts : {"one-hot", "helmert"}
        Coding of the values.
    unknown : {"value", "zero", "refuse"}
        Treatment of undeclared values: they form a category of their own, leave the block at zero, or are refused.
    column : str
        Name of the column, for the error.
    """

    declared: Categories
    contrasts: str = "one-hot"
    unknown: str = "zero"
    column: str = ""

    @property
    def width(self) -> int:
        """Number of output columns: one for each value, and one less for contrasts."""
        return self.rows.shape[1]

    @property
    def squared(self) -> float:
        """A 1 among zeros, or a row of orthonormal columns beside the constant one."""
        return 1.0 if self.contrasts == "one-hot" else 1.0 - 1.0 / (self.width + 1)

    @cached_property
    def rows(self) -> Array:
        """Coding of each declared value, and in the last row of any other value."""
        kinds = len(self.declared.values) + (self.unknown == "value")
        told = np.eye(kinds) if self.contrasts == "one-hot" else helmert(kinds).T
        return told if self.unknown == "value" else np.vstack([told, np.zeros(told.shape[1])])

    def names(self, column: str) -> list[str]:
        """The column's with a value; for a contrast, the value that it tells from those before it."""
        values = [*self.declared.values, "(other)"][: len(self.rows) - (self.unknown != "value")]
        if self.contrasts == "one-hot":
            return [f"{column}={value}" for value in values]
        return [f"{column}:{value}" for value in values[1:]]

    def write(self, column: ArrayLike, out: Array) -> None:
        """The rows that belong to the values, a column at a time."""
        found = self.codes(column)
        for told, place in zip(self.rows.T, out.T):
            np.take(told.astype(place.dtype), found, out=place)

    def codes(self, column: ArrayLike) -> Array:
        """Place of each value among the declared ones, and after them for any other."""
        found = codes(column, self.declared.values)
        if self.unknown == "refuse" and (found == len(self.declared.values)).any():
            raise ValueError(
                f"Column {self.column!r} holds a value that is not among its declared ones: declare all that may "
                "occur, or set unknown='value'."
            )
        return found


def assemble(
    columns: Sequence[ArrayLike], blocks: Sequence[Block], n: int, dtype: DTypeLike = np.float64
) -> Array:
    """Blocks side by side, not yet divided by `root`; each written as one stretch of memory.

    Parameters
    ----------
    columns : sequence of array-like of shape (n,)
        Cells.
    blocks : sequence of Block
        What each column becomes.
    n : int
        Number of records.
    dtype : numpy dtype
        Of the numbers.

    Returns
    -------
    ndarray of shape (n, total width), in the order of Fortran
    """
    X = np.zeros((n, sum(block.width for block in blocks)), dtype=dtype, order="F")
    start = 0
    for column, block in zip(columns, blocks):
        block.write(column, X[:, start : start + block.width])
        start += block.width
    return X


def root(squares: Sequence[float] | int, dtype: DTypeLike = np.float64) -> Any:
    """A little more than the root of the sum of squared bounds, so that the theorem survives all rounding.

    Parameters
    ----------
    squares : sequence of float, or int
        Bounds of the blocks' squared norms, or the number of blocks of norm 1.
    dtype : numpy dtype
        In which rows are divided.

    Returns
    -------
    floating
    """
    kind = np.dtype(dtype).type
    total = squares if isinstance(squares, int) else math.fsum(squares)
    return kind(np.sqrt(total or 1.0) * (1.0 + 8.0 * np.finfo(kind).eps))
