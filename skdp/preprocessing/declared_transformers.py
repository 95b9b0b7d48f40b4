"""Declared categories to numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from numbers import Real
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from ..exceptions import NotSupported
from ..fitting import FromFields
from ..fitting._bases import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from ..fitting.data import Array, affine_of, as_text, table
from ._blocks import INDICATOR, Block, NumberBlock, ValueBlock, refuse_unless, root
from ._declaration import Categories, Declared, Numbers, undone
from ._transformer import ByDeclaration

__all__ = ["BoundsScaler", "DeclaredEncoder", "RowNormClipper"]


class BoundsScaler(ByDeclaration):
    """Scale numbers to [-1, 1] around the midpoint of public bounds; `fit` reads no record.

    What lies outside is clipped, what is no number is missing. Each row is mapped by itself, so neighbouring tables
    become neighbouring tables, at no price; and a row leaves with a norm of at most ``row_norm_``.

    Parameters
    ----------
    bounds : dict or (low, high)
        Of each column by name or place: ``{"age": (17, 90), "gain": (0, 1e6, "symlog")}``; scales are "linear", "log"
        and "symlog" (``sign(x) * log1p(|x|)``, for heavy tails). Or one pair for all columns. There is no default:
        bounds are known without looking, or bought (`DPBounds`).
    missing : float or "indicator", default=0.0
        Where in [-1, 1] a missing number goes. "indicator" puts it to 0 and adds a column that is 1 for it.

    See Also
    --------
    TableEncoder : Numbers and categories at once.
    RowNormClipper : Bounds rows, not columns.

    Examples
    --------
    >>> from skdp.preprocessing import BoundsScaler
    >>> scaler = BoundsScaler({0: (17, 90), 1: (0, 1e6, "symlog")})
    >>> print(scaler.reading())
    0  numbers from 17 to 90, linear
    1  numbers from 0 to 1e+06, symlog
    >>> X = scaler.fit_transform([[17, 0], [53.5, 999], [200, None]])
    >>> X.round(3).tolist()
    [[-1.0, -1.0], [0.0, -0.0], [1.0, 0.0]]
    """

    only: ClassVar[type] = Numbers

    bounds: Mapping[Any, Any] | tuple[Any, ...] | None = field(default=None, kw_only=False)
    missing: float | str = 0.0

    @property
    def row_norm_(self) -> float:
        """Root of the number of columns: each has an entry in [-1, 1], or a mark beside a 0."""
        given = self.bounds
        if isinstance(given, Mapping) or hasattr(self, "columns_"):
            return float(root(len(given if isinstance(given, Mapping) else self.columns_)))
        raise AttributeError("row_norm_ is known after fit, which counts the columns.")

    def inverse_transform(self, X: ArrayLike) -> Array:
        """Numbers in their own units; what was clipped stays at its bound.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features_out)
            As `transform` returns it.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            With NaN where an indicator marks a missing number.
        """
        check_is_fitted(self)
        given = np.asarray(X, dtype=np.float64)
        marked = self.missing == INDICATOR
        if given.ndim != 2 or given.shape[1] != len(self.columns_) * (1 + marked):
            raise ValueError("X must be a table with the columns that transform returns.")
        scaled = np.empty((len(given), self.n_features_in_))
        for at, column in enumerate(self.columns_):
            unit = given[:, at * (1 + marked)]
            if marked:
                unit = np.where(given[:, 2 * at + 1] > 0.5, np.nan, unit)
            scaled[:, column.place] = undone(unit, cast(Numbers, column.declared))
        return scaled

    def _affine(self) -> tuple[Array, Array]:
        """Return slope and shift of the map of each column, for numbers within their bounds."""
        declared = [cast(Numbers, column.declared) for column in self.columns_]
        if self.missing == INDICATOR or any(one.scale != "linear" for one in declared):
            raise NotSupported(
                "BoundsScaler has a scale that is not linear, or columns that mark missing numbers, so that a "
                "coefficient does not belong to one column alone."
            )
        return affine_of(np.array([[one.low, one.high] for one in declared]))

    def _declaration(self) -> Any:
        if self.bounds is None:
            raise ValueError(
                "BoundsScaler needs bounds that are known without looking at the data: pass "
                "bounds={'age': (17, 90)}, or (low, high) for all columns; or use DPBounds, which estimates them "
                "privately."
            )
        return self.bounds

    def _check(self) -> None:
        refuse_unless({"missing": self.missing})

    def _blocks(self) -> list[Block]:
        return [NumberBlock(cast(Numbers, c.declared), self.missing) for c in self.columns_]


LEAST, MOST = 1e-30, 1e30


class RowNormClipper(FromFields, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Scale rows beyond a public norm down to it; `fit` reads no record.

    A private estimator does this to its rows anyway. As a step it shows what the estimator will see, and bounds rows
    before another transformer. For raw columns in several units a clip of rows is no substitute for bounds.

    Parameters
    ----------
    norm : float, default=1.0
        The public bound.

    Attributes
    ----------
    row_norm_ : float
        The bound; a private estimator's ``data_norm``.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of str
        Their names, where they have any.

    See Also
    --------
    BoundsScaler : Bounds columns, not rows.

    Examples
    --------
    >>> from skdp.preprocessing import RowNormClipper
    >>> RowNormClipper(norm=5.0).fit_transform([[30.0, 40.0], [3.0, 0.0]]).round(12).tolist()
    [[3.0, 4.0], [3.0, 0.0]]
    """

    norm: float = field(default=1.0, kw_only=False)
    n_features_in_: int = field(init=False)
    feature_names_in_: Array = field(init=False)

    @property
    def row_norm_(self) -> float:
        """The bound itself."""
        return float(self.norm)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Settle the number of columns; no record counts.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A table.
        y : object, default=None
            Ignored.

        Returns
        -------
        self
        """
        norm: Any = self.norm
        number = isinstance(norm, Real) and not isinstance(norm, bool)
        if not number or not LEAST <= norm <= MOST:
            raise ValueError(f"norm={as_text(norm)} must be a number between 1e-30 and 1e30.")
        table(self, X, reset=True, sparse=False)
        return self

    def transform(self, X: Any) -> Array:
        """Rows of norm at most ``norm``, in their directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite rows.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        found = table(self, X, reset=False, sparse=False)
        rows = np.ascontiguousarray(found, dtype=np.float64)
        # By the largest entry first: squares of huge entries overflow, those of tiny ones vanish.
        largest = np.abs(rows).max(axis=1)
        largest[largest == 0.0] = 1.0
        shares = rows / largest[:, None]
        norms = np.sqrt(np.einsum("ij,ij->i", shares, shares))
        slack = 1.0 - (rows.shape[1] + 8.0) * np.finfo(np.float64).eps
        with np.errstate(over="ignore"):  # a row of next to nothing is not beyond
            beyond = norms > self.norm * slack / largest
        shares[beyond] *= (self.norm * slack / norms[beyond])[:, None]
        shares[~beyond] = rows[~beyond]
        return shares

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = True
        return tags


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
