"""The other smooth losses that "auto" minimises tend to the exact fit, too: classes, counts, Huber's, squares of SVR.

Exact fits are Newton's, by formulas of this file. Families are those of test_agreement.py; losses with corners are in
test_agreement_at_corners.py. Fits of all tables and strengths are slow.
"""

import warnings
from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest
from estimators.test_agreement import TABLES
from scipy.special import softmax

from skdp import (
    DPHuberRegressor,
    DPLinearSVR,
    DPLogisticRegression,
    DPPoissonRegressor,
    PrivacyWarning,
)

STRENGTHS = (0.01, 1.0, 100.0)
EPSILONS = (1e2, 1e4, 1e6, 1e8)


@cache
def numbers(where):
    """The rows of a family, and a target with far errors, in [-1, 1]."""
    X = TABLES[where][0]
    rng = np.random.default_rng(5)
    scores = (X / X.std(axis=0)) @ rng.normal(size=X.shape[1])
    y = scores / scores.std() + 0.5 * rng.standard_t(3, size=len(X)) + 0.3
    return X, np.clip(y / 6.0, -1.0, 1.0)


@cache
def counts(where):
    """The same rows, and counts."""
    X, y = numbers(where)
    return X, np.minimum(np.random.default_rng(6).poisson(np.exp(2.0 * y)), 30)


@cache
def three(where):
    """The same rows, and three classes."""
    X, _ = numbers(where)
    rng = np.random.default_rng(7)
    scores = (X / X.std(axis=0)) @ rng.normal(size=(X.shape[1], 3))
    return X, (scores / scores.std() + rng.gumbel(size=scores.shape)).argmax(axis=1)


def newton(gradient, curvature, value, start):
    """The minimiser of a convex function, by steps that are halved until they help."""
    w, now = start, value(start)
    for _ in range(300):
        step = np.linalg.lstsq(curvature(w), gradient(w), rcond=1e-14)[0]
        size = 1.0
        while not value(w - size * step) <= now and size > 1e-12:
            size *= 0.5
        if size <= 1e-12:
            break
        w = w - size * step
        now = value(w)
    return w


def columns(X, intercept):
    """Rows with their constant, and what is penalised."""
    Z = np.column_stack([X, np.ones(len(X))]) if intercept else X
    free = np.ones(Z.shape[1])
    if intercept:
        free[-1] = 0.0
    return Z, free


def exact(of, X, y, ridge, intercept):
    """Coefficients of the least sum of losses and half of ``ridge`` times their squares.

    `of` gives a loss and its first two derivatives.
    """
    Z, penalised = columns(X, intercept)
    return newton(
        lambda w: Z.T @ of(Z @ w, y)[1] + ridge * penalised * w,
        lambda w: (Z.T * of(Z @ w, y)[2]) @ Z + np.diag(ridge * penalised),
        lambda w: of(Z @ w, y)[0].sum() + 0.5 * ridge * penalised @ w**2,
        np.zeros(Z.shape[1]),
    )


def poisson(z, y):
    return np.exp(z) - y * z, np.exp(z) - y, np.exp(z)


def huber(threshold):
    def of(z, y):
        slope = np.clip(z - y, -threshold, threshold)
        return slope * (z - y - 0.5 * slope), slope, 1.0 * (np.abs(z - y) < threshold)

    return of


def squared_beyond(margin):
    def of(z, y):
        beyond = np.sign(z - y) * np.maximum(np.abs(z - y) - margin, 0.0)
        return beyond**2, 2.0 * beyond, 2.0 * (beyond != 0.0)

    return of


