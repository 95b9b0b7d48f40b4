"""Support vector and Poisson regression: exact without noise, of use with it, and refused in one sentence elsewhere."""

import math
import warnings

import numpy as np
import pytest
from estimators.test_agreement_everywhere import exact, squared_beyond
from scipy.optimize import minimize
from sklearn.linear_model import PoissonRegressor
from sklearn.metrics import d2_tweedie_score
from sklearn.svm import LinearSVR

from skdp import (
    DPElasticNet,
    DPLasso,
    DPLinearSVR,
    DPPoissonRegressor,
    DPRidge,
    NotSupported,
    PrivacyWarning,
)

rng = np.random.default_rng(0)
X = rng.uniform(-1.0, 1.0, (8000, 4))
COUNTS = rng.poisson(np.exp(X @ [0.8, -0.6, 0.3, 0.0] + 0.4))
GIVEN = {"data_norm": 2.0, "random_state": 0}


def quiet(model, y):
    """A fit whose lack of privacy is known."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        return model.fit(X, y)


@pytest.mark.parametrize("alpha", [0.0, 0.01, 1.0])
@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_poisson_without_noise_is_scikit_learns_fit(alpha, neighbors):
    exact = PoissonRegressor(alpha=alpha, tol=1e-12, max_iter=10_000, solver="newton-cholesky")
    exact.fit(X, COUNTS)
    given = {**GIVEN, "neighbors": neighbors, "n_public": len(COUNTS)}
    model = quiet(
        DPPoissonRegressor(epsilon=np.inf, alpha=alpha, y_bounds=(0, 20), **given), COUNTS
    )
    np.testing.assert_allclose(model.coef_, exact.coef_, rtol=1e-5, atol=1e-6)
    assert model.intercept_ == pytest.approx(exact.intercept_, rel=1e-5)
    model.set_params(clip_predictions=False)
    np.testing.assert_allclose(model.predict(X[:9]), exact.predict(X[:9]), rtol=1e-5)


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_poisson_is_of_use(epsilon):
    model = DPPoissonRegressor(epsilon=epsilon, alpha=0.0, y_bounds=(0, 15), **GIVEN).fit(X, COUNTS)
    assert model.privacy_.epsilon <= epsilon
    best = PoissonRegressor(alpha=0.0).fit(X, COUNTS).predict(X)
    shares = [
        d2_tweedie_score(COUNTS, np.maximum(p, 1e-6), power=1) for p in (model.predict(X), best)
    ]
    assert shares[0] > 0.6 * shares[1]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"y_bounds": (1, 5)}, "y_bounds must start at 0"),
        ({"y_bounds": (0, 5), "fit_intercept": False}, "fit_intercept=False"),
        ({"y_bounds": (0, 5), "neighbors": "add_remove", "alpha": 1.0}, "n_public"),
    ],
)
def test_poisson_refuses_what_it_cannot_be(given, said):
    with pytest.raises((ValueError, NotSupported), match=said) as refusal:
        DPPoissonRegressor(data_norm=1.0, **given).fit(None, None)
    assert str(refusal.value).endswith(".")


def support(w, y, margin, C, half=10.0, rounded=0.05):
    """The objective of support vectors with rounded corners, written down once more."""
    h = rounded * half
    beyond = np.abs(y - X @ w[:-1] - w[-1]) - margin
    loss = np.where(beyond < h, 0.5 * np.maximum(beyond, 0.0) ** 2 / h, beyond - 0.5 * h)
    return C * loss.sum() + 0.5 * w[:-1] @ w[:-1]


@pytest.mark.parametrize("margin", [0.0, 0.3])
@pytest.mark.parametrize("C", [0.001, 1.0])
def test_support_vectors_without_noise_reach_the_optimum_of_their_objective(margin, C):
    y = X @ [3.0, -2.0, 1.0, 0.0] + 2.0 + rng.standard_t(3, size=len(X)).clip(-3, 3)
    given = {"y_bounds": (-10, 10), **GIVEN}
    model = quiet(DPLinearSVR(epsilon=np.inf, margin=margin, C=C, smoothing=0.05, **given), y)
    ours = support(np.append(model.coef_, model.intercept_), y, margin, C)
    best = minimize(support, np.zeros(5), (y, margin, C), method="BFGS", options={"gtol": 1e-6})
    assert ours <= best.fun * (1 + 1e-6)


def test_support_vectors_are_of_use_and_their_margin_counts():
    y = X @ [3.0, -2.0, 1.0, 0.0] + 2.0
    fits = [
        DPLinearSVR(epsilon=2.0, margin=margin, y_bounds=(-10, 10), **GIVEN).fit(X, y)
        for margin in (0.1, 3.0)
    ]
    assert fits[0].score(X, y) > 0.9 and not np.array_equal(fits[0].coef_, fits[1].coef_)
    with pytest.raises(ValueError, match=r"margin=-1.*\.$"):
        DPLinearSVR(margin=-1.0, y_bounds=(0, 1), data_norm=1.0).quote(100, 2)
    loose = DPLinearSVR(epsilon=2.0, C=math.inf, y_bounds=(-10, 10), **GIVEN)
    assert loose.quote(100, 4).epsilon <= 2.0


SQUARES = {"loss": "squared_epsilon_insensitive", "y_bounds": (-10, 10), **GIVEN}


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("margin", [0.0, 0.3, 2.0])
@pytest.mark.parametrize("C", [1e-4, 1.0, 100.0])
def test_squares_without_noise_are_scikit_learns_fit(C, margin, neighbors):
    """Newton's steps tell it to nine digits; liblinear stops up to 2e-7 short of the optimum.

    Where the number of records is private, the search ends by a tolerance for a typical one.
    """
    random = np.random.default_rng(1)
    y = X @ [3.0, -2.0, 1.0, 0.0] + random.standard_t(3, size=len(X)).clip(-3, 3)
    given = {"C": C, "fit_intercept": False}
    theirs = LinearSVR(epsilon=margin, dual=False, loss=SQUARES["loss"], tol=1e-14, **given)
    theirs.set_params(max_iter=10**5).fit(X, y)
    ours = DPLinearSVR(epsilon=np.inf, margin=margin, neighbors=neighbors, n_public=8000, **given)
    quiet(ours.set_params(**SQUARES), y)
    best = exact(squared_beyond(margin), X, y, 1.0 / C, False)
    known = 1e-9 if neighbors == "replace_one" else 5e-6
    np.testing.assert_allclose(ours.coef_, best, rtol=known, atol=known)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=0.0, atol=known + 1e-6)


def test_weights_of_squares_are_scikit_learns():
    random = np.random.default_rng(2)
    y, weights = X @ [3.0, -2.0, 1.0, 0.0] + 2.0, random.integers(0, 4, len(X)).astype(float)
    given = {"C": 0.01, "fit_intercept": False}
    theirs = LinearSVR(epsilon=0.3, dual=False, loss=SQUARES["loss"], tol=1e-14, **given)
    theirs.set_params(max_iter=10**5).fit(X, y, sample_weight=weights)
    ours = DPLinearSVR(epsilon=np.inf, margin=0.3, max_sample_weight=3.0, **given, **SQUARES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        ours.fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=0.0, atol=1e-6)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_squares_mean_the_same_in_any_unit(unit):
    y = X @ [3.0, -2.0, 1.0, 0.0] + 2.0
    models = [
        quiet(
            DPLinearSVR(
                epsilon=np.inf,
                loss="squared_epsilon_insensitive",
                margin=0.3 * by,
                C=1e-3,
                y_bounds=(-10 * by, 10 * by),
                **GIVEN,
            ),
            by * y,
        )
        for by in (1.0, unit)
    ]
    np.testing.assert_allclose(models[1].coef_, unit * models[0].coef_, rtol=1e-6)


@pytest.mark.parametrize("solver", ["auto", "white-gd", "gd", "objective-perturbation"])
def test_squares_are_of_use_and_keep_their_promise(solver):
    y = X @ [3.0, -2.0, 1.0, 0.0] + 2.0
    model = DPLinearSVR(epsilon=4.0, solver=solver, **SQUARES).fit(X, y)
    assert model.score(X, y) > 0.8
    assert 3.9 < model.privacy_.epsilon <= 4.0
    assert model.quote(len(X), 4).script == model.privacy_.script


def test_squares_have_no_corner_and_who_is_unknown_is_refused():
    with pytest.warns(UserWarning, match=r"smoothing=0.1 is only used .*'epsilon_insensitive'\.$"):
        DPLinearSVR(smoothing=0.1, **SQUARES).quote(100, 4)
    for loss in ("squared", "huber", None, 1.0, ["epsilon_insensitive"], ""):
        with pytest.raises(ValueError, match=r"loss=.* is not known; use .*\.$"):
            DPLinearSVR(**{**SQUARES, "loss": loss}).quote(100, 4)


@pytest.mark.parametrize(
    ("Estimator", "given"),
    [
        (DPRidge, {"alpha": 4.0 / 4}),
        (DPPoissonRegressor, {"alpha": 4.0 / 4 * 20.0 / len(X)}),
        (DPLinearSVR, {"C": 10.0 * 4 / 4.0}),
    ],
)
def test_a_strength_that_is_left_open_is_that_of_the_longest_rows(Estimator, given):
    """Of 4 columns and rows of norm up to 2: their squares are 1 on average."""
    y = COUNTS.clip(0, 20)
    fits = [
        Estimator(epsilon=1.0, y_bounds=(0, 20), **GIVEN, **more).fit(X, y) for more in ({}, given)
    ]
    np.testing.assert_allclose(fits[0].coef_, fits[1].coef_, rtol=1e-9)


@pytest.mark.parametrize("Estimator", [DPRidge, DPLasso, DPElasticNet, DPLinearSVR])
def test_an_open_strength_follows_units_of_rows_and_targets(Estimator):
    y = X @ [3.0, -2.0, 1.0, 0.0] + 2.0
    small = Estimator(epsilon=1.0, y_bounds=(-10, 10), **GIVEN).fit(X, y)
    given = {**GIVEN, "data_norm": 2.0 * 1024.0}
    large = Estimator(epsilon=1.0, y_bounds=(-80, 80), **given).fit(1024.0 * X, 8.0 * y)
    np.testing.assert_allclose(128.0 * large.coef_, small.coef_, rtol=1e-6, atol=1e-9)
