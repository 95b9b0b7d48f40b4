"""scikit-learn's names and parameters over this library's estimators at epsilon = inf, for scikit-learn's own tests.

An adapter maps parameters and hands over; it mends nothing. What has no meaning here (iterations, tolerances, names of
solvers) it takes and drops: the tests that look at these are those that do not apply.
"""

import inspect
import warnings

import numpy as np
from scipy import sparse

from skdp import DPLinearSVC, DPLogisticRegression, PrivacyWarning

# What no adapter can know of the estimators but by asking: these come and go with their own tests.
WEIGHTS = ("class_weight",)


class _Adapted:
    """Fits the estimator without noise, with a bound that holds, and takes on its fitted attributes."""

    neighbors, fits = "replace_one", 0

    def _mapped(self):
        """Parameters of the estimator."""
        raise NotImplementedError

    def fit(self, X, y, sample_weight=None):
        """Fit; a weight is passed on only where one is given."""
        type(self).fits += 1
        given = self._mapped()
        for name in WEIGHTS:
            if getattr(self, name, None) is not None:
                given[name] = getattr(self, name)
        weights = {}
        if sample_weight is not None:
            weights["sample_weight"] = sample_weight
            given["max_sample_weight"] = heaviest(sample_weight)
        model = self.made(epsilon=np.inf, data_norm=longest_row(X), **given)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyWarning)
            model.fit(X, y, **weights)
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


class LogisticRegression(_Adapted, DPLogisticRegression):
    """With the signature of scikit-learn 1.9."""

    made = DPLogisticRegression

    def __init__(
        self,
        penalty="deprecated",
        *,
        C=1.0,
        l1_ratio=0.0,
        dual=False,
        tol=1e-4,
        fit_intercept=True,
        intercept_scaling=1,
        class_weight=None,
        random_state=None,
        solver="lbfgs",
        max_iter=100,
        verbose=0,
        warm_start=False,
        n_jobs=None,
    ):
        own = inspect.signature(type(self).__init__).parameters
        given = locals()
        for name in own:
            if name != "self":
                setattr(self, name, given[name])

    def _mapped(self):
        penalty = "auto" if self.penalty == "deprecated" else self.penalty
        named = penalty not in ("auto", "elasticnet")
        ratio = None if named and self.l1_ratio == 0.0 else self.l1_ratio
        given = {"penalty": penalty, "C": self.C, "l1_ratio": ratio}
        return given | {"fit_intercept": self.fit_intercept}

    def _loss(self):
        return DPLogisticRegression()._loss()


class LinearSVC(_Adapted, DPLinearSVC):
    """With the signature of scikit-learn 1.9."""

    made = DPLinearSVC

    def __init__(
        self,
        penalty="l2",
        loss="squared_hinge",
        *,
        dual="auto",
        tol=1e-4,
        C=1.0,
        multi_class="ovr",
        fit_intercept=True,
        intercept_scaling=1,
        class_weight=None,
        verbose=0,
        random_state=None,
        max_iter=1000,
    ):
        own = inspect.signature(type(self).__init__).parameters
        given = locals()
        for name in own:
            if name != "self":
                setattr(self, name, given[name])

    def _mapped(self):
        given = {"penalty": self.penalty, "C": self.C, "loss": self.loss}
        return given | {"fit_intercept": self.fit_intercept}


ADAPTERS = {"LogisticRegression": LogisticRegression, "LinearSVC": LinearSVC}
