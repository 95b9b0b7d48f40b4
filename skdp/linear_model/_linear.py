"""Base class of the private linear classifiers: a loss of scores, and coefficients on the user's scale.

Plain fitted estimators of scikit-learn's with the coefficients of private ones, which are released already.
"""

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import field
from importlib import import_module
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import check_is_fitted

from ..exceptions import NotSupported
from ..fitting import Plan, PrivateClassifier, Sizes
from ..fitting._fields import attribute, parameter
from ..fitting.data import Array, scores
from ..fitting.learner import N_ITER_
from ..fitting.starting import COEF_INIT, INTERCEPT_INIT, WARM_START, Start
from ..losses import Loss
from ..mechanisms import Public
from ..penalties import L2, NoPenalty, Penalty, make_scaled
from ..solvers import Task

__all__ = ["LinearClassifier", "keep_single", "to_sklearn"]


# Whose predictions follow from public attributes alone. Those of PoissonRegressor need a private one.
_PLAIN = {
    "DPElasticNet": ("sklearn.linear_model", "ElasticNet"),
    "DPHuberRegressor": ("sklearn.linear_model", "HuberRegressor"),
    "DPLasso": ("sklearn.linear_model", "Lasso"),
    "DPLinearRegression": ("sklearn.linear_model", "LinearRegression"),
    "DPLinearSVC": ("sklearn.svm", "LinearSVC"),
    "DPLinearSVR": ("sklearn.svm", "LinearSVR"),
    "DPLogisticRegression": ("sklearn.linear_model", "LogisticRegression"),
    "DPQuantileRegressor": ("sklearn.linear_model", "QuantileRegressor"),
    "DPRidge": ("sklearn.linear_model", "Ridge"),
}
_KEPT = "classes_", "feature_names_in_", "n_features_in_", "n_iter_"


def to_sklearn(self: Any) -> Any:
    """Return a plain fitted estimator of scikit-learn's with the same coefficients, for exporters and explainers.

    Converters to ONNX or PMML, and tools that know scikit-learn's classes by name, take it. It costs nothing: the
    coefficients have been released. What it loses is the receipt, and clipping: it cuts no prediction to ``y_bounds``,
    and where ``data_norm=None`` had bought bounds of columns, no cell to these. Its parameters are scikit-learn's
    defaults but for ``fit_intercept``; to fit it again on private records is not private.

    Returns
    -------
    estimator
        Such as ``sklearn.linear_model.LogisticRegression``.

    Examples
    --------
    >>> from skdp import DPLogisticRegression
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(5000, n_features=5, random_state=0)
    >>> model = DPLogisticRegression(data_norm=3.0, classes=[0, 1], random_state=0).fit(X, y)
    >>> plain = model.to_sklearn()
    >>> type(plain).__name__, bool((plain.predict(X) == model.predict(X)).all())
    ('LogisticRegression', True)
    """
    check_is_fitted(self)
    module, name = _plain_of(self)
    coef = self.coef_.toarray() if hasattr(self.coef_, "toarray") else np.array(self.coef_)
    intercept = self.intercept_
    if hasattr(self, "bounds_"):  # coefficients are of columns on [-1, 1]
        slope, shift = self._affine()
        coef, intercept = coef * slope, intercept + coef @ shift
    plain = getattr(import_module(module), name)(fit_intercept=self.fit_intercept)
    plain.coef_ = coef
    plain.intercept_ = np.array(intercept) if np.ndim(intercept) else float(intercept)
    for kept in _KEPT:
        if hasattr(self, kept):
            setattr(plain, kept, np.copy(found) if np.ndim(found := getattr(self, kept)) else found)
    return plain


def _plain_of(model: Any) -> tuple[str, str]:
    """Return module and name of the plain estimator that predicts as a private one does."""
    several = len(getattr(model, "classes_", ())) > 2
    if several and hasattr(model, "predict_proba") and model._one_by_one():
        raise NotSupported(
            "multi_class='ovr' of more than two classes has no plain LogisticRegression, whose probabilities are those "
            "of one fit; use multi_class='multinomial'."
        )
    for kind in type(model).__mro__:
        if kind.__name__ in _PLAIN:
            return _PLAIN[kind.__name__]
    raise NotSupported(
        f"{type(model).__name__} has no plain counterpart in scikit-learn that predicts from public attributes alone; "
        "export coef_ and intercept_."
    )


# The constant column that carries the intercept, beside rows of norm at most 1. A column of 1 would cost 41 % more
# noise everywhere; a quarter costs 3 %.
INTERCEPT_SIZE = 0.25
LARGEST = 1e100  # of a stored parameter, before it is divided by data_norm, which is at least 1e-30


def keep_single(estimator: Any) -> None:
    """Round the coefficients of a fit on single precision to it, as post-processing; none becomes infinite."""
    most = float(np.finfo(np.float32).max)
    for name in ("coef_", "intercept_"):
        rounded = np.clip(getattr(estimator, name), -most, most).astype(np.float32)
        setattr(estimator, name, rounded)


