"""Intervals of a logistic model: the textbook's without noise, held by simulation with it, else refused."""

import math
import warnings

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from skdp import DPLogisticRegression, NotSupported, PrivacyWarning
from skdp.linear_model._logistic_intervals import _refuse_or_warn
from skdp.losses import Logistic
from skdp.mechanisms import Coordinates, Gradient, Mapped, Public
from skdp.solvers import WhiteGD, WhiteObjective
from skdp.solvers._spread import Seen
from skdp.solvers._unshrunk import unshrunk

W = np.array([2.0, -1.0, 0.5])
UNCLIPPED = WhiteObjective(clip=1.0)
GIVEN = {"data_norm": 1.8, "classes": [0, 1], "solver": UNCLIPPED, "random_state": 0}


def table(n, rng, d=3):
    X = rng.uniform(-1.0, 1.0, (n, d))
    return X, (rng.logistic(size=n) < X @ W[:d] + 0.3).astype(int)


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("C", [1.0, 0.1])
def test_without_noise_they_are_the_textbooks(C, neighbors):
    """Of the likelihood's own maximum, whatever the penalty, up to what is not normal in the scores."""
    X, y = table(20_000, np.random.default_rng(0))
    model = DPLogisticRegression(math.inf, C=C, neighbors=neighbors, n_public=20_000, **GIVEN)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        model.fit(X, y)
    exact = LogisticRegression(C=np.inf, tol=1e-10).fit(X, y)
    p = expit(exact.decision_function(X))
    Z = np.column_stack([X, np.ones(len(X))])
    inverse = np.linalg.inv((Z * (p * (1.0 - p))[:, None]).T @ Z)
    errors = np.sqrt(np.diagonal(inverse))[:3]
    np.testing.assert_allclose(model.coef_std_[0], errors, rtol=0.1)
    low, high = model.conf_int(0.9)[0].T
    assert (np.abs((low + high) / 2.0 - exact.coef_[0]) < 0.15 * errors).all()
    assert C == 1.0 or (np.abs(model.coef_ - exact.coef_)[0] > 0.2 * errors).all()
    np.testing.assert_allclose(high - low, 2.0 * 1.6448536 * model.coef_std_[0], rtol=1e-6)


def covered(runs, level, blind="", epsilon=0.5, n=8_000, **given):
    """How many of many intervals hold their coefficient; blind ones know nothing of the noise, or of the ridge."""
    rng, hits = np.random.default_rng(7), []
    for seed in range(runs):
        X, y = table(n, rng)
        declared = {**GIVEN, "random_state": seed, **given}
        model = DPLogisticRegression(epsilon, **declared).fit(X, y)
        low, high = model.conf_int(level)[0].T
        if blind == "noise":
            reach = (high - low) / 2.0 / model.coef_std_[0] * 0.05
            low, high = (low + high) / 2.0 - reach, (low + high) / 2.0 + reach
        if blind == "ridge":
            low, high = model.coef_[0] - (high - low) / 2.0, model.coef_[0] + (high - low) / 2.0
        hits.append((low < W) & (high > W))
    return np.mean(hits, axis=0)


@pytest.mark.filterwarnings("ignore:Noise is more than half")
@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_they_hold_the_coefficient_as_often_as_they_say(neighbors):
    """450 intervals at 90 %: four standard errors of that many are 5.7 points."""
    assert 0.843 < covered(150, 0.9, neighbors=neighbors).mean() < 0.957


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Noise is more than half")
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_and_so_of_many_more(epsilon):
    """3,000 intervals at 95 %: two points are five standard errors."""
    assert 0.93 < covered(1000, 0.95, epsilon=epsilon).mean() < 0.97


@pytest.mark.filterwarnings("ignore:Noise is more than half")
@pytest.mark.parametrize("blind", ["noise", "ridge"])
def test_intervals_that_forget_the_noise_or_the_ridge_do_not(blind):
    assert covered(60, 0.9, blind).min() < 0.78


