"""Private regression by losses that a few far targets hardly move: Huber's, and that of a quantile."""

from numpy.typing import ArrayLike

from ..fitting.data import SeedSource
from ..losses import Huber, Loss, QuantileHuber
from ..penalties import L1, L2, NoPenalty, Penalty
from ..privacy import Ledger
from ..solvers import Solver
from ._linear_regressor import PenalisedRegressor

__all__ = ["DPHuberRegressor", "DPQuantileRegressor"]

_SMOOTHED = 0.02  # of half of the declared range: how far a quantile's kink is rounded


class DPHuberRegressor(PenalisedRegressor):
    """Huber regression with (epsilon, delta)-differential privacy.

    Minimises ``sum(h(y - x.w - b)) + alpha |w|^2``, where h is the square up to ``threshold`` and straight beyond.

    Parameters
    ----------
    epsilon, delta : float
        As in `DPRidge`, like all parameters that are not listed here. Epsilon is the privacy loss: what scikit-learn
        calls so in its `HuberRegressor` is the threshold here.
    threshold : float, default=1.35
        Residual from which the loss is a straight line, in units of the target. Scikit-learn estimates such a unit from
        the data: its fit is that of ``threshold=epsilon * scale_`` and ``alpha=alpha * scale_``.
    alpha : float, default=1e-4
        Strength of the penalty, relative to the SUM of losses; the intercept is free.
    y_bounds, data_norm, solver, fit_intercept, clip_predictions, neighbors, n_public, accountant, ledger : object
        As in `DPRidge`.
    random_state, verbose : object
        As in `DPRidge`.

    Attributes
    ----------
    coef_, intercept_, privacy_, n_features_in_, feature_names_in_
        As in `DPRidge`.

    See Also
    --------
    DPQuantileRegressor : The median, and other quantiles.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp import DPHuberRegressor
    >>> X = np.random.default_rng(0).uniform(-1, 1, (5000, 3))
    >>> model = DPHuberRegressor(4.0, threshold=0.5, y_bounds=(4.0, 16.0), data_norm=1.8, random_state=0)
    >>> model.fit(X, X @ [3.0, -2.0, 1.0] + 10.0).coef_.round()
    array([ 3., -2.,  1.])
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        threshold: float = 1.35,
        alpha: float = 1e-4,
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
        super().__init__(
            epsilon,
            delta,
            alpha=alpha,
            y_bounds=y_bounds,
            data_norm=data_norm,
            solver=solver,
            fit_intercept=fit_intercept,
            clip_predictions=clip_predictions,
            neighbors=neighbors,
            n_public=n_public,
            accountant=accountant,
            ledger=ledger,
            random_state=random_state,
            verbose=verbose,
        )
        self.threshold = threshold

    def _loss(self) -> Loss:
        return Huber(float(self.threshold) / self._scale()[1])

    def _penalty(self, n: int | None) -> Penalty:
        return L2(float(self.alpha)) if self.alpha else NoPenalty()


class DPQuantileRegressor(PenalisedRegressor):
    """Quantile regression with (epsilon, delta)-differential privacy.

    Minimises ``mean(pinball(y - x.w - b)) + alpha |w|_1``, as scikit-learn does, with the kink of the pinball loss
    rounded over a fiftieth of half of the declared range.

    Parameters
    ----------
    epsilon, delta : float
        As in `DPRidge`, like all parameters that are not listed here.
    quantile : float, default=0.5
        Between 0 and 1.
    alpha : float, default=0.0
        Strength of the L1 penalty, relative to the MEAN of losses; the intercept is free. Above 0 it needs ``n_public``
        under ``neighbors="add_remove"``. Scikit-learn's default is 1, which hardly leaves a coefficient.
    y_bounds, data_norm, solver, fit_intercept, clip_predictions, neighbors, n_public, accountant, ledger : object
        As in `DPRidge`.
    random_state, verbose : object
        As in `DPRidge`.

    Attributes
    ----------
    coef_, intercept_, privacy_, n_features_in_, feature_names_in_
        As in `DPRidge`.

    See Also
    --------
    DPHuberRegressor : Between the mean and the median.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp import DPQuantileRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (5000, 3))
    >>> y = X @ [3.0, -2.0, 1.0] + 10.0 + rng.normal(size=5000)
    >>> model = DPQuantileRegressor(4.0, quantile=0.9, y_bounds=(0.0, 20.0), data_norm=1.8, random_state=0)
    >>> bool(0.85 < (y < model.fit(X, y).predict(X)).mean() < 0.95)
    True
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        quantile: float = 0.5,
        alpha: float = 0.0,
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
        super().__init__(
            epsilon,
            delta,
            alpha=alpha,
            y_bounds=y_bounds,
            data_norm=data_norm,
            solver=solver,
            fit_intercept=fit_intercept,
            clip_predictions=clip_predictions,
            neighbors=neighbors,
            n_public=n_public,
            accountant=accountant,
            ledger=ledger,
            random_state=random_state,
            verbose=verbose,
        )
        self.quantile = quantile

    def _loss(self) -> Loss:
        return QuantileHuber(float(self.quantile), _SMOOTHED)

    def _penalty(self, n: int | None) -> Penalty:
        return L1(float(self.alpha) * self._records(n)) if self.alpha else NoPenalty()
