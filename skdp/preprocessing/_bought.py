"""Base classes of transformers that charge a budget: one vault of places, one script, one receipt."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..entry import Facts, Given, Unlabelled, numbers_of
from ..fitting import PrivateEstimator, Purchase, Stage
from ..fitting._bases import TransformerMixin
from ..fitting.data import Array
from ..fitting.run import Fitted, Heard
from ..mechanisms import Public
from ..privacy.spec import Spec
from ..solvers import Budget
from ._column_scales import ColumnScales

__all__ = ["BoughtScales", "BoughtTransformer"]


class BoughtTransformer(TransformerMixin, PrivateEstimator):
    """Base class of the transformers whose `fit` estimates columns privately, with no range declared.

    Parameters
    ----------
    epsilon : float, default=0.1
        Privacy loss that is promised. A twentieth of the budget in mu squared is enough beside an estimator's.
    """

    epsilon: float = 0.1
    _cells: ClassVar[str] = "any"  # as `skdp.entry.numbers_of` reads them

    def fit(self, X: Any, y: Any = None) -> Self:
        """Estimate the columns privately.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_features)
            Numbers in any unit; what is no number is missing.
        y : object, default=None
            Ignored.

        Returns
        -------
        self
        """
        return self._fit(Given(X))

    def transform(self, X: Any) -> Array:
        """Map each row by the private estimates, by itself, which costs nothing.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Of norm at most ``row_norm_``, where there is one.
        """
        check_is_fitted(self)
        # One layout: sums along a row are made in another order where the table lies otherwise.
        cells = numbers_of(self, X, self._cells, reset=False)
        return self._mapped(np.ascontiguousarray(cells))

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns, which are those that came in.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names, where fit saw none.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        own = getattr(self, "feature_names_in_", None)
        given = own if input_features is None else list(input_features)
        given = [f"x{j}" for j in range(self.n_features_in_)] if given is None else given
        if len(given) != self.n_features_in_:
            raise ValueError(
                f"input_features should have length equal to number of features ({self.n_features_in_}), "
                f"got {len(given)}."
            )
        if own is not None and list(own) != list(given):
            raise ValueError("input_features is not equal to feature_names_in_.")
        return np.asarray(given, dtype=object)

    def _mapped(self, x: Array) -> Array:
        """Map numbers to the output."""
        raise NotImplementedError

    def _stage(self) -> Stage:
        """Return the stage that pays."""
        raise NotImplementedError

    def _reader(self) -> Unlabelled:
        return Unlabelled(self._cells)

    def _declare(self, facts: Facts) -> dict[str, Any]:
        return {"bins": "octaves of the doubles"}

    def _public(self, n: int | None, n_features: int) -> Public:
        """Return facts about the rows."""
        return Public(n, n_features, 0.0, self.neighbors)

    def _plan(
        self, n: int | None, n_features: int, declared: dict[str, Any], *more: Any
    ) -> Purchase:
        spec = Spec(self.epsilon, self.delta, self.neighbors)
        if self.neighbors != "replace_one":
            n = None if self.n_public is None else int(self.n_public)
        facts: dict[str, Any] = {} if n is None else {"n": n}
        facts |= {"n_features": n_features, **declared}
        stage, public = self._stage(), self._public(n, n_features)
        return Purchase(spec, (stage,), public, repr(stage), self.accountant, facts)

    def _keep(self, fitted: Fitted, budget: Budget, heard: Heard | None) -> None:
        self._store(fitted.known.found)

    def _store(self, found: Any) -> None:
        """Store the estimates, in the units of the columns."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.allow_nan = True
        tags.input_tags.sparse = False
        return tags


class BoughtScales(BoughtTransformer):
    """Base of those that map columns to bounds, and rows to a norm of at most 1.

    Attributes
    ----------
    bounds_ : ndarray of shape (n_features, 2)
        Private bounds; twice 0 where a column is seen by its sign.
    row_norm_ : float
        1: the norm of a row that leaves, for a private estimator's ``data_norm``.
    """

    moments: ClassVar[bool] = False

    bounds_: Array = field(init=False)

    @property
    def row_norm_(self) -> float:
        """Bound on the norm of transformed rows: 1, since each row is divided by the largest norm it may have."""
        return 1.0

    def _stage(self) -> Stage:
        return ColumnScales(self.moments)

    def _store(self, found: Array) -> None:
        self.bounds_ = np.asarray(found[:, :2])
