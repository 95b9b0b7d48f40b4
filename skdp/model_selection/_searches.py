"""The two searches: over a grid, and over settings that are drawn from public distributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.model_selection import ParameterGrid, ParameterSampler

from ..fitting._seeds import seed_of
from ..privacy import Ledger
from ._search import PrivateSearch

__all__ = ["DPGridSearchCV", "DPRandomizedSearchCV"]


class DPGridSearchCV(PrivateSearch):
    """Choose among the settings of a grid, and fit the best, within one promise for all of it.

    With eight settings or fewer each is fitted once on a share of the budget, one is chosen by a noisy comparison, and
    fitted again with most of the budget. With more, a secret and random number of runs is made, each on a setting that
    is drawn at random and scored with noise, and only the best model leaves. Models are scored on the records that they
    were fitted on: private fits hardly overfit, and no record is set aside.

    Parameters
    ----------
    estimator : estimator
        A private one, with declared ``classes`` or ``y_bounds``, or a pipeline of steps that pay or read no record.
        Epsilons of its steps say how they share what is spent on a fit, and are otherwise set by the search.
    param_grid : dict or list of dict
        Names of parameters and lists of values, as scikit-learn has them. The promise, the relation and the seed are
        not to be chosen.
    epsilon : float, default=1.0
        The promise for everything that the search does.
    delta : float, default=1e-6
        Of that promise; above 0.
    scoring : str or None
        "accuracy", "neg_log_loss" (probabilities below exp(-5) count as that) or "neg_brier_score" of classifiers,
        "neg_mean_squared_error" of regressors; None for the first that fits.
    strategy : {"auto", "pilot", "geometric"}, default="auto"
        "pilot" for fits of all settings, a choice and a refit, which Gaussian noise allows; "geometric" for a random
        number of runs.
    mean_runs : int, default=10
        Mean of the geometric law of the number of runs, before it is capped.
    max_runs : int, default=30
        Most runs. So many are always made, so that time does not tell how many counted.
    default_share : float, default=0.5
        How often a run takes the estimator as it is, rather than a setting that is searched.
    ledger : Ledger or None
        Charged once for all, before a record is touched.
    random_state : int, RandomState or None
        A seed, for tests.

    Attributes
    ----------
    best_estimator_ : estimator
        The model. Its ``epsilon`` is what one run was given; its ``privacy_`` is the receipt of the whole search.
    best_params_ : dict
        Its setting; empty where it is the estimator as it was given.
    best_score_ : float
        Its noisy score on its own training records, of a "geometric" search: the best of several, so above what fresh
        records would show.
    privacy_ : Receipt
        What all of it cost, with how settings were chosen in ``tuning``.
    classes_ : ndarray
        Labels of the best model, of a classifier.
    n_features_in_ : int
        Columns of the tables that it takes.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    See Also
    --------
    DPRandomizedSearchCV : Over distributions.
    dp_cross_val_score : What one setting is worth on records that it has not seen.

    Notes
    -----
    Nothing of a losing candidate leaves: there is no ``cv_results_``. A good default beats a search in most cases that
    were tried, see docs/evaluation.md. Where candidates differ in the time that they take, total time tells something
    of which were drawn.

    Examples
    --------
    >>> from skdp import DPLogisticRegression
    >>> from skdp.datasets import make_census
    >>> from skdp.model_selection import DPGridSearchCV
    >>> X, y = make_census(n_samples=2000, return_X_y=True)
    >>> model = DPLogisticRegression(data_norm=1.0, classes=[0, 1], solver="gd")
    >>> search = DPGridSearchCV(model, {"C": [0.01, 1, 100]}, epsilon=2.0, delta=1e-6)
    >>> round(search.quote(2000, X.shape[1]).epsilon, 2)  # before anything is spent
    2.0
    >>> search.fit(X, y).best_params_["C"] in (0.01, 1, 100)
    True
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]],
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        scoring: str | None = None,
        strategy: str = "auto",
        mean_runs: int = 10,
        max_runs: int = 30,
        default_share: float = 0.5,
        ledger: Ledger | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.epsilon = epsilon
        self.delta = delta
        self.scoring = scoring
        self.strategy = strategy
        self.mean_runs = mean_runs
        self.max_runs = max_runs
        self.default_share = default_share
        self.ledger = ledger
        self.random_state = random_state

    def _settings(self) -> list[dict[str, Any]]:
        return list(ParameterGrid(self.param_grid))


