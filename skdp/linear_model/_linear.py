"""What all private linear estimators share: a loss of scores, and coefficients on the user's scale."""

import math
from collections.abc import Iterator
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from ..fitting import Plan
from ..fitting.data import Array, table
from ..losses import Loss
from ..mechanisms import Public
from ..penalties import Penalty, make_scaled
from ..solvers import Task

__all__ = ["LinearModel", "keep_single"]

# The constant column that carries the intercept, beside rows of norm at most 1. A column of 1 would cost 41 % more
# noise everywhere; a quarter costs 3 %.
INTERCEPT_SIZE = 0.25
LARGEST = 1e100  # of a stored parameter, before it is divided by data_norm, which is at least 1e-30


def keep_single(estimator: Any) -> None:
    """Round the coefficients of a fit on single precision to it, as post-processing; none becomes infinite."""
    most = float(np.finfo(np.float32).max)
    for name in ("coef_", "intercept_"):
        rounded = np.clip(getattr(estimator, name), -most, most).astype(np.float32)
        setattr(estimator, name, rounded)


class LinearModel:
    """Of the private linear estimators: beside a base from `skdp.fitting`."""

    penalty: str | Penalty | None
    C: float
    l1_ratio: float | None
    data_norm: float | None
    fit_intercept: bool
    neighbors: str
    coef_: Array
    intercept_: Array

    def decision_function(self, X: ArrayLike) -> Array:
        """Scores of rows: ``X @ coef_.T + intercept_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Positive for the second class.
        """
        check_is_fitted(self)
        X = table(self, X, reset=False)
        return X @ self.coef_[0] + self.intercept_[0]

    def _loss(self) -> Loss:
        raise NotImplementedError

    def _ignored(self) -> Iterator[str]:
        """A sentence for each parameter of the penalty that has no effect beside the others."""
        none = self.penalty is None or (isinstance(self.penalty, str) and self.penalty == "none")
        if none and self.C not in (1.0, math.inf):
            yield f"Setting penalty=None will ignore the C and l1_ratio parameters: C={self.C} has no effect."
        if isinstance(self.penalty, Penalty) and self.C != 1.0:
            yield f"penalty={self.penalty} carries its own strength: C={self.C} has no effect."
        if self.l1_ratio is None or self.penalty in ("auto", "elasticnet"):
            return
        if self.l1_ratio != {"l1": 1.0, "l2": 0.0}.get(str(self.penalty)):
            yield (
                f"l1_ratio={self.l1_ratio} is only used when penalty is 'elasticnet' or 'auto', not {self.penalty!r}."
            )

    def _problem(self, n: int | None, n_features: int) -> tuple[Public, Task]:
        """The sum of losses and the user's penalty on it; the intercept is free."""
        intercept = INTERCEPT_SIZE if self.fit_intercept else 0.0
        public = Public(n, n_features, intercept, self.neighbors)
        # The flat part of SCAD and MCP is placed per record; where n is private, on the scale of the sum.
        weight = float(public.n or 1)
        penalty = make_scaled(
            self.penalty,
            float(cast(float, self.data_norm)),
            bool(self.fit_intercept),
            strength=1.0 / float(self.C),
            l1_ratio=self.l1_ratio,
            weight=weight,
        )
        return public, Task(self._loss(), penalty, (public.width,))

    def _store(self, w: Array, plan: Plan) -> None:
        """Coefficients on the user's scale: cutting what has been paid for is free, and data_norm is public."""
        w = np.clip(w, -LARGEST, LARGEST)
        self.coef_ = (w[: plan.public.n_features] / plan.data_norm)[None, :]
        self.intercept_ = np.array([w[-1] * plan.public.intercept if self.fit_intercept else 0.0])
