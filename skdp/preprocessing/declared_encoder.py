"""Declared categories to numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar, cast

import numpy as np
from scipy.sparse import csr_array

from ..fitting.data import Array, as_text
from ._blocks import ValueBlock, refuse_unless, root
from ._declaration import Categories, Declared
from ._transformer import ByDeclaration

__all__ = ["DeclaredEncoder"]


class DeclaredEncoder(ByDeclaration):
    """Encode declared categories as numbers; `fit` reads no record.

    A vocabulary that is found in the data tells which rare values occur there. This one is declared, so each row is
    mapped by itself and neighbouring tables stay neighbouring tables, at no price.

    Parameters
    ----------
    categories : dict or list
        Of each column by name or place: ``{"sex": ["f", "m"]}``. Or one list for all columns. There is no default.
    contrasts : {"one-hot", "helmert"}, default="one-hot"
        A column for each value, or Helmert's orthonormal contrasts, which need one less: what they leave out is the
        constant, which the intercept has.
    unknown : {"value", "zero", "refuse"}, default="value"
        A value that is not declared, or missing, is one more value; or becomes zeros; or is refused.
    sparse_output : bool, default=False
        Whether to return a sparse array; for "one-hot".

    See Also
    --------
    TableEncoder : Numbers and categories at once.

    Examples
    --------
    >>> from skdp.preprocessing import DeclaredEncoder
    >>> encoder = DeclaredEncoder({0: ["f", "m"]})
    >>> encoder.fit_transform([["m"], [" f"], ["?"]]).tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    >>> encoder.get_feature_names_out().tolist()
    ['x0=f', 'x0=m', 'x0=(other)']
    """

    only: ClassVar[type] = Categories

    categories: Mapping[Any, Any] | Sequence[Any] | None = field(default=None, kw_only=False)
    contrasts: str = "one-hot"
    unknown: str = "value"
    sparse_output: bool = False

    @property
    def row_norm_(self) -> float:
        """Root of the sum of what the blocks may have."""
        given = self.categories
        if hasattr(self, "columns_"):
            read = [column.declared for column in self.columns_]
        elif isinstance(given, Mapping):
            read = [self._read(*item) for item in given.items()]
        else:
            raise AttributeError("row_norm_ is known after fit, which counts the columns.")
        return float(root([self._block(declared).squared for declared in read]))

    def _encoded(self, table: Any) -> Any:
        if not self.sparse_output:
            return super()._encoded(table)
        blocks = self._blocks()
        found = [b.codes(c.cells(table)) for b, c in zip(blocks, self.columns_)]
        return _sparse(found, blocks)

    def _declaration(self) -> Any:
        if self.categories is None:
            raise ValueError(
                "DeclaredEncoder needs the categories, known without looking at the data: pass "
                "categories={'sex': ['f', 'm']}, or one list for all columns."
            )
        return self.categories

    def _read(self, name: object, declared: Any) -> Declared:
        return super()._read(name, _values(declared))

    def _check(self) -> None:
        refuse_unless({"contrasts": self.contrasts, "unknown": self.unknown})
        if not isinstance(self.sparse_output, bool | np.bool_):
            raise ValueError(f"sparse_output={as_text(self.sparse_output)} must be True or False.")
        if self.sparse_output and self.contrasts != "one-hot":
            raise ValueError(
                "sparse_output=True needs contrasts='one-hot': contrasts have few zeros."
            )

    def _blocks(self) -> list[Any]:
        return [self._block(column.declared, column.name) for column in self.columns_]

    def _block(self, declared: Declared, name: str = "") -> ValueBlock:
        return ValueBlock(cast(Categories, declared), self.contrasts, self.unknown, name)


def _values(declared: Any) -> Any:
    """Read two numbers as values; in a table's declaration they would be bounds."""
    listed = isinstance(declared, list | tuple)
    numbers = listed and not any(isinstance(value, str) for value in declared)
    return {"categories": list(declared)} if numbers and len(declared) > 1 else declared


def _sparse(found: Sequence[Array], blocks: Sequence[Any]) -> Any:
    """Ones where the values are, a row after the other."""
    starts = np.cumsum([0, *(block.width for block in blocks)])
    places = np.stack([codes + start for codes, start in zip(found, starts)], axis=1)
    known = np.stack([codes < block.width for codes, block in zip(found, blocks)], axis=1)
    ends = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
    shape = (len(places), int(starts[-1]))
    return csr_array((np.ones(int(ends[-1])), places[known], ends), shape=shape)
