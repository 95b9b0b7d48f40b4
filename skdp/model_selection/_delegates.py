"""Methods of a search that its best model answers, as in scikit-learn's searches."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..fitting.data import Array

__all__ = ["Delegates"]


def _offers(name: str) -> Callable[[Any], bool]:
    """Return a test: does the best model, or before a fit the estimator, have this method?"""

    def offered(search: Any) -> bool:
        getattr(getattr(search, "best_estimator_", search.estimator), name)
        return True

    return offered


class Delegates(MetaEstimatorMixin, BaseEstimator):
    """Part of a search that asks its best model."""

    estimator: Any
    best_estimator_: Any

    @available_if(_offers("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: ArrayLike) -> Array:
        """Return the predictions of the best model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        """
        return np.asarray(self._best().predict(X))

    @available_if(_offers("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike) -> Array:
        """Probabilities by the best model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        """
        return np.asarray(self._best().predict_proba(X))

    @available_if(_offers("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Logarithms of them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        """
        return np.asarray(self._best().predict_log_proba(X))

    @available_if(_offers("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: ArrayLike) -> Array:
        """Scores by the best model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        """
        return np.asarray(self._best().decision_function(X))

    @available_if(_offers("score"))  # type: ignore[untyped-decorator]
    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        """The best model's own score; computed of the data in the clear, so it is not private.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their labels or targets.
        """
        return float(self._best().score(X, y))

    @property
    def classes_(self) -> Array:
        """Labels of the best model."""
        return np.asarray(self._best().classes_)

    @property
    def n_features_in_(self) -> int:
        """Columns of the tables that it takes."""
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(f"{type(self).__name__} has no n_features_in_ before fit.")
        return int(self.best_estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> Array:
        """Names of the columns, if the fitted table had any."""
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(f"{type(self).__name__} has no feature_names_in_ before fit.")
        return np.asarray(self.best_estimator_.feature_names_in_)

    def _best(self) -> Any:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = copy.deepcopy(inner.classifier_tags)
        tags.regressor_tags = copy.deepcopy(inner.regressor_tags)
        tags.input_tags = copy.deepcopy(inner.input_tags)
        tags.target_tags.required = True
        return tags
