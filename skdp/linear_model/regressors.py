"""Private least squares with scikit-learn's face: ridge regression, and linear regression without a penalty."""

from numpy.typing import ArrayLike

from ..fitting.data import SeedSource
from ..penalties import L2, NoPenalty, Penalty
from ..privacy import Ledger
from ..solvers import Solver
from ._linear_regressor import LinearRegressor, PenalisedRegressor

__all__ = ["DPLinearRegression", "DPRidge"]


class DPRidge(PenalisedRegressor):
    """Ridge regression with (epsilon, delta)-differential privacy.

    Minimises ``sum((y - x.w - b)^2) + alpha |w|^2``, as scikit-learn does, by a solver that only ever sees private
    answers. The privacy statement of a fit is in ``privacy_``.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy loss that is promised; smaller is more private. ``inf`` adds no noise and is not private.
    delta : float, default=1e-6
        Probability of exceeding it; choose it well below 1/n.
    alpha : float, default=1.0
        Strength of the penalty, relative to the SUM of squared residuals; the intercept is free.
    y_bounds : pair of float
        Public bounds on the target, ``(low, high)``; targets beyond are cut to them. They must be declared.
    data_norm : float
        Public bound on the norm of a row; rows beyond it count as if scaled down. It must be declared.
    solver : str or Solver, default="auto"
        Algorithm, by name or as an instance such as ``skdp.solvers.TwoPhase(threshold=1.0)``; "auto" chooses by the
        promise and by public sizes, see docs/choose_a_solver.md.
    fit_intercept : bool, default=True
        Whether to add a constant column, which the bound covers.
    clip_predictions : bool, default=True
        Whether predictions are cut to ``y_bounds``, which costs no privacy.
    neighbors : {"replace_one", "add_remove"}, default="replace_one"
        Neighbouring data differ by one record replaced (n is public) or added or removed (n is private).
    n_public : int, default=None
        Under "add_remove", a rough number of records that you know without looking. None buys a noisy count where
        the solver needs one.
    accountant : str, default="auto"
        Which theorem prices the fit; "auto" takes the tightest valid one.
    ledger : skdp.privacy.Ledger, default=None
        A budget shared by several fits; it pays before a record is touched.
    random_state : int, RandomState or None, default=None
        None draws noise from the operating system. A seed makes the fit reproducible, and the guarantee void against
        whoever knows it.
    verbose : int, default=0
        1 prints the privacy statement after a fit, 2 shows a progress bar besides (extra ``progress``).

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Private coefficients.
    intercept_ : float
        Private intercept.
    privacy_ : Receipt
        What the fit costs, how that was computed, and what was declared public.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of str
        Names of the columns, where X had string names.

    See Also
    --------
    DPLinearRegression : Without a penalty.

    Notes
    -----
    Scikit-learn's ``solver``, ``max_iter``, ``tol`` and ``positive`` have no counterpart: how long a fit runs may not
    depend on the data. One number is predicted; for several, fit one estimator for each and share a ledger.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp import DPRidge
    >>> X = np.random.default_rng(0).uniform(-1, 1, (5000, 3))
    >>> y = X @ [3.0, -2.0, 1.0] + 10.0
    >>> model = DPRidge(epsilon=1.0, y_bounds=(4.0, 16.0), data_norm=1.8, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9), bool(model.privacy_.epsilon <= 1.0)
    (True, True)
    """

    def _penalty(self, n: int | None) -> Penalty:
        return L2(float(self.alpha)) if self.alpha else NoPenalty()


class DPLinearRegression(LinearRegressor):
    """Linear least squares with (epsilon, delta)-differential privacy.

    Parameters
    ----------
    epsilon, delta : float
        As in `DPRidge`, like all parameters.
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
    DPRidge : With a penalty.

    Notes
    -----
    Coefficients are drawn towards 0 where noise hides them: less at a larger epsilon, and without noise not at all.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp import DPLinearRegression
    >>> X = np.random.default_rng(0).uniform(-1, 1, (5000, 3))
    >>> model = DPLinearRegression(epsilon=4.0, y_bounds=(4.0, 16.0), data_norm=1.8, random_state=0)
    >>> model.fit(X, X @ [3.0, -2.0, 1.0] + 10.0).coef_.round()
    array([ 3., -2.,  1.])
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
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

    def _penalty(self, n: int | None) -> Penalty:
        return NoPenalty()
