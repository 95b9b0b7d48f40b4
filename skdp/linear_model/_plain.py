"""Plain fitted estimators of scikit-learn's with the coefficients of private ones, which are released already."""

from importlib import import_module
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..exceptions import NotSupported

__all__ = ["to_sklearn"]

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
