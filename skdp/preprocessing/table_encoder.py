"""A mixed table to rows of norm at most 1, by its declaration.

Declared pairs of columns: products of two blocks, whose norm is the product of theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from os import PathLike
from typing import Any, NamedTuple, Self

import numpy as np

from ..fitting.data import Array, as_text
from ._blocks import Block, Column, NumberBlock, ValueBlock, refuse_unless, root
from ._declaration import Numbers, did_you_mean, read_file, undone
from ._transformer import ByDeclaration

__all__ = ["TableEncoder", "refuse_undeclared"]


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


def refuse_undeclared(declaration: Any, name: str) -> None:
    """Refuse a declaration that says nothing.

    Parameters
    ----------
    declaration : object
        As the user gave it.
    name : str
        Class of the estimator, for the sentence that refuses.
    """
    if declaration is None:
        raise ValueError(
            f"{name} needs a declaration of what is known without looking at the data: pass "
            "declaration={'age': [17, 90], 'sex': ['f', 'm']}, or (low, high) for all columns."
        )
    if isinstance(declaration, Mapping) and not declaration:
        raise ValueError("The declaration is empty; declare the columns to use.")


class TableEncoder(ByDeclaration):
    """Encode a table of numbers and categories so that each row has norm at most 1; `fit` reads no record.

    Numbers go to [-1, 1] by their bounds, categories to contrasts or ones, and all is divided by the root of the sum of
    what the blocks may have: the bound is a theorem and shortens no row. Columns without a declaration are left out.

    Parameters
    ----------
    declaration : dict or (low, high)
        What is public of each column by name or place: ``[low, high]`` or ``[low, high, "symlog"]`` for numbers, the
        list of values for categories, as in ``{"age": [17, 90], "sex": ["f", "m"]}``. For values that look like bounds
        there is the long form, ``{"zone": {"categories": [1, 2]}}``. Or one declaration for all columns. There is no
        default: what is not declared cannot be encoded.
    contrasts : {"helmert", "one-hot"}, default="helmert"
        Orthonormal contrasts of the categories, or a column for each.
    unknown : {"value", "zero", "refuse"}, default="value"
        A value that is not declared, or missing, is one more value; or becomes zeros; or is refused.
    missing : float or "indicator", default=0.0
        Where in [-1, 1] a missing number goes. "indicator" puts it to 0 and adds a column that marks it.
    interactions : list of (column, column), default=()
        Pairs of declared columns whose products are wanted besides, as in ``[("day", "month")]``: what the two say
        together. One to three pay, where there are records for them: about ``n * mu / 50`` columns in all.

    Attributes
    ----------
    row_norm_ : float
        1, before and after fit; a private estimator's ``data_norm``.

    See Also
    --------
    BoundsScaler : Numbers alone, with an inverse.
    DeclaredEncoder : Categories alone.
    skdp.datasets.load_csv : Reads and encodes a file by the same declaration.

    Examples
    --------
    >>> from skdp.preprocessing import TableEncoder
    >>> encoder = TableEncoder({0: [17, 90], 1: ["f", "m", "x"]}, contrasts="one-hot")
    >>> encoder.fit_transform([[90, "f"], [None, "?"]]).round(3).tolist()
    [[0.707, 0.707, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.707]]
    """

    declaration: Mapping[Any, Any] | tuple[Any, ...] | None = field(default=None, kw_only=False)
    contrasts: str = "helmert"
    unknown: str = "value"
    missing: float | str = 0.0
    interactions: Sequence[Any] = ()

    @classmethod
    def from_declaration(
        cls,
        declaration: Mapping[Any, Any] | str | PathLike[str],
        *,
        target: str | None = None,
        **options: Any,
    ) -> Self:
        """The encoder of a declaration in a dict or a file; what cannot be read is refused here.

        Parameters
        ----------
        declaration : dict or path
            A dict, or a JSON or csv file as `skdp.datasets.load_csv` takes it.
        target : str, default=None
            A declared column that is not to be encoded.
        **options : object
            Parameters of the encoder.

        Returns
        -------
        TableEncoder
        """
        given = dict(declaration if isinstance(declaration, Mapping) else read_file(declaration))
        if target is not None and target not in given:
            raise ValueError(f"The target {target!r} is not declared{did_you_mean(target, given)}.")
        encoder = cls({name: value for name, value in given.items() if name != target}, **options)
        encoder.reading()
        return encoder

    @property
    def row_norm_(self) -> float:
        """A theorem, see `skdp.preprocessing`."""
        return 1.0

    def _declaration(self) -> Any:
        refuse_undeclared(self.declaration, type(self).__name__)
        return self.declaration

    def _check(self) -> None:
        given = {"contrasts": self.contrasts, "unknown": self.unknown, "missing": self.missing}
        refuse_unless(given)

    def _settled(self, names: list[Any], named: bool) -> list[Column]:
        columns = super()._settled(names, named)
        pairs_of(self.interactions, columns, [self._block(column) for column in columns])
        return columns

    def _blocks(self) -> list[Block]:
        return [self._block(column) for column in self.columns_]

    def _block(self, column: Column) -> Block:
        if isinstance(column.declared, Numbers):
            return self._curve(column.declared)
        return ValueBlock(column.declared, self.contrasts, self.unknown, column.name)

    def _curve(self, declared: Numbers) -> Block:
        """Return the block that a number becomes."""
        return NumberBlock(declared, self.missing)

    def _pairs(self, given: Mapping[int, Any] | None = None) -> list[Pair]:
        named = [c._replace(name=str((given or {}).get(c.place, c.name))) for c in self.columns_]
        return pairs_of(self.interactions, self.columns_, self._blocks(), [c.name for c in named])

    def _names(self, given: Mapping[int, Any] | None = None) -> list[str]:
        products = (name for pair in self._pairs(given) for name in pair.names)
        return [*super()._names(given), *products]

    def describe_columns(self, points: int) -> Iterator[tuple[str, Array, Array, slice]]:
        """Yield what single columns become: of each the name, values, rows of its block, and their place in a row.

        Parameters
        ----------
        points : int
            Places of a number, from bound to bound of its scale. Of categories the declared values are shown.

        Yields
        ------
        name, values, rows, place : str, ndarray, ndarray, slice
        """
        start, factor = 0, self._factor()
        for column, block in zip(self.columns_, self._blocks()):
            declared, place = column.declared, slice(start, start + block.width)
            if isinstance(declared, Numbers):
                shown = undone(np.linspace(-1.0, 1.0, points), declared)
            else:
                shown = np.asarray(declared.values, dtype=object)
            rows = np.zeros((len(shown), block.width))
            block.write(shown, rows)
            yield column.name, shown, rows * factor, place
            start = place.stop

    def _root(self) -> float:
        """Return what blocks and products are divided by."""
        squares = [block.squared for block in self._blocks()]
        return float(root(squares + [pair.squared for pair in self._pairs()], np.float64))

    def _factor(self) -> float:
        """Return the factor between a block and its columns as they leave."""
        return 1.0 / self._root()

    def _finished(self, X: Array, cells: Sequence[Any]) -> Array:
        both = products(X, self._pairs())
        both /= self._root()
        return both
