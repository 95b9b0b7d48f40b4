"""Declared categories to numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from ..fitting.data import any_table
from ._blocks import ValueBlock, root
from ._cells import Array
from ._columns import cells_of, refuse_unless
from ._declaration import Categories, Declared
from ._transformer import ByDeclaration

__all__ = ["DeclaredEncoder"]


class DeclaredEncoder(ByDeclaration):
    """Encode declared categories as numbers; `fit` reads no record.

    A vocabulary that is found in the data tells which rare values occur there. This one is declared, so each row is
    mapped by itself and neighbouring tables stay neighbouring tables, at no price.

    Parameters
    ----------
    categories : dict or list, default=(0, 1)
        Of each column by name or place: ``{"sex": ["f", "m"]}``. Or one list for all columns.
    contrasts : {"one-hot", "helmert"}, default="one-hot"
        A column for each value, or Helmert's orthonormal contrasts, which need one less: what they leave out is the
        constant, which the intercept has.
    unknown : {"value", "zero", "refuse"}, default="value"
        A value that is not declared, or missing, is one more value; or becomes zeros; or is refused.
    sparse_output : bool, default=False
        Whether to return a sparse array; for "one-hot".

    Attributes
    ----------
    columns_ : list of (place, name, declared)
        The columns as declared.
    row_norm_ : float
        Public bound on the norm of a row that leaves; a private estimator's ``data_norm``.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of str
        Their names, where they have any.

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

    def __init__(
        self,
        categories: Mapping[Any, Any] | Sequence[Any] = (0, 1),
        *,
        contrasts: str = "one-hot",
        unknown: str = "value",
        sparse_output: bool = False,
    ) -> None:
        self.categories = categories
        self.contrasts = contrasts
        self.unknown = unknown
        self.sparse_output = sparse_output

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

    def transform(self, X: Any) -> Any:
        """Each row to numbers, by the declaration alone.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray or sparse array of shape (n_samples, n_features_out)
            Of bounded norm, see ``row_norm_``.
        """
        if not self.sparse_output:
            return super().transform(X)
        check_is_fitted(self)
        table = any_table(self, X, reset=False)
        blocks = self._blocks()
        found = [b.codes(cells_of(table, c)) for b, c in zip(blocks, self.columns_)]
        return _sparse(found, blocks)

    def _declaration(self) -> Any:
        return self.categories

    def _read(self, name: object, declared: Any) -> Declared:
        return super()._read(name, _values(declared))

    def _check(self) -> None:
        refuse_unless({"contrasts": self.contrasts, "unknown": self.unknown})
        if self.sparse_output and self.contrasts != "one-hot":
            raise ValueError(
                "sparse_output=True needs contrasts='one-hot': contrasts have few zeros."
            )

    def _blocks(self) -> list[Any]:
        return [self._block(column.declared, column.name) for column in self.columns_]

    def _block(self, declared: Declared, name: str = "") -> ValueBlock:
        return ValueBlock(cast(Categories, declared), self.contrasts, self.unknown, name)


def _values(declared: Any) -> Any:
    """Two numbers are bounds in a table's declaration; here they are values."""
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
