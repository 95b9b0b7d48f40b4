"""Base class of transformers by declaration: `fit` reads the names and number of columns, and no cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..fitting import FromFields
from ..fitting._bases import BaseEstimator, TransformerMixin
from ..fitting.data import Array, any_table, is_frame
from ._blocks import OTHER, Block, Column, all_of, assemble, place_of
from ._declaration import Declared, read_column, reading

__all__ = ["ByDeclaration"]


class ByDeclaration(FromFields, TransformerMixin, BaseEstimator):
    """Base class of the transformers by declaration; each one says which blocks its columns become.

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
    """

    n_features_in_: int = field(init=False)
    feature_names_in_: Array = field(init=False)
    columns_: list[Column] = field(init=False)
    only: ClassVar[type | None] = (
        None  # what every column must be declared as, in the table's order
    )

    def fit(self, X: Any, y: Any = None) -> Self:
        """Settle which column is which; no record is read.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_features)
            A table with the columns that will be transformed.
        y : object, default=None
            Ignored.

        Returns
        -------
        self
        """
        self._check()
        before = dict(vars(self))
        try:
            rows = len(any_table(self, X, reset=True))
            names = [*X.columns] if is_frame(X) else [f"x{j}" for j in range(self.n_features_in_)]
            self.settle(names, is_frame(X), rows)
        except BaseException:  # as it was
            vars(self).clear()
            vars(self).update(before)
            raise
        return self

    def settle(self, names: list[Any], named: bool, rows: int) -> None:
        """Decide by public facts of a table what `fit` decides.

        Parameters
        ----------
        names : list
            Of the table's columns.
        named : bool
            Whether they are its own.
        rows : int
            Number of records.
        """
        self.columns_ = self._settled(names, named)
        self._size(rows)

    def transform(self, X: Any) -> Any:
        """Transform each row to numbers, by the declaration alone.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out), or a sparse array of it
            Of bounded norm, see ``row_norm_``.
        """
        check_is_fitted(self)
        return self._encoded(any_table(self, X, reset=False))

    def reading(self) -> str:
        """Return the reading of the declaration as text, one line a column, to check before anything is fitted.

        Returns
        -------
        str
        """
        self._check()
        given = self._declaration()
        if isinstance(given, Mapping):
            return reading((name, self._read(name, declared)) for name, declared in given.items())
        return reading([("every column", self._read("every column", given))])

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns that `transform` returns.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns that came in, where fit saw none.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        if input_features is not None:
            given = self._same(input_features)
            return np.asarray(self._names(dict(enumerate(given))), dtype=object)
        return np.asarray(self._names(), dtype=object)

    def _names(self, given: Mapping[int, Any] | None = None) -> list[str]:
        """Names of the blocks' columns, by names of the columns that came in."""
        pairs = zip(self.columns_, self._blocks())
        return [
            name
            for column, block in pairs
            for name in block.names(str((given or {}).get(column.place, column.name)))
        ]

    def _same(self, input_features: Any) -> Sequence[Any]:
        """Names that a caller gave, if they may be those of the columns."""
        given = list(input_features)
        if len(given) != self.n_features_in_:
            raise ValueError(
                f"input_features should have length equal to number of features ({self.n_features_in_}), "
                f"got {len(given)}."
            )
        if given != list(getattr(self, "feature_names_in_", given)):
            raise ValueError("input_features is not equal to feature_names_in_.")
        return given

    def _settled(self, names: list[Any], named: bool) -> list[Column]:
        """Declared columns and their places among the names of a table."""
        given = self._declaration()
        if not isinstance(given, Mapping):
            return [Column(j, name, self._read(name, given)) for j, name in enumerate(names)]
        columns = []
        for key, declared in given.items():
            place = place_of(key, names, named)
            columns.append(Column(place, names[place], self._read(key, declared)))
        if len({column.place for column in columns}) < len(columns):
            raise ValueError("A column is declared by its name and by its place; declare it once.")
        return columns if self.only is None else all_of(columns, names)

    def _read(self, name: object, declared: Any) -> Declared:
        found = read_column(name, declared)
        if self.only is not None and not isinstance(found, self.only):
            raise ValueError(
                f"Column {name!r} is declared as {found}: use {OTHER[self.only]} for it, or TableEncoder for both."
            )
        return found

    def _declaration(self) -> Any:
        """Return the declaration: of every column by name or place, or one for all columns."""
        raise NotImplementedError

    def _blocks(self) -> list[Block]:
        """Return the blocks that the columns become, once they are known."""
        raise NotImplementedError

    def _encoded(self, table: Any) -> Any:
        """Encode a table that has been checked."""
        cells = [column.cells(table) for column in self.columns_]
        X = assemble(cells, self._blocks(), len(table))
        return np.ascontiguousarray(self._finished(X, cells))

    def _size(self, rows: int) -> None:
        """Choose settings that depend on the number of rows, where that is public."""

    def _check(self) -> None:
        """Refuse parameters that no table makes right."""

    def _finished(self, X: Array, cells: Sequence[Any]) -> Array:
        """Blocks side by side as they leave, and what else the cells of the columns become."""
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = True
        tags.requires_fit = True
        return tags
