"""scikit-learn's names and parameters over this library's estimators at epsilon = inf, for scikit-learn's own tests.

An adapter maps parameters and hands over; it mends nothing. What has no meaning here (iterations, tolerances, names of
solvers) it takes and drops: the tests that look at these are those that do not apply.
"""

import inspect
import warnings

import numpy as np
from scipy import sparse
from sklearn import linear_model, svm

from skdp import (
    DPElasticNet,
    DPHuberRegressor,
    DPLasso,
    DPLinearRegression,
    DPLinearSVC,
    DPLinearSVR,
    DPLogisticRegression,
    DPQuantileRegressor,
    DPRidge,
    PrivacyWarning,
)

# What no adapter can know of the estimators but by asking: these come and go with their own tests.
WEIGHTS = ("class_weight",)


class _Adapted:
    """Fits the estimator without noise, with bounds that hold, and takes on its fitted attributes."""

    neighbors, fits = "replace_one", 0

    def _mapped(self, X, y, sample_weight):
        """Parameters of the estimator."""
        raise NotImplementedError

    def fit(self, X, y, sample_weight=None, check_input=True):
        """Fit; a weight is passed on only where one is given."""
        type(self).fits += 1
        given = self._mapped(X, y, sample_weight)
        for name in WEIGHTS:
            if getattr(self, name, None) is not None:
                given[name] = getattr(self, name)
        weights = {}
        if sample_weight is not None:
            if np.ndim(sample_weight) == 0 and np.isfinite(sample_weight):
                sample_weight = np.full(np.shape(X)[0], sample_weight)
            weights["sample_weight"] = sample_weight
            given["max_sample_weight"] = heaviest(sample_weight)
        given |= {"epsilon": np.inf, "data_norm": longest_row(X)}
        given["warm_start"] = getattr(self, "warm_start", False)
        model = vars(self).get("_last") if given["warm_start"] else None
        model = self.made(**given) if model is None else model.set_params(**given)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyWarning)
            model.fit(X, y, **weights)
        self._last = model
        for name, value in vars(model).items():
            if name.endswith("_") and not name.startswith("_"):
                setattr(self, name, value)
        return self


def heaviest(sample_weight):
    """A bound on weights; 1 for what is none, which the estimator is to refuse."""
    try:
        most = float(np.max(sample_weight))
    except Exception:
        return 1.0
    return most if np.isfinite(most) and most > 0.0 else 1.0


def longest_row(X):
    """A bound on the norm of a row; 1 for what is no table, which the estimator is to refuse."""
    try:
        squares = X.multiply(X) if sparse.issparse(X) else np.square(np.asarray(X, dtype=float))
        norm = float(np.sqrt(np.max(squares.sum(axis=1))))
    except Exception:
        return 1.0
    return norm * (1.0 + 1e-12) if np.isfinite(norm) and norm > 0.0 else 1.0


def bounds_of(y):
    """Bounds of targets, of each output; (-1, 1) for what is no target, which the estimator is to refuse."""
    try:
        y = np.asarray(y, dtype=float)
        low, high = y.min(axis=0), y.max(axis=0)
        if not np.isfinite(low).all() or not np.isfinite(high).all():
            return (-1.0, 1.0)
    except Exception:
        return (-1.0, 1.0)
    flat = high - low <= 1e-9 * np.abs(high)
    low, high = low - flat, high + flat
    pairs = list(zip(np.atleast_1d(low).tolist(), np.atleast_1d(high).tolist()))
    return pairs[0] if len(pairs) == 1 else pairs


def adapter(theirs, ours):
    """A decorator: the class becomes `ours` with the constructor of `theirs`."""

    def made(kind):
        signature = inspect.signature(theirs.__init__)

        def __init__(self, *args, **given):
            found = signature.bind(self, *args, **given)
            found.apply_defaults()
            for name, value in list(found.arguments.items())[1:]:
                setattr(self, name, value)

        __init__.__signature__ = signature
        room = {"made": ours, "__init__": __init__, "clip_predictions": False, "fits": 0}
        return type(theirs.__name__, (kind, _Adapted, ours), room)

    return made


