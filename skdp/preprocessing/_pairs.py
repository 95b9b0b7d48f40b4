"""Declared pairs of columns: products of two blocks, whose norm is the product of theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..fitting.data import as_text
from ._blocks import Block
from ._cells import Array
from ._columns import Column
from ._reading import did_you_mean

__all__ = ["Pair", "pairs_of", "products"]


class Pair(NamedTuple):
    """Pair of blocks: the places of their columns, their names, and the bound of the products' squared norm."""

    one: tuple[int, ...]
    other: tuple[int, ...]
    names: list[str]
    squared: float


def pairs_of(
    interactions: Sequence[Any],
    columns: Sequence[Column],
    blocks: Sequence[Block],
    names: Sequence[str] | None = None,
) -> list[Pair]:
    """The declared pairs among settled columns.

    Parameters
    ----------
    interactions : sequence of (name, name)
        By name or place, as the columns were declared.
    columns : sequence of Column
        Declared ones.
    blocks : sequence of Block
        Theirs.
    names : sequence of str, default=None
        What the columns are called, where that is not as they were declared.

    Returns
    -------
    list of Pair
    """
    if not isinstance(interactions, list | tuple):
        raise ValueError(
            f"interactions={as_text(interactions)} must be a list of pairs of declared columns, as in "
            '[("day", "month")].'
        )
    starts = np.cumsum([0, *(block.width for block in blocks)])
    found, called = [], names or [str(column.name) for column in columns]
    for declared in interactions:
        if not isinstance(declared, list | tuple) or len(declared) != 2:
            raise ValueError(
                f"interactions holds {as_text(declared)}; write pairs of declared columns, as in "
                '[("day", "month")].'
            )
        one, other = (_find(key, columns) for key in declared)
        if one == other:
            raise ValueError(f"interactions pairs {declared[0]!r} with itself; name two columns.")
        places, told = [], []
        for at in (one, other):
            used = min(getattr(blocks[at], "paired", blocks[at].width), blocks[at].width)
            places.append(tuple(range(int(starts[at]), int(starts[at]) + used)))
            told.append(blocks[at].names(called[at])[:used])
        both = [f"{a} * {b}" for a in told[0] for b in told[1]]
        found.append(Pair(places[0], places[1], both, blocks[one].squared * blocks[other].squared))
    return found


def products(X: Array, pairs: Sequence[Pair]) -> Array:
    """The products of all pairs beside the columns that they are made of.

    Parameters
    ----------
    X : ndarray of shape (n, width)
        Blocks side by side, not yet divided.
    pairs : sequence of Pair
        Which.

    Returns
    -------
    ndarray of shape (n, width + products)
    """
    if not pairs:
        return X
    width = X.shape[1]
    both = np.empty((len(X), width + sum(len(pair.names) for pair in pairs)), X.dtype, order="F")
    both[:, :width] = X
    for pair in pairs:
        for a in pair.one:
            for b in pair.other:
                np.multiply(X[:, a], X[:, b], out=both[:, width])
                width += 1
    return both


def _find(key: Any, columns: Sequence[Column]) -> int:
    for at, column in enumerate(columns):
        if key in (column.name, column.place):
            return at
    names = [column.name for column in columns]
    raise ValueError(
        f"interactions names {as_text(key)}, which is not declared{did_you_mean(key, names)}."
    )
