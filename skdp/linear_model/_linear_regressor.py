"""What the private linear regressors share: coefficients of bounded rows and targets, back on the user's scale."""

from typing import cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from ..exceptions import NotSupported
from ..fitting import Plan, PrivateRegressor
from ..fitting.data import Array, SeedSource, table
from ..losses import Loss, Squared
from ..mechanisms import Public
from ..penalties import Penalty, ScaledPenalty
from ..privacy import Ledger
from ..solvers import Solver, Task
from ._linear import INTERCEPT_SIZE, LARGEST, keep_single

__all__ = ["LinearRegressor", "PenalisedRegressor"]


class LinearRegressor(PrivateRegressor):
    """Of the private linear regressors: a face names its loss of scaled targets, and its penalty."""

    fit_intercept: bool
    coef_: Array
    intercept_: float

    def _loss(self) -> Loss:
        """Of targets in [-1, 1]."""
        return Squared()

    def _penalty(self, n: int | None) -> Penalty:
        """On coefficients of the user's rows, for targets in [-1, 1] and half of their squared residuals."""
        raise NotImplementedError

    def _problem(
        self, n: int | None, n_features: int, outputs: int = 1, heaviest: float = 1.0
    ) -> tuple[Public, Task]:
        """The sum of losses and the user's penalty on it; the intercept is free."""
        intercept = INTERCEPT_SIZE if self.fit_intercept else 0.0
        public = Public(n, n_features, intercept, self.neighbors)
        scale = float(cast(float, self.data_norm))
        penalty = ScaledPenalty(self._penalty(public.n), scale, bool(self.fit_intercept))
        return public, Task(self._loss(), penalty, (public.width,))

    def _store(self, w: Array, plan: Plan) -> None:
        """Coefficients on the user's scale: cutting what has been paid for is free, and all bounds are public."""
        middle, half = self._scale()
        w = np.clip(w, -LARGEST, LARGEST) * half
        self.coef_ = w[: plan.public.n_features] / plan.data_norm
        self.intercept_ = middle
        if self.fit_intercept:
            self.intercept_ = float(middle + w[-1] * plan.public.intercept)

    def _keep_single(self) -> None:
        keep_single(self)

    def _predicted(self, X: ArrayLike) -> Array:
        check_is_fitted(self)
        return np.asarray(table(self, X, reset=False) @ self.coef_ + self.intercept_)


class PenalisedRegressor(LinearRegressor):
    """Of those with a penalty of strength alpha."""

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        alpha: float = 1.0,
        y_bounds: ArrayLike | None = None,
        data_norm: float | None = None,
        solver: str | Solver = "auto",
        fit_intercept: bool = True,
        clip_predictions: bool = True,
        neighbors: str = "replace_one",
        n_public: float | None = None,
        accountant: str = "auto",
        ledger: Ledger | None = None,
        random_state: int | SeedSource | None = None,
        verbose: int = 0,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.alpha = alpha
        self.y_bounds = y_bounds
        self.data_norm = data_norm
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.clip_predictions = clip_predictions
        self.neighbors = neighbors
        self.n_public = n_public
        self.accountant = accountant
        self.ledger = ledger
        self.random_state = random_state
        self.verbose = verbose

    def _records(self, n: int | None) -> float:
        """Number of records, for an alpha that is weighed against the mean of losses."""
        if n is None:
            raise NotSupported(
                f"alpha={self.alpha!r} of {type(self).__name__} is weighed against the mean over records, whose number "
                "is private under neighbors='add_remove'; declare a rough one in n_public."
            )
        return float(n)
