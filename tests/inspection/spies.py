"""A stand-in for a private estimator that keeps the tables of its fits, and scikit-learn's meta-estimators."""

import inspect

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.experimental import enable_halving_search_cv, enable_iterative_imputer  # noqa: F401
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import all_estimators

from skdp.model_selection import PositionFold
from skdp.preprocessing import BoundsScaler

SEEN = []  # tables of all fits, in order
ANSWERS = np.array([0.3, -0.7, 0.2])


class _Spy(BaseEstimator):
    """Keeps what each fit reads, and answers by public numbers: answers are held."""

    __module__ = "skdp.tests"  # so that it is taken for one of skdp

    def __init__(self, neighbors="replace_one", epsilon=1.0, delta=1e-6):
        self.neighbors, self.epsilon, self.delta = neighbors, epsilon, delta

    def quote(self, n, n_features):
        raise NotImplementedError

    def fit(self, X, y=None):
        y = np.zeros((len(X), 0)) if y is None else np.reshape(y, (len(X), -1))
        SEEN.append(np.hstack([np.asarray(X, dtype=float), y.astype(float)]))
        self.n_features_in_ = X.shape[1]
        self.coef_ = np.resize(ANSWERS, X.shape[1])
        return self

    def _scores(self, X):
        return np.asarray(X) @ self.coef_


class SpyClassifier(ClassifierMixin, _Spy):
    """Of two labels, whatever it is given."""

    __module__ = "skdp.tests"

    @property
    def classes_(self):
        return np.array([0, 1])

    def predict_proba(self, X):
        shares = 1 / (1 + np.exp(-self._scores(X)))
        return np.column_stack([1 - shares, shares])

    def predict(self, X):
        return (self._scores(X) > 0).astype(int)


class SpyRegressor(RegressorMixin, _Spy):
    """Of one target."""

    __module__ = "skdp.tests"

    def predict(self, X):
        return self._scores(X)


class SpyTransformer(TransformerMixin, _Spy):
    """Turns rows about."""

    __module__ = "skdp.tests"

    def transform(self, X):
        return -np.asarray(X)


FOLDS = [
    None,
    3,
    KFold(3),
    KFold(3, shuffle=True, random_state=0),
    PositionFold(3),
    StratifiedKFold(3),
    "prefit",
]


def built(Meta, inner):
    """Every way in which a meta-estimator can be made around an estimator by the parameters that tell ways apart."""
    params = inspect.signature(Meta).parameters
    given = {}
    for name in ("estimator", "base_estimator", "regressor"):
        if name in params and not given:
            given[name] = inner
    if "estimators" in params:
        given["estimators"] = [("a", inner), ("b", inner)]
    if "final_estimator" in params:
        given["final_estimator"] = inner
    if "steps" in params:
        given["steps"] = [("scale", BoundsScaler((-1, 1))), ("last", inner)]
    if "transformer_list" in params:
        given["transformer_list"] = [("a", inner), ("b", BoundsScaler((-1, 1)))]
    if "transformers" in params:
        given["transformers"] = [("a", inner, [0, 1]), ("b", BoundsScaler((-1, 1)), [2])]
    if not given:
        return
    for name in ("param_grid", "param_distributions"):
        if name in params:
            given[name] = {}
    if "n_iter" in params:
        given["n_iter"] = 1
    if "n_estimators" in params:
        given["n_estimators"] = 3
    for cv in FOLDS if "cv" in params else [...]:
        yield Meta(**given, **({} if cv is ... else {"cv": cv}))


def metas():
    """Meta-estimators of scikit-learn by name."""
    return [(name, kind) for name, kind in all_estimators() if list(built(kind, SpyRegressor()))]
