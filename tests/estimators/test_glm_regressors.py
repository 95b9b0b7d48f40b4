"""Support vector and Poisson regression: exact without noise, of use with it, and refused in one sentence elsewhere."""

import math
import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import PoissonRegressor
from sklearn.metrics import d2_tweedie_score

from skdp import DPLinearSVR, DPPoissonRegressor, NotSupported, PrivacyWarning

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
    model = quiet(DPPoissonRegressor(np.inf, alpha=alpha, y_bounds=(0, 20), **given), COUNTS)
    np.testing.assert_allclose(model.coef_, exact.coef_, rtol=1e-5, atol=1e-6)
    assert model.intercept_ == pytest.approx(exact.intercept_, rel=1e-5)
    model.set_params(clip_predictions=False)
    np.testing.assert_allclose(model.predict(X[:9]), exact.predict(X[:9]), rtol=1e-5)


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_poisson_is_of_use(epsilon):
    model = DPPoissonRegressor(epsilon, alpha=0.0, y_bounds=(0, 15), **GIVEN).fit(X, COUNTS)
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
        ({"y_bounds": (0, 5), "neighbors": "add_remove"}, "n_public"),
        ({"y_bounds": None}, "y_bounds=None"),
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
    model = quiet(DPLinearSVR(np.inf, margin=margin, C=C, smoothing=0.05, **given), y)
    ours = support(np.append(model.coef_, model.intercept_), y, margin, C)
    best = minimize(support, np.zeros(5), (y, margin, C), method="BFGS", options={"gtol": 1e-6})
    assert ours <= best.fun * (1 + 1e-6)


def test_support_vectors_are_of_use_and_their_margin_counts():
    y = X @ [3.0, -2.0, 1.0, 0.0] + 2.0
    fits = [
        DPLinearSVR(2.0, margin=margin, y_bounds=(-10, 10), **GIVEN).fit(X, y)
        for margin in (0.1, 3.0)
    ]
    assert fits[0].score(X, y) > 0.9 and not np.array_equal(fits[0].coef_, fits[1].coef_)
    with pytest.raises(ValueError, match=r"margin=-1.*\.$"):
        DPLinearSVR(margin=-1.0, y_bounds=(0, 1), data_norm=1.0).quote(100, 2)
    loose = DPLinearSVR(2.0, C=math.inf, y_bounds=(-10, 10), **GIVEN)
    assert loose.quote(100, 4).epsilon <= 2.0