def multinomial(X, y, ridge, intercept):
    Z, penalised = columns(X, intercept)
    k, d, hot = 3, Z.shape[1], np.eye(3)[y]
    weights = ridge * np.outer(penalised, np.ones(k))

    def chances(w):
        return softmax(Z @ w.reshape(d, k), axis=1)

    def curvature(w):
        p = chances(w)
        out = np.diag(weights.ravel())
        for a in range(k):
            for b in range(k):
                bend = p[:, a] * ((a == b) - p[:, b])
                out[a::k, b::k] += (Z.T * bend) @ Z
        return out

    def value(w):
        z = Z @ w.reshape(d, k)
        most = z.max(axis=1)
        total = most + np.log(np.exp(z - most[:, None]).sum(axis=1)) - z[np.arange(len(y)), y]
        return total.sum() + 0.5 * (weights.ravel() * w**2).sum()

    found = newton(
        lambda w: (Z.T @ (chances(w) - hot)).ravel() + weights.ravel() * w,
        curvature,
        value,
        np.zeros(d * k),
    ).reshape(d, k)
    return (found - found.mean(axis=1, keepdims=True)).ravel()


def fitted(model, X, y, epsilon, seed):
    """All fitted numbers."""
    model.set_params(epsilon=epsilon, delta=1e-6, data_norm=1.0, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        model.fit(X, y)
    if np.ndim(model.intercept_) and len(model.intercept_) > 1:
        return np.column_stack([model.coef_, model.intercept_]).T
    return np.append(model.coef_, model.intercept_)


def problem(name, where, strength, intercept):
    """An estimator, its table, and the exact fit; a larger strength is a weaker penalty."""
    given = {"fit_intercept": intercept}
    if name == "classes":
        X, y = three(where)
        model = DPLogisticRegression(C=strength, classes=[0, 1, 2], **given)
        return model, X, y, multinomial(X, y, 1.0 / strength, intercept)
    if name == "counts":
        X, y = counts(where)
        n, alpha = len(y), 0.01 / strength
        model = DPPoissonRegressor(alpha=alpha, y_bounds=(0, 30))
        return model, X, y, exact(poisson, X, y, alpha * n, True)
    X, y = numbers(where)
    given["y_bounds"] = (-1.0, 1.0)
    if name == "squares of SVR":
        model = DPLinearSVR(margin=0.05, C=strength, loss="squared_epsilon_insensitive", **given)
        return model, X, y, exact(squared_beyond(0.05), X, y, 1.0 / strength, intercept)
    assert name == "huber"
    model = DPHuberRegressor(threshold=0.1, alpha=0.01 / strength, **given)
    return model, X, y, exact(huber(0.1), X, y, 0.01 / strength, intercept)


def apart(name, where, strength, intercept, epsilon=np.inf, seed=0):
    """Relative distance of the fitted numbers to the exact ones."""
    model, X, y, best = problem(name, where, strength, intercept)
    found = fitted(model, X, y, epsilon, seed)
    found = found if intercept else found[:-1]
    return np.linalg.norm(found.ravel() - best) / max(np.linalg.norm(best), 1e-3)


NAMES = ("classes", "counts", "huber", "squares of SVR")


def intercepts(name):
    """Counts always have one."""
    return (True,) if name == "counts" else (True, False)


@pytest.mark.parametrize("name", NAMES)
def test_without_noise_it_is_the_exact_fit_of_one_table(name):
    assert apart(name, "few", 1.0, True) <= 1e-5


@pytest.mark.slow
def test_without_noise_it_is_the_exact_fit_of_all():
    found = {
        (name, where, strength, intercept): apart(name, where, strength, intercept)
        for name, where, strength in product(NAMES, TABLES, STRENGTHS)
        for intercept in intercepts(name)
    }
    assert np.median(list(found.values())) <= 1e-6
    assert not {key: far for key, far in found.items() if far > 1e-4}


@pytest.mark.slow
@pytest.mark.parametrize("where", TABLES)
@pytest.mark.parametrize("name", NAMES)
def test_it_comes_nearer_at_each_step_of_epsilon(name, where):
    far = [
        np.median(
            [
                apart(name, where, 1.0, intercept, epsilon, seed)
                for intercept in intercepts(name)
                for seed in range(3)
            ]
        )
        for epsilon in EPSILONS
    ]
    assert all(later < earlier for earlier, later in pairwise(far)), far
