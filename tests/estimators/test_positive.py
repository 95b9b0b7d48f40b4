"""Coefficients of least squares that may not be negative: scikit-learn's without noise, and never negative with it."""

import warnings

import numpy as np
import pytest
from estimators.test_agreement_everywhere import numbers
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression, Ridge

from skdp import DPElasticNet, DPLasso, DPLinearRegression, DPRidge, PrivacyWarning

PAIRS = {
    "ridge": (DPRidge(alpha=0.1), Ridge(alpha=0.1, tol=1e-14, max_iter=100_000)),
    "none": (DPLinearRegression(), LinearRegression()),
    "lasso": (DPLasso(alpha=1e-4), Lasso(alpha=1e-4, tol=1e-12, max_iter=100_000)),
    "both": (DPElasticNet(alpha=1e-4), ElasticNet(alpha=1e-4, tol=1e-12, max_iter=100_000)),
}


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("where", ["iso", "few"])
@pytest.mark.parametrize("name", PAIRS)
def test_it_is_scikit_learns_without_noise(name, where, intercept):
    X, y = numbers(where)
    ours, theirs = PAIRS[name]
    theirs.set_params(positive=True, fit_intercept=intercept).fit(X, y)
    ours.set_params(positive=True, fit_intercept=intercept, y_bounds=(-1.0, 1.0), data_norm=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        ours.set_params(epsilon=np.inf).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    assert ((ours.coef_ == 0.0) == (theirs.coef_ == 0.0)).all() and (theirs.coef_ == 0.0).any()
    for solver in ("auto", "gd"):
        noisy = ours.set_params(epsilon=1.0, random_state=0, solver=solver).fit(X, y)
        assert (noisy.coef_ >= 0.0).all()
    ours.set_params(solver="auto")
