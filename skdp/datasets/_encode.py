"""A table to rows of norm at most 1, by its declaration alone.

Theorem. Let a table have m columns. A numeric column becomes one number in [-1, 1]; a
categorical one becomes a block of zeros with at most one 1. Each of the m blocks then has norm
at most 1, so the row has norm at most sqrt(m), and dividing by sqrt(m) leaves at most 1. No record
takes part in choosing the map, so it costs no privacy and commutes with replacing a record.

Numeric columns go to [-1, 1] and not to [0, 1]: a column that lives far from zero would spend
the row's norm on a constant, which the intercept already has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

if TYPE_CHECKING:
    from ._table import Table

__all__ = ["Array", "encode", "encoded_names", "root", "unit_interval"]

Array = np.ndarray[Any, Any]


def encode(table: Table, dtype: DTypeLike = np.float64) -> Array:
    """The encoded rows of ``table``; a missing number or an undeclared category becomes 0."""
    names = table.encoded_names
    # Column order: each declared column is written as one stretch of memory.
    X = np.zeros((len(table), len(names)), dtype=dtype, order="F")
    start = 0
    for name, column in table.columns.items():
        if name in table.categories:
            start += _one_hot(X, start, column, table.categories[name])
        else:
            X[:, start] = unit_interval(column, table.bounds[name], name in table.symlog)
            start += 1
    X /= root(len(table.columns), dtype)
    return np.ascontiguousarray(X)


def encoded_names(table: Table) -> tuple[str, ...]:
    """One name for each encoded column."""
    names = []
    for name in table.columns:
        if name in table.categories:
            names += [f"{name}={category}" for category in table.categories[name]]
        else:
            names.append(name)
    return tuple(names)


def unit_interval(column: ArrayLike, bounds: tuple[float, float], symlog: bool = False) -> Array:
    """Numbers to [-1, 1] by the declared bounds; clipped outside, 0 (the midpoint) if missing."""
    low, high = (float(bound) for bound in bounds)
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise ValueError(f"Bounds must be finite with low < high, got ({low}, {high}).")
    column = np.asarray(column, dtype=np.float64)
    if symlog:
        low, high, column = _symlog(low), _symlog(high), _symlog(column)
    # Halved first: low + high and high - low may each overflow.
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    return np.nan_to_num(np.clip((np.clip(column, low, high) - middle) / half, -1, 1), nan=0.0)


def _one_hot(X: Array, start: int, column: Array, categories: tuple[str, ...]) -> int:
    for offset, category in enumerate(categories):
        X[:, start + offset] = column == category
    return len(categories)


def _symlog(x: ArrayLike) -> Any:
    return np.sign(x) * np.log1p(np.abs(x))


def root(m: int, dtype: DTypeLike) -> Any:
    """A little more than sqrt(m), so that the theorem survives the rounding of the quotients."""
    kind = np.dtype(dtype).type
    return kind(np.sqrt(max(m, 1)) * (1 + 4 * np.finfo(kind).eps))
