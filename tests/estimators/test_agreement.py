"""solver="auto" tends to the exact fit as epsilon grows, for every penalty: no noise is the end of it, no case apart.

How far a fit is from the exact one is bounded without another solver: by the norm of the least subgradient of the
objective that the user wrote down, over its curvature there.
"""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from skdp import DPLinearSVC, DPLogisticRegression, PrivacyWarning

PENALTIES = {"l2": (0.0, 1.0), "l1": (1.0, 0.0), "elasticnet": (0.5, 0.5), None: (0.0, 0.0)}


def iso(n=2000, d=10):
    """Columns alike."""
    return np.random.default_rng(0).normal(size=(n, d)) / np.sqrt(4.0 * d)


def steep(n=3000, d=20):
    """The longest column is thirty times the shortest."""
    return np.random.default_rng(1).normal(size=(n, d)) * 10.0 ** -np.linspace(0.5, 2.0, d)


def few(n=400, d=40):
    """Ten records a column."""
    return np.random.default_rng(2).normal(size=(n, d)) / np.sqrt(4.0 * d)


def labelled(make):
    """Rows of norm at most 1, and labels of a linear score with logistic noise and an intercept."""
    X = make()
    X = X / np.linalg.norm(X, axis=1).max()
    scores = (X / X.std(axis=0)) @ np.random.default_rng(3).normal(size=X.shape[1])
    noise = np.random.default_rng(4).logistic(size=len(X))
    return X, (2.0 * scores / scores.std() + 0.5 + noise > 0).astype(int)


TABLES = {make.__name__: labelled(make) for make in (iso, steep, few)}


def slope_and_curvature(loss, margin):
    """Derivatives of the loss in the margin."""
    if loss == "logistic":
        return -expit(-margin), expit(margin) * expit(-margin)
    return -2.0 * np.maximum(1.0 - margin, 0.0), 2.0 * (margin < 1.0)


def distance(loss, where, penalty, C, intercept, epsilon=np.inf, seed=0):
    """Relative length of Newton's step from the fitted coefficients to the optimum, on the face that they lie on."""
    X, y = TABLES[where]
    Estimator, given = DPLogisticRegression, {}
    if loss != "logistic":
        Estimator, given = DPLinearSVC, {"loss": loss}
    if penalty == "elasticnet":
        given = {**given, "l1_ratio": 0.5}
    model = Estimator(
        epsilon=epsilon, delta=1e-6, penalty=penalty, fit_intercept=intercept, **given
    )
    model.set_params(C=C if penalty else 1.0, data_norm=1.0, classes=[0, 1], random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        model.fit(X, y)
    w = np.append(model.coef_[0], model.intercept_) if intercept else model.coef_[0]
    Z, sign = (np.c_[X, np.ones(len(X))] if intercept else X), 2.0 * y - 1.0
    first, second = slope_and_curvature(loss, sign * (Z @ w))
    l1, l2 = (weight * np.ones(len(w)) for weight in PENALTIES[penalty])
    if intercept:
        l1[-1] = l2[-1] = 0.0
    gradient = C * Z.T @ (sign * first) + l2 * w
    least = np.where(w != 0.0, gradient + l1 * np.sign(w), np.maximum(np.abs(gradient) - l1, 0.0))
    free = (w != 0.0) | (least > 0.0)
    hessian = C * (Z.T * second) @ Z + np.diag(l2)
    step = np.linalg.solve(hessian[np.ix_(free, free)], least[free])
    return np.linalg.norm(step) / max(np.linalg.norm(w), 1e-3)


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_without_noise_it_is_the_exact_fit(loss, penalty):
    apart = [
        distance(loss, where, penalty, C, intercept)
        for where in TABLES
        for C in ((0.01, 1.0, 100.0) if penalty else (1.0,))
        for intercept in (True, False)
    ]
    assert np.median(apart) <= 1e-6 and max(apart) <= 1e-4


def test_the_measure_is_the_distance_to_scikit_learns_fit():
    X, y = TABLES["iso"]
    model = DPLogisticRegression(epsilon=100.0, data_norm=1.0, classes=[0, 1], random_state=0).fit(
        X, y
    )
    theirs = LogisticRegression(tol=1e-12, max_iter=1000).fit(X, y)
    ours, exact = (np.append(m.coef_[0], m.intercept_) for m in (model, theirs))
    apart = np.linalg.norm(ours - exact) / np.linalg.norm(ours)
    measured = distance("logistic", "iso", "l2", 1.0, True, epsilon=100.0)
    assert apart > 1e-3 and measured == pytest.approx(apart, rel=0.1)


@pytest.mark.parametrize(
    "loss", ["logistic", pytest.param("squared_hinge", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("where", TABLES)
@pytest.mark.parametrize("penalty", PENALTIES)
def test_it_comes_nearer_at_each_step_of_epsilon(where, penalty, loss):
    """A cut of the rows that stays where it is stops 2 to 8 % away; one that jumps open is worse at 1e4 than at 1e2."""
    far = [
        np.median(
            [
                distance(loss, where, penalty, 1.0, intercept, epsilon, seed)
                for intercept in (True, False)
                for seed in range(3)
            ]
        )
        for epsilon in (1e2, 1e4, 1e6, 1e8)
    ]
    assert all(later < 0.7 * earlier for earlier, later in pairwise(far)), far
    assert loss != "logistic" or far[-1] <= 2e-3
