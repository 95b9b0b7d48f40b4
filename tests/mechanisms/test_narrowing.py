"""Beginnings of searches among corners: near the vertex, of any rows, and without a word."""

import warnings

import numpy as np
import pytest
from laws.vaults import vault
from scipy.optimize import linprog

from skdp.losses import EpsilonInsensitive, HuberisedHinge, Logistic, QuantileHuber
from skdp.mechanisms import Noise, PerturbedObjective, _minimise
from skdp.mechanisms._minimise import has_corners, narrowed
from skdp.mechanisms._objective import Objective
from skdp.penalties import L1, L2, NoPenalty, ScaledPenalty

SHARP = 1e-8


def objective(X, y, loss, strength=1e-9):
    """Of rows as they are, without a linear term."""
    X = np.asarray(X, dtype=np.float64)
    far = max(1.0, float(np.linalg.norm(X, axis=1).max()))
    records = vault(X, y, data_norm=far)
    rows = records.rows.in_double()
    return Objective(rows, records.y, loss, strength, np.zeros(rows.width)), rows.to_dense()


def vertex(Z, y, quantile, weight=0.0):
    """Sum of pinball losses and an L1 norm, by linear programming; the value at its solution."""
    n, d = Z.shape
    cost = np.r_[np.full(2 * d, weight), np.full(n, quantile), np.full(n, 1.0 - quantile)]
    found = linprog(cost, A_eq=np.hstack([Z, -Z, np.eye(n), -np.eye(n)]), b_eq=y)
    return found.fun


def pinball(Z, y, w, quantile):
    rest = y - Z @ w
    return float(np.maximum(quantile * rest, (quantile - 1.0) * rest).sum())


@pytest.mark.parametrize("quantile", [0.3, 0.5, 0.9])
@pytest.mark.parametrize("seed", range(3))
def test_it_is_near_the_vertex_of_the_linear_programme(seed, quantile):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(120, 4)), rng.uniform(-0.9, 0.9, 120)
    asked, Z = objective(X, y, QuantileHuber(quantile, SHARP))
    found = narrowed(asked)
    assert pinball(Z, y, found, quantile) <= vertex(Z, y, quantile) * (1 + 1e-5) + 1e-9
    beside = ScaledPenalty(L1(3.0), 1.0, False)
    found = narrowed(asked, beside)
    value = pinball(Z, y, found, quantile) + 3.0 * np.abs(found).sum()
    assert value <= vertex(Z, y, quantile, 3.0) * (1 + 1e-5) + 1e-9


@pytest.mark.parametrize("loss", [QuantileHuber(0.5, SHARP), EpsilonInsensitive(0.01, SHARP)])
@pytest.mark.parametrize("kind", ["equal columns", "zeros", "one record", "huge"])
def test_no_rows_make_it_speak(kind, loss):
    """A warning would tell of the records: of equal columns no step is unique, of zeros none leads anywhere."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), rng.uniform(-0.9, 0.9, 50)
    if kind == "equal columns":
        X[:, 1] = X[:, 0]
    elif kind == "zeros":
        X = 0.0 * X
    elif kind == "one record":
        X, y = X[:1], y[:1]
    else:
        X = 1e12 * X
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("error")
        asked, _ = objective(X, y, loss)
        for penalty in (None, ScaledPenalty(L1(1e3), 1.0, False)):
            assert np.isfinite(narrowed(asked, penalty)).all()


def test_what_has_no_corners_begins_elsewhere():
    X, y = np.eye(3), np.array([1.0, -1.0, 1.0])
    assert not has_corners(objective(X, y, Logistic())[0])
    assert not has_corners(objective(X, y, HuberisedHinge(0.5))[0])
    sharp = objective(X, y, HuberisedHinge(SHARP))[0]
    assert has_corners(sharp) and has_corners(sharp, ScaledPenalty(L1(1.0), 1.0, False))
    assert not has_corners(sharp, ScaledPenalty(L2(1.0), 1.0, False))


def test_corners_that_are_never_narrowed_are_noticed(monkeypatch):
    monkeypatch.setattr(_minimise, "_widths", lambda bend, least: [bend / 4.0])
    with pytest.raises(AssertionError):
        test_it_is_near_the_vertex_of_the_linear_programme(0, 0.9)


@pytest.mark.parametrize("guess", [1e200, np.nan, 0.5], ids=["far", "not a number", "bad"])
@pytest.mark.parametrize("penalty", [NoPenalty(), L1(0.2)], ids=["smooth", "norm"])
def test_a_bad_guess_costs_rounds_and_no_digits(guess, penalty, monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3)) / 4.0
    records = vault(X, np.where(X @ [3.0, -1.0, 0.0] + 0.3 * rng.normal(size=60) > 0.0, 1.0, -1.0))
    question = PerturbedObjective(
        loss=HuberisedHinge(1e-3), penalty=ScaledPenalty(penalty, 1.0, False),
        shape=(records.rows.width,), multiplier=0.0, strength=0.5,
    )  # fmt: skip
    best = question.answer(records, Noise(seed=0))
    assert np.linalg.norm(best) > 0.5
    monkeypatch.setattr(_minimise, "narrowed", lambda *given: np.full(records.rows.width, guess))
    found = question.answer(records, Noise(seed=0))
    np.testing.assert_allclose(found, best, atol=1e-7)