def test_the_noise_of_the_moment_is_in_them():
    """What a ridge took is given back by a noisy curvature: its variance is what is added, by redrawing the noise."""
    rng, n, size, noise = np.random.default_rng(6), 1000.0, 4, 0.02
    true = np.diag([1.0, 0.8, 1.2, 0.9])
    question = Gradient(at=np.zeros(size), loss=Logistic(), clip=10.0, multiplier=1.0)
    asked = Mapped(question=question, coordinates=Coordinates(np.eye(size)), scale=3.0)
    public = Public(1000, size, 0.0, "replace_one")
    w, ridge = np.array([0.3, -0.2, 0.1, 0.0]), np.full(size, 8.0)

    def found(moment, noise):
        return unshrunk(Seen(n, moment, 1.9, asked, noise), w, public, ridge, 0.0)

    drawn = []
    for _ in range(3000):
        square = noise * rng.normal(size=(size, size))
        drawn.append(found(true + (square + square.T) / 2.0, noise).w)
    added = found(true, noise).deviation ** 2 - found(true, 0.0).deviation ** 2
    ratio = np.var(drawn, axis=0) / added
    # Along the parameters a curvature moves less than its moment.
    assert (ratio > 0.6).all() and (ratio < 1.1).all() and ratio.max() > 0.85


def test_they_say_which_is_which_of_two_scales():
    X, y = table(8_000, np.random.default_rng(1))
    one = DPLogisticRegression(2.0, **GIVEN).fit(X, y)
    other = DPLogisticRegression(2.0, **{**GIVEN, "data_norm": 3.6}, C=0.25).fit(2.0 * X, y)
    np.testing.assert_allclose(one.coef_std_, 2.0 * other.coef_std_, rtol=1e-6)
    np.testing.assert_allclose(one.conf_int(), 2.0 * other.conf_int(), rtol=1e-6)


@pytest.mark.parametrize(
    "given",
    [
        {"solver": "auto"},
        {"solver": WhiteObjective(clip=0.5)},
        {"solver": WhiteGD()},
        {"solver": "gd"},
        {"class_weight": {0: 1.0, 1: 2.0}},
        {"classes": [0, 1, 2]},
    ],
    ids=str,
)
def test_where_losses_are_not_the_models_there_are_none(given):
    X, y = table(4_000, np.random.default_rng(2))
    if len(given.get("classes", ())) == 3:
        given = given | {"solver": "auto"}
        y = y + (X[:, 0] > 0.5)
    model = DPLogisticRegression(2.0, **{**GIVEN, **given}).fit(X, y)
    assert np.isnan(model.coef_std_).all() and model.coef_std_.shape == model.coef_.shape
    with pytest.raises(NotSupported, match=r"use solver=WhiteObjective\(clip=1.0\)"):
        model.conf_int()


def test_noise_that_hides_a_direction_is_a_refusal():
    rng = np.random.default_rng(3)
    X, y = table(4_000, rng)
    X[:, 2] = X[:, 1] + 1e-3 * rng.normal(size=len(X))
    model = DPLogisticRegression(1.0, **GIVEN).fit(X, y)
    with pytest.raises(NotSupported, match="hides a direction"):
        model.conf_int()


def test_a_penalty_that_shrinks_much_is_a_refusal():
    X, y = table(20_000, np.random.default_rng(4))
    model = DPLogisticRegression(4.0, C=1e-4, **GIVEN).fit(X, y)
    with pytest.raises(NotSupported, match="shrink a coefficient by more than three"):
        model.conf_int()


@pytest.mark.parametrize(
    ("ratio", "back", "said"),
    [
        (0.4, 1.9, ""),
        (0.6, 0.0, "rough"),
        (0.1, 2.1, "rough"),
        (1.1, 0.0, "hides"),
        (math.inf, 0.0, "hides"),
        (0.1, 3.1, "shrink"),
        (0.1, math.nan, "shrink"),
        (math.nan, math.nan, "are made of"),
    ],
)
def test_when_to_refuse_and_when_to_warn(ratio, back, said):
    if said == "rough":
        with pytest.warns(UserWarning, match=said):
            _refuse_or_warn(ratio, back)
    elif said:
        with pytest.raises(NotSupported, match=said):
            _refuse_or_warn(ratio, back)
    else:
        _refuse_or_warn(ratio, back)


@pytest.mark.parametrize("level", [0.0, 1.0, "high", 95, None])
def test_a_level_that_is_none_is_refused(level):
    X, y = table(2_000, np.random.default_rng(5))
    with pytest.raises(ValueError, match="must be a number between 0 and 1"):
        DPLogisticRegression(4.0, **GIVEN).fit(X, y).conf_int(level)
