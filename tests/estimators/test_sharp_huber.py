"""Huber regression without noise: exact however small the threshold is beside the range of targets.

And where none is given: that of 1.35 deviations of residuals, in whatever unit targets are.
"""

import warnings

import numpy as np
import pytest
from estimators.test_agreement import TABLES
from estimators.test_agreement_everywhere import exact, fitted, huber, numbers
from laws.vaults import RELATIONS
from sklearn.linear_model import HuberRegressor, LinearRegression, QuantileRegressor

from skdp import DPHuberRegressor, PrivacyWarning
from skdp.entry import to_columns
from skdp.solvers import ObjectivePerturbation, TwoPhase


def model_for(threshold, **given):
    return DPHuberRegressor(threshold=threshold, **({"y_bounds": (-1.0, 1.0)} | given))


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("threshold", [0.3, 1e-2, 1e-3])
@pytest.mark.parametrize("where", TABLES)
def test_it_is_newtons_fit(where, threshold, fit_intercept):
    X, y = numbers(where)
    alpha = 0.1 * threshold
    model = model_for(threshold, alpha=alpha, fit_intercept=fit_intercept)
    found = fitted(model, X, y, np.inf, 0)[: X.shape[1] + fit_intercept]
    best = exact(huber(threshold), X, y, alpha, fit_intercept)
    assert np.linalg.norm(found - best) <= 1e-7 * np.linalg.norm(best)


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_it_is_that_of_weighted_records_in_any_unit(neighbors):
    X, y = numbers("few")
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    best = exact(huber(1e-2), X[rows], y[rows], 1e-3, True)
    given = {"max_sample_weight": 3.0, "neighbors": neighbors, "n_public": len(y)}
    model = model_for(1e4, alpha=1e-3, y_bounds=(-1e6, 1e6), data_norm=1.0, **given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        model.set_params(epsilon=np.inf).fit(X, 1e6 * y, sample_weight=weights)
    found = np.append(model.coef_, model.intercept_) / 1e6
    assert np.linalg.norm(found - best) <= 1e-6 * np.linalg.norm(best)


def test_a_threshold_of_next_to_nothing_is_the_median():
    X, y = numbers("few")
    best = QuantileRegressor(alpha=0.0).fit(X, y)
    for threshold in (1e-9, 1e-12, 1e-30):
        found = fitted(model_for(threshold, alpha=0.0), X, y, np.inf, 0)
        np.testing.assert_allclose(found[:-1], best.coef_, atol=1e-6 * np.abs(best.coef_).max())


def test_a_threshold_beyond_all_residuals_is_least_squares():
    X, y = numbers("few")
    best = LinearRegression().fit(X, y)
    for threshold in (2.0, 1e6):
        found = fitted(model_for(threshold, alpha=0.0), X, y, np.inf, 0)
        np.testing.assert_allclose(found[:-1], best.coef_, rtol=1e-6)


def test_it_is_scikit_learns_with_the_unit_that_it_estimates():
    X, y = numbers("iso")
    best = HuberRegressor(tol=1e-9, max_iter=10**5, epsilon=1.01).fit(X, y)
    given = {"threshold": 1.01 * best.scale_, "alpha": best.alpha * best.scale_}
    found = fitted(model_for(**given), X, y, np.inf, 0)
    np.testing.assert_allclose(found[:-1], best.coef_, atol=1e-4 * np.abs(best.coef_).max())


def test_of_rows_whose_norm_is_bought_the_penalty_counts_as_much():
    X, y = numbers("few")
    bought = model_for(1e-3, alpha=0.1, epsilon=np.inf, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        bought.fit(X, y)
        declared = model_for(1e-3, alpha=0.1, epsilon=np.inf, data_norm=bought.data_norm_)
        declared.fit(to_columns(X, bought.bounds_), y)
        free = model_for(1e-3, alpha=0.0, epsilon=np.inf, data_norm=bought.data_norm_)
        free.fit(to_columns(X, bought.bounds_), y)
    np.testing.assert_allclose(bought.coef_, declared.coef_, rtol=1e-6)
    assert not np.allclose(free.coef_, declared.coef_, rtol=0.1)


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_with_noise_nothing_is_another(neighbors):
    given = {"neighbors": neighbors, "n_public": 1000, "data_norm": 1.0}
    for solver, kind in (("auto", TwoPhase), ("objective-perturbation", ObjectivePerturbation)):
        receipt = model_for(1e-3, epsilon=1e6, solver=solver, **given).quote(1000, 3)
        assert receipt.solver.startswith(kind.__name__)
    named = model_for(1e-3, epsilon=np.inf, solver="two-phase", **given)
    assert named.quote(1000, 3).solver.startswith("TwoPhase")


@pytest.mark.parametrize("where", TABLES)
def test_without_a_threshold_it_is_that_of_so_many_deviations_of_residuals(where):
    X, y = numbers(where)
    left = y - LinearRegression().fit(X, y).predict(X)
    found = fitted(model_for(None, alpha=0.0), X, y, np.inf, 0)[: X.shape[1] + 1]
    best = exact(huber(1.35 * np.sqrt(np.mean(left**2))), X, y, 0.0, True)
    assert np.linalg.norm(found - best) <= 1e-3 * np.linalg.norm(best)


@pytest.mark.parametrize("epsilon", [0.5, np.inf])
def test_without_a_threshold_the_unit_of_targets_is_of_no_account(epsilon):
    X, y = numbers("few")
    in_small = fitted(model_for(None, alpha=0.0), X, y, epsilon, 0)
    in_large = model_for(None, alpha=0.0, y_bounds=(-1024.0, 1024.0))
    np.testing.assert_allclose(fitted(in_large, X, 1024.0 * y, epsilon, 0), 1024.0 * in_small)


def test_solvers_that_estimate_no_residuals_take_a_share_of_the_range():
    X, y = numbers("few")
    given = {"y_bounds": (-4.0, 4.0), "solver": "gd", "alpha": 0.0}
    fits = [fitted(model_for(threshold, **given), X, y, 1.0, 0) for threshold in (None, 0.4)]
    np.testing.assert_allclose(*fits, rtol=1e-9)
