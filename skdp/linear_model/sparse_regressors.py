"""Private least squares with zeros: the lasso and the elastic net, with scikit-learn's face."""

from numpy.typing import ArrayLike

from ..fitting.data import SeedSource
from ..penalties import L1, ElasticNet, NoPenalty, Penalty
from ..privacy import Ledger
from ..solvers import Solver
from ._linear_regressor import PenalisedRegressor

__all__ = ["DPElasticNet", "DPLasso"]


class DPLasso(PenalisedRegressor):
    """Lasso with (epsilon, delta)-differential privacy.

    Minimises ``sum((y - x.w - b)^2) / (2 n) + alpha |w|_1``, as scikit-learn does. The solver "two-phase" makes zeros
    of a fit without them, at no further cost: coefficients that noise alone could have made are 0 too.

    Parameters
    ----------
    epsilon, delta : float
        As in `DPRidge`, like all parameters that are not listed here.
    alpha : float, default=1.0
        Strength of the penalty, relative to half of the MEAN of squared residuals; the intercept is free. Under
        ``neighbors="add_remove"`` it needs ``n_public``.
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
    DPElasticNet : With a ridge besides.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp import DPLasso
    >>> X = np.random.default_rng(0).uniform(-1, 1, (20000, 5))
    >>> model = DPLasso(4.0, alpha=0.01, y_bounds=(5.0, 15.0), data_norm=2.3, random_state=0)
    >>> model.fit(X, X @ [3.0, 0.0, 0.0, -2.0, 0.0] + 10.0).coef_.round() != 0
    array([ True, False, False,  True, False])
    """

    def _penalty(self, n: int | None) -> Penalty:
        return L1(float(self.alpha) * self._records(n) / self._scale()[1])


class DPElasticNet(PenalisedRegressor):
    """Elastic net with (epsilon, delta)-differential privacy.

    Minimises ``sum((y - x.w - b)^2) / (2 n) + alpha (l1_ratio |w|_1 + (1 - l1_ratio) |w|^2 / 2)``, as scikit-learn
    does.

    Parameters
    ----------
    epsilon, delta : float
        As in `DPRidge`, like all parameters that are not listed here.
    alpha : float, default=1.0
        Strength of the penalty, relative to half of the MEAN of squared residuals; the intercept is free. Under
        ``neighbors="add_remove"`` it needs ``n_public``.
    l1_ratio : float, default=0.5
        Share of L1; 1 is the lasso.
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
    DPLasso : L1 alone.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp import DPElasticNet
    >>> X = np.random.default_rng(0).uniform(-1, 1, (20000, 5))
    >>> model = DPElasticNet(4.0, alpha=0.01, y_bounds=(5.0, 15.0), data_norm=2.3, random_state=0)
    >>> model.fit(X, X @ [3.0, 0.0, 0.0, -2.0, 0.0] + 10.0).coef_.round() != 0
    array([ True, False, False,  True, False])
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        alpha: float = 1.0,
        l1_ratio: float = 0.5,
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
        self.l1_ratio = l1_ratio

    def _penalty(self, n: int | None) -> Penalty:
        alpha = float(self.alpha) * self._records(n)
        if self.l1_ratio is None:
            raise ValueError(
                "l1_ratio=None leaves the shares of both penalties open; 0.5 is half and half."
            )
        ratio = float(self.l1_ratio)
        absolute, squared = alpha * ratio / self._scale()[1], alpha * (1.0 - ratio)
        whole = absolute + squared
        return ElasticNet(whole, absolute / whole) if whole else NoPenalty()
