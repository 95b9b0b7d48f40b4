"""Rows cut to a public norm."""

from __future__ import annotations

from dataclasses import field
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..fitting import FromFields
from ..fitting._bases import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from ..fitting.data import Array, as_text, table

__all__ = ["RowNormClipper"]

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
