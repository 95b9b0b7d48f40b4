"""The two searches: over a grid, and over settings that are drawn from public distributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from sklearn.model_selection import ParameterGrid, ParameterSampler

from ..fitting._seeds import seed_of
from ._search import PrivateSearch

__all__ = ["DPGridSearchCV", "DPRandomizedSearchCV"]


class DPGridSearchCV(PrivateSearch):
    """Choose among the settings of a grid, and fit the best, within one privacy budget.

    With eight settings or fewer each is fitted once on a share of the budget, one is chosen by a noisy comparison, and
    fitted again with most of the budget. With more, a secret and random number of runs is made, each on a setting that
    is drawn at random and scored with noise, and only the best model leaves. Models are scored on the records that they
    were fitted on: private fits hardly overfit, and no record is set aside.

    Parameters
    ----------
    param_grid : dict or list of dict
        Names of parameters and lists of values, as scikit-learn has them. The promise, the relation and the seed are
        not to be chosen.

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
    >>> model = DPLogisticRegression(epsilon=2.0, data_norm=1.0, classes=[0, 1], solver="gd")
    >>> search = DPGridSearchCV(model, {"C": [0.01, 1, 100]})
    >>> round(search.quote(2000, X.shape[1]).epsilon, 2)  # before anything is spent
    2.0
    >>> search.fit(X, y).best_params_["C"] in (0.01, 1, 100)
    True
    """

    param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]] = field(
        kw_only=False
    )

    def _settings(self) -> list[dict[str, Any]]:
        return list(ParameterGrid(self.param_grid))


class DPRandomizedSearchCV(PrivateSearch):
    """Choose among settings drawn from public distributions, and fit the best, within one privacy budget.

    Settings are drawn before any record is read, and are no secret; then it goes on as `DPGridSearchCV` does.

    Parameters
    ----------
    param_distributions : dict or list of dict
        Lists, or distributions with ``rvs``, as in scikit-learn.
    n_iter : int, default=10
        How many settings are drawn.

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

    param_distributions: Mapping[str, Any] | Sequence[Mapping[str, Any]] = field(kw_only=False)
    n_iter: int = 10

    def _settings(self) -> list[dict[str, Any]]:
        seed = seed_of(self.random_state)
        return list(ParameterSampler(self.param_distributions, self.n_iter, random_state=seed))
