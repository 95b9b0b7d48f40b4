"""What private regressors share: numbers within declared bounds in, numbers out."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import r2_score

from ._bases import RegressorMixin
from ._tables import Array, attempt, table, warn_of_column
from ._targets import middle_and_half, targets
from .learner import PrivatePredictor

__all__ = ["PrivateRegressor"]


class PrivateRegressor(RegressorMixin, PrivatePredictor):
    """Base of the private regressors: it knows bounds of targets, and nothing of losses.

    Targets enter a fit on the scale of their bounds, which become -1 and 1; those beyond are cut to them.

    Parameters
    ----------
    y_bounds : pair of float
        Public bounds on the target, ``(low, high)``; targets beyond are cut to them. They must be declared.
    clip_predictions : bool, default=True
        Whether predictions are cut to ``y_bounds``, which costs no privacy.
    """

    fit_intercept = True  # not a parameter of every regressor

    y_bounds: ArrayLike | None = None
    clip_predictions: bool = True

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit with differential privacy.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; those of norm beyond ``data_norm`` count as if scaled down to it.
        y : array-like of shape (n_samples,)
            Numbers to predict; those beyond ``y_bounds`` are cut to them.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row's loss weighs, from 0 to ``max_sample_weight``, which must be declared. A weight is part of
            its record.
        groups : array-like of shape (n_samples,), default=None
            The id of each row's person, of whom the first ``max_rows_per_group`` rows enter.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, groups)

    def predict(self, X: ArrayLike) -> Array:
        """Predicted numbers.

        Returns
        -------
        ndarray of shape (n_samples,)
            Within ``y_bounds`` unless ``clip_predictions`` is False.
        """
        found = self._predicted(X)
        if not self.clip_predictions:
            return found
        low, high = np.asarray(self.y_bounds, dtype=np.float64)
        return np.clip(found, low, high, out=found)

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Share of the targets' variance that is explained; computed of the data in the clear, so it is not private.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        float
            At most 1.
        """
        predicted = self.predict(X)
        y = targets(self, y, len(predicted))
        found, kind = attempt(lambda: r2_score(y, predicted, sample_weight=sample_weight))
        if kind is not None:
            raise kind(
                "A score needs a number for each record in y, and in sample_weight None or one finite number for each."
            )
        return found

    def _predicted(self, X: ArrayLike) -> Array:
        """Predicted numbers, wherever they lie: a fresh array."""
        raise NotImplementedError

    def _scale(self) -> tuple[float, float]:
        """What of targets becomes 0, and 1: without an intercept nothing may be taken from them."""
        assert self.y_bounds is not None, "checked before"
        return middle_and_half(self.y_bounds, self.fit_intercept)

    def _encode(
        self, X: ArrayLike, y: ArrayLike
    ) -> tuple[Array, Array, dict[str, Any], dict[str, Any]]:
        X = table(self, X, reset=True)
        given, found = y, targets(self, y, X.shape[0])
        warn_of_column(given)
        middle, half = self._scale()
        # Cut first: a difference of two doubles may overflow.
        low, high = (float(v) for v in np.asarray(self.y_bounds))
        found = np.clip((np.clip(found, low, high) - middle) / half, -1.0, 1.0)
        return X, found, {"y_bounds": [low, high]}, {}
