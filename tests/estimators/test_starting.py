"""Fits that begin at public coefficients, or at those of an earlier private fit: no price knows of it."""

import math
import warnings

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor

from skdp import (
    DPLinearRegression,
    DPLogisticRegression,
    DPPoissonRegressor,
    DPRidge,
    NotSupported,
    PrivacyWarning,
)
from skdp.solvers import GD, SGD, Adam

rng = np.random.default_rng(0)
X = rng.uniform(-1.0, 1.0, (2000, 3))
SCORES = X @ [3.0, -2.0, 1.0]
Y = SCORES + 10.0 + 0.1 * rng.normal(size=2000)
GIVEN = {"y_bounds": (3.0, 17.0), "data_norm": 1.8, "random_state": 0}
EXACT = LinearRegression().fit(X, Y)
AT = {"coef_init": EXACT.coef_, "intercept_init": EXACT.intercept_}


def quiet(model, *data):
    """A fit whose lack of privacy is known."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        return model.fit(*data)


def count():
    """Targets of counts."""
    return np.minimum(np.random.default_rng(1).poisson(np.exp(X @ [1.0, -0.5, 0.0] + 0.5)), 15)


def test_a_minimiser_is_stayed_at():
    """Without noise, on each scale that coefficients are on."""
    found = quiet(DPLinearRegression(epsilon=math.inf, solver=GD(steps=5), **GIVEN, **AT), X, Y)
    np.testing.assert_allclose(found.coef_, EXACT.coef_, atol=1e-12)
    assert found.intercept_ == pytest.approx(EXACT.intercept_, abs=1e-12)
    exact = PoissonRegressor(alpha=0.0, tol=1e-12, max_iter=1000).fit(X, count())
    counts = DPPoissonRegressor(epsilon=math.inf, alpha=0.0, y_bounds=(0, 15), data_norm=1.8)
    counts.set_params(solver=GD(steps=3), coef_init=exact.coef_, intercept_init=exact.intercept_)
    quiet(counts, X, count())
    np.testing.assert_allclose(counts.coef_, exact.coef_, atol=1e-8)
    assert counts.intercept_ == pytest.approx(exact.intercept_, abs=1e-8)
    three = np.digitize(SCORES + rng.logistic(size=2000), [-1.0, 1.0])
    exact = LogisticRegression(C=1e8, tol=1e-12, max_iter=10_000).fit(X, three)
    model = DPLogisticRegression(epsilon=math.inf, C=math.inf, classes=[0, 1, 2], data_norm=1.8)
    model.set_params(solver=GD(steps=3), coef_init=exact.coef_, intercept_init=exact.intercept_)
    np.testing.assert_allclose(quiet(model, X, three).coef_, exact.coef_, atol=1e-4)
    both = np.column_stack([Y, -2.0 * Y])
    exact = LinearRegression().fit(X, both)
    several = DPLinearRegression(epsilon=math.inf, y_bounds=[(3, 17), (-34, -6)], data_norm=1.8)
    several.set_params(solver=GD(steps=3), coef_init=exact.coef_, intercept_init=exact.intercept_)
    np.testing.assert_allclose(quiet(several, X, both).coef_, exact.coef_, atol=1e-12)


@pytest.mark.parametrize("solver", [GD(steps=3), SGD(steps=3), Adam(steps=3)])
def test_few_steps_from_a_good_start_are_worth_more_at_the_same_price(solver):
    cold = DPLinearRegression(epsilon=1.0, solver=solver, **GIVEN).fit(X, Y)
    warm = DPLinearRegression(epsilon=1.0, solver=solver, **GIVEN, **AT).fit(X, Y)
    assert cold.privacy_.script == warm.privacy_.script
    assert warm.privacy_.declared["begins_at"] == "declared"
    assert warm.score(X, Y) > cold.score(X, Y) + 0.05
    assert warm.quote(2000, 3).script == warm.privacy_.script


@pytest.mark.parametrize("weights", [None, {0: 1.0, 1: 2.0}, "balanced"])
def test_a_start_is_kept_where_classes_are_weighed(weights):
    """A step that is next to none leaves a fit where it began, also once class weights have been estimated."""
    at = {"coef_init": [[3.0, -2.0, 1.0]], "intercept_init": [0.5]}
    still = GD(steps=1, momentum=0.0, step_size=1e-9)
    declared = {"classes": [0, 1], "data_norm": 1.8, "random_state": 0, "class_weight": weights}
    model = DPLogisticRegression(epsilon=5.0, solver=still, **declared, **at)
    model.fit(X, (SCORES > 0).astype(int))
    np.testing.assert_allclose(model.coef_, at["coef_init"], atol=1e-3)
    np.testing.assert_allclose(model.intercept_, at["intercept_init"], atol=1e-3)


def test_auto_goes_by_steps_where_a_start_is_given():
    assert DPRidge(epsilon=1.0, **GIVEN, **AT).quote(100, 3).solver.startswith("GD")
    assert DPRidge(epsilon=1.0, **GIVEN).quote(100, 3).solver.startswith("TwoPhase")


WRONG = {
    "no steps": ({**AT, "solver": "two-phase"}, "takes no starting point"),
    "shape": ({"coef_init": [1.0, 2.0]}, r"coef_init must hold 1 x 3 finite numbers"),
    "text": ({"coef_init": "abc"}, "must be an array of finite"),
    "not finite": ({"coef_init": [1.0, math.nan, 1.0]}, "must be an array of finite"),
    "too far": ({"coef_init": [1e300, 0.0, 0.0]}, "exceeds 1e30"),
    "intercept": ({**AT, "intercept_init": [1.0, 2.0]}, "intercept_init must hold 1 finite"),
    "bought rows": ({**AT, "data_norm": None}, "data_norm=None estimates the scale"),
    "bought targets": ({**AT, "y_bounds": None}, "y_bounds=None estimates the scale"),
}


@pytest.mark.parametrize(("given", "told"), WRONG.values(), ids=[*WRONG])
def test_what_has_no_meaning_is_refused(given, told):
    with pytest.raises((ValueError, NotSupported), match=told) as refusal:
        DPRidge(epsilon=1.0, **{**GIVEN, **given}).fit(X, Y)
    assert str(refusal.value).endswith(".") and refusal.value.__context__ is None