class LinearClassifier(PrivateClassifier):
    """Base class of the private linear classifiers; each one names its loss.

    Parameters
    ----------
    penalty : {"auto", "l2", "l1", "elasticnet", "scad", "mcp", None} or Penalty, default="auto"
        Penalty on the coefficients; the intercept is free. "auto" goes by ``l1_ratio``.
    C : float, default=1.0
        Inverse strength of the penalty, relative to the SUM of losses; ``inf`` for none.
    l1_ratio : float, default=None
        Share of L1 in the elastic net: None or 0 is L2, 1 is L1, as in scikit-learn.
    fit_intercept : bool, default=True
        Whether to add a constant column, which the bound covers.

    Attributes
    ----------
    coef_ : ndarray of shape (n_outputs, n_features)
        Private coefficients: one row for two classes, else one for each class.
    intercept_ : ndarray of shape (n_outputs,)
        Private intercepts.
    """

    penalty: str | Penalty | None = "auto"
    C: float = 1.0
    l1_ratio: float | None = None
    fit_intercept: bool = True
    coef_init: ArrayLike | None = parameter(None, COEF_INIT)
    intercept_init: ArrayLike | None = parameter(None, INTERCEPT_INIT)
    warm_start: bool = parameter(False, WARM_START)
    _begins: ClassVar[type[Start]] = Start
    coef_: Array = field(init=False)
    intercept_: Array = field(init=False)
    n_iter_: Array = attribute(N_ITER_)
    to_sklearn = to_sklearn

    def decision_function(self, X: ArrayLike) -> Array:
        """Scores of rows: ``X @ coef_.T + intercept_``.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Positive for the second of two classes; with more classes, one column for each.
        """
        check_is_fitted(self)
        X, coef = self._rows(X), self.coef_
        if coef.shape[0] > 1:
            return scores(X, coef.T, self.intercept_)
        one = coef.T if issparse(coef) else coef[0]
        return scores(X, one, self.intercept_[0]).ravel()

    def sparsify(self) -> Self:
        """Keep ``coef_`` as a sparse array, which takes less memory where most coefficients are 0.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self.coef_ = csr_array(self.coef_)
        return self

    def densify(self) -> Self:
        """Keep ``coef_`` as an array again.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        kept: Any = self.coef_
        if issparse(kept):
            self.coef_ = kept.toarray()
        return self

    @abstractmethod
    def _loss(self, outputs: int) -> Loss:
        """Return the loss of a record's scores."""

    def _ignored(self) -> Iterator[str]:
        """A sentence for each parameter of the penalty that has no effect beside the others."""
        none = self.penalty is None or (isinstance(self.penalty, str) and self.penalty == "none")
        if none and self.C not in (1.0, math.inf):
            yield f"Setting penalty=None will ignore the C and l1_ratio parameters: C={self.C} has no effect."
        if isinstance(self.penalty, Penalty) and self.C != 1.0:
            yield f"penalty={self.penalty} carries its own strength: C={self.C} has no effect."
        if self.l1_ratio is None or self.penalty in ("auto", "elasticnet"):
            return
        if self.l1_ratio != {"l1": 1.0, "l2": 0.0}.get(str(self.penalty)):
            yield (
                f"l1_ratio={self.l1_ratio} is only used when penalty is 'elasticnet' or 'auto', not {self.penalty!r}."
            )

    def _problem(self, sizes: Sizes) -> tuple[Public, Task]:
        """The sum of losses and the user's penalty on it, both over the heaviest weight; the intercept is free."""
        intercept = INTERCEPT_SIZE if self.fit_intercept else 0.0
        bound = max(1.0, sizes.outputs - 1.0)  # of classes' codes
        public = Public(sizes.n, sizes.n_features, intercept, self.neighbors, target_bound=bound)
        # The flat part of SCAD and MCP is placed per record; where n is private, on the scale of the sum.
        weight = float(public.n or 1)
        penalty = make_scaled(
            self.penalty,
            sizes.norm,
            bool(self.fit_intercept),
            strength=1.0 / float(self.C),
            over=sizes.heaviest,
            l1_ratio=self.l1_ratio,
            weight=weight,
        )
        shape = (public.width,) if sizes.outputs == 1 else (public.width, sizes.outputs)
        return public, Task(self._loss(sizes.outputs), penalty, shape, tuple(self._ignored()))

    def _store(self, w: Array, plan: Plan) -> None:
        """Coefficients on the user's scale: cutting what has been paid for is free, and data_norm is public."""
        w = _one_of_equals(w, plan) if w.ndim > 1 else w[:, None]
        w = np.clip(w, -LARGEST, LARGEST)
        self.coef_ = np.ascontiguousarray((w[: plan.public.n_features] / plan.data_norm).T)
        last = w[-1] * plan.public.intercept
        self.intercept_ = last if self.fit_intercept else np.zeros(w.shape[1])


def _one_of_equals(w: Array, plan: Plan) -> Array:
    """Return those of the parameters with equal probabilities that scikit-learn's solvers end in.

    A part that all classes share does not matter. Its noise is removed, which is free, where the penalty wants none
    of it or does not look. An L1 penalty wants a median of 0, and zeros are to stay zeros.

    What all classes have in common does not matter: the noise of it is taken out, which is free, where the penalty
    wants none of it or does not look. An L1 penalty wants a median of 0, and zeros are to stay zeros.
    """
    if plan.fits > 1:
        return w
    free = slice(None) if isinstance(plan.task.penalty.penalty, L2 | NoPenalty) else slice(-1, None)
    if free.start and not plan.task.penalty.intercept:
        return w
    w = w.copy()
    w[free] -= w[free].mean(axis=1, keepdims=True)
    return w
