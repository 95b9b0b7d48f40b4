"""Intervals of a logistic model: the textbook's without noise, held by simulation with it, else refused."""

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from skdp import DPLogisticRegression, NotSupported, PrivacyWarning
from skdp.linear_model.classifiers import _refuse_or_warn
from skdp.losses import Logistic
from skdp.mechanisms import Coordinates, Gradient, Mapped, Public
from skdp.solvers import WhiteGD, WhiteObjective
from skdp.solvers._spread import Seen
from skdp.solvers.white_objective import unshrunk

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
    model = DPLogisticRegression(
        epsilon=math.inf, C=C, neighbors=neighbors, n_public=20_000, **GIVEN
    )
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
        model = DPLogisticRegression(epsilon=epsilon, **declared).fit(X, y)
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


def test_what_was_shrunk_by_much_is_given_back():
    """Of normal rows, without noise: where a ridge takes 5 to 9 standard errors, the curvature changes on the way."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(20_000, 3)) / 3.0
    y = (rng.logistic(size=len(X)) < X @ (3.0 * W) + 0.3).astype(int)
    exact = LogisticRegression(C=np.inf, tol=1e-10).fit(X, y).coef_[0]
    for C in (0.1, 0.02):
        model = DPLogisticRegression(epsilon=math.inf, C=C, **GIVEN | {"data_norm": 2.0})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyWarning)
            center, _, back = model.fit(X, y)._estimated
        errors = model.coef_std_[0]
        assert back > 4.0 and (np.abs(center[0] - exact) < 0.15 * errors).all()


def truth(rows, w, scale):
    """Of rows beside a constant column, in the given coordinates: what is bought, and the last question."""
    n, size = rows.shape
    question = Gradient(at=np.zeros(size), loss=Logistic(), clip=1e3, multiplier=1.0)
    asked = Mapped(question=question, coordinates=Coordinates(np.eye(size)), scale=scale)
    typical = float(np.linalg.norm(rows, axis=1).mean())
    return Seen(n, rows.T @ rows / n, typical, asked), Public(n, size - 1, 1.0, "replace_one")


def test_rows_that_are_shrunk_vary_less_than_they_bend():
    """Without ridge and noise standard errors are those of weighted scores; what bends alone is a tenth too wide."""
    rng, w = np.random.default_rng(9), np.array([1.0, -0.5, 0.5, 0.0, 0.3])
    rows = np.column_stack([rng.normal(size=(100_000, 4)), np.ones(100_000)])
    seen, public = truth(rows, w, 2.0)
    left = np.minimum(1.0, 2.0 / np.linalg.norm(rows, axis=1)) ** 2
    p = expit(rows @ w)
    bend, slopes = ((rows * (p * (1.0 - p) * left**k)[:, None]).T @ rows for k in (1, 2))
    inverse = np.linalg.inv(bend)
    found = unshrunk(seen, w, public, np.zeros(5), 0.0)
    errors = np.sqrt(np.diagonal(inverse @ slopes @ inverse))
    np.testing.assert_allclose(found.deviation, errors, rtol=0.03)
    assert (np.sqrt(np.diagonal(inverse))[:4] > 1.08 * errors[:4]).all()


@pytest.mark.parametrize(("noise", "pulls"), [(0.02, 0.0), (0.0, 4.0)], ids=["moment", "term"])
def test_what_the_noise_of_an_answer_moves_is_in_them(noise, pulls):
    """Of one table, by redrawing it 400 times: four standard errors of a variance are 0.28 of it."""
    rng, size = np.random.default_rng(6), 4
    rows = np.column_stack([rng.normal(size=(1000, size - 1)), np.ones(1000)])
    w, ridge = np.array([1.0, -0.7, 0.4, 0.5]), np.full(size, 100.0)
    seen, public = truth(rows, w, 20.0)
    labels, drawn, told = expit(rows @ w), [], []
    for run in range(400):
        at, square = w, noise * rng.normal(size=(size, size))
        linear = pulls * rng.normal(size=size)
        for _ in range(8):
            p = expit(rows @ at)
            bend = (rows.T * (p * (1.0 - p))) @ rows + np.diag(ridge)
            at = at - np.linalg.solve(bend, rows.T @ (p - labels) + linear + ridge * at)
        moment = seen.moment + (square + square.T) / 2.0
        # In images, 20 times shorter.
        given = at, public, ridge / 400.0, pulls / 20.0
        found = unshrunk(replace(seen, moment=moment, noise=noise), *given)
        drawn.append(found.w)
        if run % 10 == 0:
            blind = unshrunk(replace(seen, moment=moment), *given[:3], 0.0)  # but to sampling
            told.append(found.deviation**2 - blind.deviation**2)
    ratio = np.var(drawn, axis=0) / np.mean(told, axis=0)
    assert (ratio > 0.72).all() and (ratio < 1.28).all()


def test_they_say_which_is_which_of_two_scales():
    X, y = table(8_000, np.random.default_rng(1))
    one = DPLogisticRegression(epsilon=2.0, **GIVEN).fit(X, y)
    other = DPLogisticRegression(epsilon=2.0, **{**GIVEN, "data_norm": 3.6}, C=0.25).fit(2.0 * X, y)
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
    model = DPLogisticRegression(epsilon=2.0, **{**GIVEN, **given}).fit(X, y)
    assert np.isnan(model.coef_std_).all() and model.coef_std_.shape == model.coef_.shape
    with pytest.raises(NotSupported, match=r"use solver=WhiteObjective\(clip=1.0\)"):
        model.conf_int()


def test_noise_that_hides_a_direction_is_a_refusal():
    rng = np.random.default_rng(3)
    X, y = table(4_000, rng)
    X[:, 2] = X[:, 1] + 1e-3 * rng.normal(size=len(X))
    model = DPLogisticRegression(epsilon=1.0, **GIVEN).fit(X, y)
    with pytest.raises(NotSupported, match="hides a direction"):
        model.conf_int()


def test_a_penalty_that_shrinks_much_is_a_refusal():
    X, y = table(20_000, np.random.default_rng(4))
    model = DPLogisticRegression(epsilon=4.0, C=1e-4, **GIVEN).fit(X, y)
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
        (math.nan, math.nan, "conf_int needs two classes"),
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
        DPLogisticRegression(epsilon=4.0, **GIVEN).fit(X, y).conf_int(level)