class _Regressor:
    """With bounds of targets."""

    def _mapped(self, X, y, sample_weight):
        given = {"fit_intercept": self.fit_intercept, "y_bounds": bounds_of(y)}
        given["clip_predictions"] = False
        return given | {name: getattr(self, name) for name in self.names if hasattr(self, name)}

    names = ()


@adapter(linear_model.LogisticRegression, DPLogisticRegression)
class LogisticRegression:
    """Of classes."""

    def _mapped(self, X, y, sample_weight):
        penalty = "auto" if self.penalty == "deprecated" else self.penalty
        named = penalty not in ("auto", "elasticnet")
        ratio = None if named and self.l1_ratio == 0.0 else self.l1_ratio
        given = {"penalty": penalty, "C": self.C, "l1_ratio": ratio}
        return given | {"fit_intercept": self.fit_intercept}

    def _loss(self):
        return DPLogisticRegression()._loss()


@adapter(svm.LinearSVC, DPLinearSVC)
class LinearSVC:
    """Of classes."""

    def _mapped(self, X, y, sample_weight):
        given = {"penalty": self.penalty, "C": self.C, "loss": self.loss}
        return given | {"fit_intercept": self.fit_intercept}


@adapter(linear_model.Ridge, DPRidge)
class Ridge(_Regressor):
    """Of squares."""

    names = ("alpha", "positive")


@adapter(linear_model.LinearRegression, DPLinearRegression)
class LinearRegression(_Regressor):
    """Of squares."""

    names = ("positive",)


@adapter(linear_model.Lasso, DPLasso)
class Lasso(_Regressor):
    """With an alpha that is weighed against the mean: of weights with a mean of 1."""

    names = ("alpha", "positive")

    def fit(self, X, y, sample_weight=None, check_input=True):
        return _of_mean_one(self, X, y, sample_weight)


@adapter(linear_model.ElasticNet, DPElasticNet)
class ElasticNet(_Regressor):
    """The same."""

    names = ("alpha", "l1_ratio", "positive")

    def fit(self, X, y, sample_weight=None, check_input=True):
        return _of_mean_one(self, X, y, sample_weight)


@adapter(linear_model.QuantileRegressor, DPQuantileRegressor)
class QuantileRegressor(_Regressor):
    """The same."""

    names = ("alpha", "quantile")

    def fit(self, X, y, sample_weight=None, check_input=True):
        return _of_mean_one(self, X, y, sample_weight)


def _of_mean_one(model, X, y, sample_weight):
    if sample_weight is not None and np.ndim(sample_weight) < 2 and np.mean(sample_weight) > 0:
        sample_weight = np.asarray(sample_weight) / np.mean(sample_weight)
    return _Adapted.fit(model, X, y, sample_weight)


@adapter(linear_model.HuberRegressor, DPHuberRegressor)
class HuberRegressor(_Regressor):
    """The unit of residuals, which scikit-learn estimates of the same data, is its own fit's."""

    def _mapped(self, X, y, sample_weight):
        theirs = _HUBER(**{name: getattr(self, name) for name in _HUBER().get_params()})
        self.scale_ = (
            theirs.set_params(max_iter=10_000, warm_start=False, tol=1e-8)
            .fit(X, y, sample_weight)
            .scale_
        )
        given = super()._mapped(X, y, sample_weight)
        return given | {"threshold": self.epsilon * self.scale_, "alpha": self.alpha * self.scale_}


_HUBER = linear_model.HuberRegressor


@adapter(svm.LinearSVR, DPLinearSVR)
class LinearSVR(_Regressor):
    """The margin is called epsilon there."""

    names = ("C", "loss")

    def _mapped(self, X, y, sample_weight):
        given = {"margin": self.epsilon}
        return super()._mapped(X, y, sample_weight) | given


ADAPTERS = {
    kind.__name__: kind
    for kind in (
        *(LogisticRegression, LinearSVC, Ridge, LinearRegression, Lasso, ElasticNet),
        *(QuantileRegressor, HuberRegressor, LinearSVR),
    )
}