class DPRandomizedSearchCV(PrivateSearch):
    """Choose among settings drawn from public distributions, and fit the best, within one promise for all of it.

    Settings are drawn before any record is read, and are no secret; then it goes on as `DPGridSearchCV` does.

    Parameters
    ----------
    estimator : estimator
        A private one, with declared ``classes`` or ``y_bounds``, or a pipeline of steps that pay or read no record.
        Epsilons of its steps say how they share what is spent on a fit, and are otherwise set by the search.
    param_distributions : dict or list of dict
        Lists, or distributions with ``rvs``, as in scikit-learn.
    n_iter : int, default=10
        How many settings are drawn.
    epsilon : float, default=1.0
        The promise for everything that the search does.
    delta : float, default=1e-6
        Of that promise; above 0.
    scoring : str or None
        "accuracy", "neg_log_loss" (probabilities below exp(-5) count as that) or "neg_brier_score" of classifiers,
        "neg_mean_squared_error" of regressors; None for the first that fits.
    strategy : {"auto", "pilot", "geometric"}, default="auto"
        "pilot" for fits of all settings, a choice and a refit, which Gaussian noise allows; "geometric" for a random
        number of runs.
    mean_runs : int, default=10
        Mean of the geometric law of the number of runs, before it is capped.
    max_runs : int, default=30
        Most runs. So many are always made, so that time does not tell how many counted.
    default_share : float, default=0.5
        How often a run takes the estimator as it is, rather than a setting that is searched.
    ledger : Ledger or None
        Charged once for all, before a record is touched.
    random_state : int, RandomState or None
        A seed, for tests.

    Attributes
    ----------
    best_estimator_ : estimator
        The model. Its ``epsilon`` is what one run was given; its ``privacy_`` is the receipt of the whole search.
    best_params_ : dict
        Its setting; empty where it is the estimator as it was given.
    best_score_ : float
        Its noisy score on its own training records, of a "geometric" search: the best of several, so above what fresh
        records would show.
    privacy_ : Receipt
        What all of it cost, with how settings were chosen in ``tuning``.
    classes_ : ndarray
        Labels of the best model, of a classifier.
    n_features_in_ : int
        Columns of the tables that it takes.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    See Also
    --------
    DPGridSearchCV : Over a grid.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from skdp import DPLogisticRegression
    >>> from skdp.datasets import make_census
    >>> from skdp.model_selection import DPRandomizedSearchCV
    >>> X, y = make_census(n_samples=2000, return_X_y=True)
    >>> model = DPLogisticRegression(data_norm=1.0, classes=[0, 1], solver="gd")
    >>> search = DPRandomizedSearchCV(model, {"C": loguniform(0.01, 100)}, n_iter=20, epsilon=2.0)
    >>> print(search.fit(X, y).privacy_.tuning[:68])
    paid for within this price: the best of K runs by a noisy score of t
    """

    def __init__(
        self,
        estimator: Any,
        param_distributions: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        n_iter: int = 10,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        scoring: str | None = None,
        strategy: str = "auto",
        mean_runs: int = 10,
        max_runs: int = 30,
        default_share: float = 0.5,
        ledger: Ledger | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.param_distributions = param_distributions
        self.n_iter = n_iter
        self.epsilon = epsilon
        self.delta = delta
        self.scoring = scoring
        self.strategy = strategy
        self.mean_runs = mean_runs
        self.max_runs = max_runs
        self.default_share = default_share
        self.ledger = ledger
        self.random_state = random_state

    def _settings(self) -> list[dict[str, Any]]:
        seed = seed_of(self.random_state)
        return list(ParameterSampler(self.param_distributions, self.n_iter, random_state=seed))
