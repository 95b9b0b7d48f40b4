"""Base class of the private linear regressors: rows and targets are bounded, coefficients on the user's scale."""

from abc import abstractmethod
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from ..exceptions import NotSupported
from ..fitting import Plan, PrivateRegressor, Sizes
from ..fitting._parameters import Rule, or_open
from ..fitting.data import Array, as_text, scores
from ..fitting.starting import Starting
from ..losses import Loss, Squared
from ..mechanisms import Public
from ..penalties import Penalty, make_scaled
from ..solvers import Task
from ._linear import INTERCEPT_SIZE, LARGEST, keep_single

__all__ = ["LinearRegressor", "PenalisedRegressor", "column_square"]


def column_square(sizes: Sizes) -> float:
    """Return the mean square of a column, where rows are as long as they may be and their columns alike."""
    return sizes.norm**2 / max(sizes.n_features, 1)


class LinearRegressor(Starting, PrivateRegressor):
    """Base class of the private linear regressors; each one names its loss of scaled targets, and its penalty.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to add a constant column, which the bound covers.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Private coefficients.
    intercept_ : float, or ndarray of shape (n_targets,)
        Private intercept.
    """

    fit_intercept: bool = True
    coef_: Array = field(init=False)
    intercept_: Any = field(init=False)

    def _loss(self) -> Loss:
        """Return the loss of targets in [-1, 1]."""
        return Squared()

    def _by_residuals(self) -> bool:
        """Return True if nobody said from which residual Huber's loss is a straight line."""
        return False

    @abstractmethod
    def _penalty(self, sizes: Sizes) -> Penalty:
        """Return the penalty on coefficients of the user's rows, for half squared residuals of targets in [-1, 1]."""

    def _penalties(self, sizes: Sizes) -> list[Penalty]:
        """Return the penalty of each target, or a single one for all."""
        return [self._penalty(sizes)]

    def _problem(self, sizes: Sizes) -> tuple[Public, Task]:
        """The sum of losses and the user's penalty on it, both over the heaviest weight; the intercept is free."""
        intercept = INTERCEPT_SIZE if self.fit_intercept else 0.0
        public = Public(sizes.n, sizes.n_features, intercept, self.neighbors)
        scale = sizes.norm, bool(self.fit_intercept)
        each = [make_scaled(one, *scale, over=sizes.heaviest) for one in self._penalties(sizes)]
        hardest = min(each, key=lambda penalty: penalty.smooth)
        several = tuple(each) if any(one != each[0] for one in each) else ()
        task = Task(
            self._loss(), hardest, (public.width,), each=several, by_residuals=self._by_residuals()
        )
        return public, task

    def _store(self, w: Array, plan: Plan) -> None:
        """Coefficients on the user's scale: cutting what has been paid for is free, and all bounds are public."""
        middle, half = self._scale()
        w = np.clip(w, -LARGEST, LARGEST) * half
        self.coef_ = np.ascontiguousarray(w[: plan.public.n_features].T / plan.data_norm)
        self.intercept_ = 0.0
        if self.fit_intercept:
            self.intercept_ = middle + w[-1] * plan.public.intercept

    def _unit(self) -> Any:
        return self._scale()[1]

    def _free_start(self, intercept: Array) -> Array:
        return np.asarray(intercept - self._scale()[0])

    def _keep_single(self) -> None:
        keep_single(self)

    def _predicted(self, X: ArrayLike) -> Array:
        check_is_fitted(self)
        return scores(self._rows(X), self.coef_.T, self.intercept_)


class PenalisedRegressor(LinearRegressor):
    """Base class of the linear regressors with a penalty of strength alpha.

    Parameters
    ----------
    alpha : float, default=None
        Strength of the penalty, relative to the SUM of squared residuals; the intercept is free. None follows the
        scale of the rows.
    """

    alpha: ArrayLike | None = None

    def _rules(self) -> dict[str, Rule]:
        rules = super()._rules()
        return rules | ({"alpha": or_open(rules["alpha"])} if type(self).alpha is None else {})

    def _records(self, n: int | None) -> float:
        """Return the number of records, which alpha is relative to; weights count with a mean of 1."""
        if n is None:
            raise NotSupported(
                f"alpha={as_text(self.alpha)} of {type(self).__name__} is divided by the number of records, which is "
                "private under neighbors='add_remove'; declare a rough number in n_public."
            )
        return float(n)
