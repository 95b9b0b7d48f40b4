"""Intervals for coefficients: exact without noise, held by simulation with it, refused where noise is too high."""

import math
import warnings

import numpy as np
import pytest
from scipy.stats import t as student

from skdp import DPLinearRegression, DPRidge, NotSupported, PrivacyWarning
from skdp.linear_model._intervals import estimates
from skdp.mechanisms import JointMoments
from skdp.solvers import TwoPhase

RELATIONS = ("replace_one", "add_remove")
W = np.array([0.3, -0.2, 0.1])
GIVEN = {"y_bounds": (-3.0, 3.0), "data_norm": 4.0, "random_state": 0}


def table(n, rng, d=3):
    X = rng.normal(size=(n, d))
    return X, X @ W[:d] + 0.1 + 0.25 * rng.normal(size=n)


def quiet(model, X, y, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        return model.fit(X, y, **given)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize(
    "model", [DPLinearRegression(epsilon=math.inf), DPRidge(epsilon=math.inf, alpha=50.0)]
)
def test_without_noise_they_are_the_textbooks(model, neighbors, fit_intercept):
    """Of least squares without a penalty, whatever the fit's own, with normal quantiles in place of Student's."""
    X, y = table(500, np.random.default_rng(0))
    model.set_params(**{**GIVEN, "data_norm": 10.0}, neighbors=neighbors, n_public=500)
    quiet(model.set_params(fit_intercept=fit_intercept), X, y)
    Z = np.column_stack([X, np.ones(500)]) if fit_intercept else X
    w, residual = np.linalg.lstsq(Z, y, rcond=None)[:2]
    covariance = residual[0] / (500 - Z.shape[1]) * np.linalg.inv(Z.T @ Z)
    exact = np.sqrt(np.diagonal(covariance))[:3]
    np.testing.assert_allclose(model.coef_std_, exact, rtol=1e-9)
    low, high = model.conf_int(0.9).T
    np.testing.assert_allclose((low + high) / 2.0, w[:3], rtol=1e-9)
    np.testing.assert_allclose(high - low, 2.0 * student(1e9).ppf(0.95) * exact, rtol=1e-6)


def covered(runs, level, blind=False, **given):
    """How many of many intervals hold their coefficient; those of a blind one do not know of the noise."""
    rng, hits = np.random.default_rng(7), []
    for seed in range(runs):
        X, y = table(2000, rng)
        declared = {**GIVEN, "random_state": seed, **given}
        model = DPLinearRegression(epsilon=4.0, **declared).fit(X, y)
        low, high = model.conf_int(level).T
        if blind:
            reach = 1.645 * 0.25 / math.sqrt(2000)
            low, high = (low + high) / 2.0 - reach, (low + high) / 2.0 + reach
        hits.append((low < W) & (high > W))
    return float(np.mean(hits))


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_they_hold_the_coefficient_as_often_as_they_say(neighbors):
    """450 intervals at 90 %: four standard errors of that many are 5.7 points."""
    assert 0.843 < covered(150, 0.9, neighbors=neighbors) < 0.957


def test_intervals_that_forget_the_noise_do_not():
    assert covered(60, 0.9, blind=True) < 0.7


def test_a_solver_may_give_moments_more_of_the_budget():
    X, y = table(4000, np.random.default_rng(1))
    narrow, wide = (
        DPRidge(epsilon=2.0, solver=TwoPhase(moment_share=share), **GIVEN)
        .fit(X, y)
        .coef_std_.mean()
        for share in (0.9, 0.3)
    )
    assert narrow < 0.75 * wide


def test_where_noise_hides_a_direction_none_is_given():
    X, y = table(2000, np.random.default_rng(2))
    X[:, 1] = X[:, 0] + 1e-3 * X[:, 1]
    model = DPLinearRegression(epsilon=1.0, **GIVEN).fit(X, y)
    with pytest.raises(NotSupported, match=r"moment_share=0\.9"):
        model.conf_int()
    with pytest.warns(UserWarning, match="intervals are rough"):
        DPLinearRegression(epsilon=4.0, **GIVEN).fit(
            *table(650, np.random.default_rng(3))
        ).conf_int()


def collinear(n, rng):
    """Four columns, of which two are nearly one, and a target; the target's middle is 0, as of its bounds."""
    X = rng.normal(size=(n, 4))
    X[:, 3] = X[:, 0] + 0.01 * X[:, 3]
    return X, X @ [0.3, -0.2, 0.1, 0.1] + 0.3 + 0.25 * rng.normal(size=n)


def test_of_a_ridge_there_are_intervals_where_noise_hides_a_direction():
    """Of the coefficients that a ridge regression of the told strength has on 200,000 records: 400 intervals."""
    rng, hits, n = np.random.default_rng(3), [], 2000
    X, y = collinear(200_000, rng)
    moment, products = X.T @ X / 100.0, X.T @ y / 100.0
    ones = X.sum(axis=0) / 100.0, y.sum() / 100.0
    for seed in range(100):
        declared = GIVEN | {"random_state": seed}
        model = DPLinearRegression(epsilon=2.0, **declared).fit(*collinear(n, rng))
        # The constant is a quarter of data_norm = 4, so that its weight is the intercept.
        A = np.block([[moment, ones[0][:, None]], [ones[0][None], np.full((1, 1), float(n))]])
        w = np.linalg.solve(A + model.interval_alpha_ * np.eye(5), [*products, ones[1]])[:4]
        low, high = model.conf_int(0.9, of="ridge").T
        hits.append((low < w) & (w < high))
        if seed == 0:
            with pytest.raises(NotSupported, match=r"conf_int\(of='ridge'\)"):
                model.conf_int()
    assert 0.85 < np.mean(hits) < 0.96
    again = DPRidge(epsilon=2.0, **GIVEN).fit(*collinear(n, rng))
    assert again.interval_alpha_ == model.interval_alpha_  # of public numbers alone
    with pytest.raises(ValueError, match="of='lasso' is not known"):
        model.conf_int(of="lasso")


def test_without_noise_a_ridge_is_none():
    X, y = table(500, np.random.default_rng(0))
    model = quiet(DPRidge(epsilon=math.inf, **GIVEN), X, y)
    np.testing.assert_allclose(model.conf_int(of="ridge"), model.conf_int())
    assert model.interval_alpha_ == 0.0


def test_what_has_no_moments_says_so():
    X, y = table(400, np.random.default_rng(4))
    owners = np.arange(400) // 2
    for given, extra in (
        ({"solver": "gd"}, {}),
        ({"max_sample_weight": 2.0}, {"sample_weight": np.ones(400)}),
        ({"max_rows_per_group": 2}, {"groups": owners}),
    ):
        model = DPRidge(epsilon=4.0, **GIVEN, **given).fit(X, y, **extra)
        assert np.isnan(model.coef_std_).all()
        with pytest.raises(NotSupported, match="rows with equal weights"):
            model.conf_int()


def test_a_refit_by_another_solver_keeps_nothing():
    X, y = table(4000, np.random.default_rng(5))
    model = DPRidge(epsilon=4.0, **GIVEN).fit(X, y)
    assert np.isfinite(model.coef_std_).all() and model.conf_int().shape == (3, 2)
    assert np.isnan(model.set_params(solver="gd").fit(X, y).coef_std_).all()


@pytest.mark.parametrize("level", [0.0, 1.0, 95, "high", None, math.nan, True])
def test_wrong_levels_are_refused(level):
    model = DPRidge(epsilon=4.0, **GIVEN).fit(*table(4000, np.random.default_rng(6)))
    with pytest.raises(ValueError, match=r"level=.* between 0 and 1"):
        model.conf_int(level)


def test_the_bias_of_a_noisy_inverse_is_taken_out():
    """Means over many noises of estimates lie where the estimate without noise lies, and deviations are right."""
    rng = np.random.default_rng(8)
    Z = rng.normal(size=(800, 3)) / 2.0
    t = Z @ [0.5, -0.4, 0.3] + 0.2 * rng.normal(size=800)
    T = np.column_stack([Z, t])
    exact, deviations = T.T @ T, (14.0, 14.0, 11.0)
    half = np.sqrt(0.5) * deviations[0]
    found = []
    for _ in range(4000):
        noise = rng.normal(size=(4, 4))
        noise = np.triu(noise, 1) * half + np.diag(np.diagonal(noise)) * deviations[0]
        noise[:3, 3] = deviations[1] * rng.normal(size=3)
        noise[3, 3] = deviations[2] * rng.normal()
        found.append(estimates(exact + np.triu(noise) + np.triu(noise, 1).T, deviations, 800.0))
    w = np.linalg.solve(exact[:3, :3], exact[:3, 3])
    centres = np.array([f.w for f in found])
    error = centres.std(axis=0) / math.sqrt(len(found))
    assert (np.abs(centres.mean(axis=0) - w) < 4.0 * error).all()
    sampling = 0.2**2 * np.diagonal(np.linalg.inv(exact[:3, :3]))
    noise_alone = np.sqrt(np.mean([f.deviation**2 for f in found], axis=0) - sampling)
    np.testing.assert_allclose(noise_alone, centres.std(axis=0), rtol=0.1)


def test_noises_are_those_that_the_question_states():
    model = DPRidge(epsilon=4.0, **GIVEN).fit(*table(1000, np.random.default_rng(9)))
    assert model._listens is JointMoments and "joint_moments" in model.privacy_.proofs
