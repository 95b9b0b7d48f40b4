"""Data with its public declaration: what may be known of every column before a record is seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy.special import expit

from ..fitting.data import Array
from ..preprocessing._blocks import NumberBlock, ValueBlock, assemble, root
from ..preprocessing._declaration import (
    Categories,
    Declared,
    Numbers,
    of_numbers,
    reading,
    refuse_ambiguous,
    undone,
)

__all__ = [
    "Array",
    "Matrix",
    "Table",
    "cells_as_declared",
    "encode",
    "encoded_names",
    "labels_by_chance",
    "reading_of",
    "root",
]


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


def cells_as_declared(columns: Sequence[Declared], n: int, seed: Sequence[int]) -> Array:
    """Cells that are drawn evenly: numbers between their bounds, on their scale, and declared values.

    Parameters
    ----------
    columns : sequence of Numbers or Categories
        What is declared of each.
    n : int
        Rows.
    seed : sequence of int
        Of the draws.

    Returns
    -------
    ndarray of object of shape (n, d)
    """
    rng = np.random.default_rng(seed)
    cells: Any = np.empty((n, len(columns)), dtype=object)
    for j, declared in enumerate(columns):
        if isinstance(declared, Numbers):
            cells[:, j] = undone(rng.uniform(-1.0, 1.0, n), declared)
        else:
            codes = rng.integers(0, len(declared.values), n)
            cells[:, j] = [declared.values[code] for code in codes]
    return np.asarray(cells)


def labels_by_chance(
    rows: Array, cut: int, signal: float, seed: Sequence[int]
) -> tuple[Array, Array]:
    """Labels whose log-odds are a random linear score of the rows, and what the score itself would say.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Encoded.
    cut : int
        Rows from which the score is scaled.
    signal : float
        Deviation of the log-odds.
    seed : sequence of int
        Of the draws.

    Returns
    -------
    labels, known : ndarray of shape (n,)
        0 and 1.
    """
    rng = np.random.default_rng(seed)
    scores = rows @ rng.normal(size=rows.shape[1])
    scores -= scores[:cut].mean()
    scores *= signal / max(float(scores[:cut].std()), np.finfo(np.float64).tiny)
    labels = rng.random(len(rows)) < expit(scores)
    return labels.astype(int), (scores > 0.0).astype(int)


@dataclass(frozen=True)
class Table:
    """Named columns, a target, and the facts about them that are public.

    Parameters
    ----------
    name : str
        What the table is called.
    columns : dict of str to ndarray
        One array per column; numbers for a numeric column, strings for a categorical one.
    target : ndarray of shape (n,)
        Class codes (0, 1, ...) or numbers.
    bounds : dict of str to (low, high)
        Declared range of each numeric column, in its own unit.
    categories : dict of str to tuple of str
        Declared categories of each categorical column.
    symlog : frozenset of str
        Numeric columns declared heavy-tailed: ``sign(x) * log1p(|x|)`` is what gets scaled.
    target_names : tuple of str, optional
        The declared classes, in the order of their codes; None for a number to predict.
    target_bounds : (low, high), optional
        Declared range of a number to predict.
    assumed : frozenset of str
        Columns (the target too) whose range no documentation gives: it was set with the data
        in view and is *treated* as public. Fine for a benchmark, never for data to protect.
    split : ndarray of str, optional
        The source's own division into ``"train"`` and ``"test"``.
    log : frozenset of str
        Numeric columns of positive bounds whose logarithm is what gets scaled.

    See Also
    --------
    Matrix : Numbers only, as one array.
    load_csv : A table from your own file.

    Examples
    --------
    >>> from skdp.datasets import make_census
    >>> table = make_census(n_samples=100, random_state=0)
    >>> X, y = table.encode(), table.target
    >>> X.shape == (100, len(table.encoded_names))
    True
    """

    name: str
    columns: Mapping[str, Array]
    target: Array
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    symlog: frozenset[str] = frozenset()
    target_names: tuple[str, ...] | None = None
    target_bounds: tuple[float, float] | None = None
    assumed: frozenset[str] = frozenset()
    split: Array | None = None
    log: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        undeclared = [c for c in self.columns if (c in self.bounds) == (c in self.categories)]
        if undeclared:
            raise ValueError(
                f"Column {undeclared[0]!r} of table {self.name!r} needs exactly one declaration: "
                "put it in `bounds` or in `categories`."
            )
        for name, categories in {**self.categories, "target": self.target_names or ()}.items():
            refuse_ambiguous(name, categories)

    def __len__(self) -> int:
        return len(self.target)

    def __repr__(self) -> str:
        return f"Table({self.name!r}, {len(self.columns)} columns)"

    def scale(self, name: str) -> str:
        """Return the scale on which a numeric column is mapped to [-1, 1].

        Parameters
        ----------
        name : str
            A column with bounds.

        Returns
        -------
        {"linear", "log", "symlog"}
        """
        return "symlog" if name in self.symlog else "log" if name in self.log else "linear"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(self.columns)

    @property
    def encoded_names(self) -> tuple[str, ...]:
        """Names of the columns of ``encode()``: fixed by the declaration, not by the data."""
        return encoded_names(self)

    @property
    def declaration(self) -> dict[str, Any]:
        """Public declaration of the columns, as ``TableEncoder.from_declaration`` takes it.

        Examples
        --------
        >>> from skdp.datasets import make_census
        >>> make_census(n_samples=1000).declaration["age"]
        [17, 90]
        """
        numbers = {
            name: [*pair, *([] if self.scale(name) == "linear" else [self.scale(name)])]
            for name, pair in self.bounds.items()
        }
        words = {name: {"categories": [*values]} for name, values in self.categories.items()}
        return {name: (numbers | words)[name] for name in self.columns}

    def reading(self) -> str:
        """Return the reading of the declaration as text, one line a column.

        Returns
        -------
        str
            Lines to check before anything is fitted.
        """
        return reading_of(self)

    def encode(self, dtype: DTypeLike = np.float64) -> Array:
        """Rows of norm at most 1, by the declaration alone.

        Parameters
        ----------
        dtype : numpy dtype, default=float64
            float32 halves the memory.

        Returns
        -------
        ndarray of shape (n, number of encoded columns)
            Numeric columns on [-1, 1], categories as indicators, all over the square root of
            the number of columns.
        """
        return encode(self, dtype)

    def take(self, index: Array | slice) -> Table:
        """Return a table of the chosen rows with the same declaration.

        Parameters
        ----------
        index : array of int or bool, or slice
            Rows to keep.

        Returns
        -------
        Table
            New table, which shares the declaration.
        """
        return replace(
            self,
            columns={name: column[index] for name, column in self.columns.items()},
            target=self.target[index],
            split=None if self.split is None else self.split[index],
        )

    def drop(self, *names: str) -> Table:
        """Return a table without some columns.

        Parameters
        ----------
        *names : str
            Columns to leave out.

        Returns
        -------
        Table
            The columns that remain, in order.
        """
        absent = [name for name in names if name not in self.columns]
        if absent:
            raise ValueError(f"No column {absent[0]!r} to drop; there are {self.feature_names}.")
        return replace(self, columns={c: v for c, v in self.columns.items() if c not in names})


@dataclass(frozen=True)
class Matrix:
    """A numeric array, a target, and the public range of every column.

    Parameters
    ----------
    name : str
        What the data are called.
    X : ndarray of shape (n, d)
        The numbers as published, not scaled.
    target : ndarray of shape (n,)
        Class codes.
    lower, upper : ndarray of shape (d,)
        Declared range of each column.
    target_names : tuple of str
        The declared classes, in the order of their codes.
    assumed : bool
        True when no documentation gives the ranges: they are *treated* as public.
    split : ndarray of str, optional
        The source's own division into ``"train"`` and ``"test"``.

    See Also
    --------
    Table : With categories, and a declaration for each column.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.datasets import Matrix
    >>> X = np.array([[0.0, 255.0], [510.0, 0.0]])  # 510 is out of range: clipped
    >>> images = Matrix("two", X, np.array([0, 1]), np.zeros(2), np.full(2, 255.0), ("no", "yes"))
    >>> np.linalg.norm(images.encode(), axis=1).round(12).tolist()
    [1.0, 1.0]
    """

    name: str
    X: Array
    target: Array
    lower: Array
    upper: Array
    target_names: tuple[str, ...]
    assumed: bool = False
    split: Array | None = None

    def __len__(self) -> int:
        return len(self.target)

    def __repr__(self) -> str:
        return f"Matrix({self.name!r}, {self.X.shape[1]} columns)"

    def encode(self, dtype: DTypeLike = np.float64) -> Array:
        """Columns on [-1, 1] over the square root of their number: rows of norm at most 1.

        Parameters
        ----------
        dtype : numpy dtype, default=float64
            float32 halves the memory.

        Returns
        -------
        ndarray of shape (n, d)
            By the declared ranges alone; what lies outside is clipped.
        """
        middle = (np.asarray(self.upper, float) + self.lower) / 2
        half = (np.asarray(self.upper, float) - self.lower) / 2
        scaled = (self.X - middle.astype(dtype)) / half.astype(dtype)
        np.clip(scaled, -1, 1, out=scaled)
        scaled /= root(self.X.shape[1], dtype)
        return scaled
