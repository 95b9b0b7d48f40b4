"""A table to rows of norm at most 1, by its declaration alone; the theorem is in skdp/preprocessing/_blocks.py."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike

from ..fitting.data import Array
from ..preprocessing._blocks import NumberBlock, ValueBlock, assemble, root
from ..preprocessing._declaration import Categories, of_numbers, reading

if TYPE_CHECKING:
    from ._table import Table

__all__ = ["Array", "encode", "encoded_names", "reading_of", "root"]


def encode(table: Table, dtype: DTypeLike = np.float64) -> Array:
    """The encoded rows of ``table``; a missing number or an undeclared category becomes 0."""
    blocks = [block for _, block in _blocks(table)]
    X = assemble([*table.columns.values()], blocks, len(table), dtype)
    X /= root(len(blocks), dtype)
    return np.ascontiguousarray(X)


def encoded_names(table: Table) -> tuple[str, ...]:
    """Return one name for each encoded column."""
    return tuple(name for column, block in _blocks(table) for name in block.names(column))


def reading_of(table: Table) -> str:
    """Return the reading of the declaration as text, one line a column."""
    return reading((name, block.declared) for name, block in _blocks(table))


def _blocks(table: Table) -> Iterator[tuple[str, NumberBlock | ValueBlock]]:
    """Blocks of norm at most 1, a column each."""
    for name in table.columns:
        if name in table.categories:
            yield name, ValueBlock(Categories(table.categories[name]))
        else:
            yield name, NumberBlock(of_numbers(name, *table.bounds[name], table.scale(name)))
