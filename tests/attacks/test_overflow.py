"""Descents that run away are refused by public numbers, before anything is spent (review A2 and D2)."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array

from skdp import DPLinearRegression, DPLogisticRegression, DPRidge, NotSupported
from skdp.losses import Logistic
from skdp.mechanisms import HiddenDescent, Noise, Oracle, Public, Records, Schedule
from skdp.model_selection import DPGridSearchCV
from skdp.neural_network import DPMLPClassifier
from skdp.penalties import NoPenalty, ScaledPenalty
from skdp.preprocessing import DPStandardScaler
from skdp.privacy import Ledger
from skdp.privacy.ledger import Recorder
from skdp.solvers import PSGD, RSGDAR, OutPertGD

N = 100
RUNAWAYS = [
    OutPertGD(step_size=1000.0, steps=200, convexity=0.1),
    OutPertGD(step_size=1e4, steps=100, convexity=0.5),
    OutPertGD(step_size=1e300, steps=3, convexity=1.0),
    OutPertGD(step_size=1e155, steps=2, convexity=1.0),
    OutPertGD(step_size=1e10, steps=2000, convexity=1e-3),
]


def worlds(d):
    """Rows of zeros, and one of them replaced by a row of norm 1."""
    X = np.zeros((N, d))
    other = X.copy()
    other[0, 0] = 1.0
    return X, other


def model(solver, **given):
    declared = {"epsilon": 0.01, "data_norm": 1.0, "classes": [0, 1], "penalty": None}
    return DPLogisticRegression(solver=solver, **{**declared, **given})


def outcome(solver, X, **given):
    """The refusal's text, or None where a model came out."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            fitted = model(solver, **given).fit(X, np.arange(len(X)) % 2)
        except NotSupported as refusal:
            return str(refusal)
    assert np.isfinite(fitted.coef_).all() and np.isfinite(fitted.intercept_).all()
    return None


@pytest.mark.parametrize("solver", RUNAWAYS, ids=repr)
@pytest.mark.parametrize("d", [1, 10])
def test_a_runaway_descent_is_refused_before_it_is_paid_for(solver, d):
    ledger = Ledger(1.0, 1e-5)
    said = [outcome(solver, X, ledger=ledger) for X in worlds(d)]
    assert said[0] == said[1] is not None and said[0].endswith(".")
    assert ledger.spent == 0.0 and not ledger.scripts


def old_ends(solver, X, runs=20):
    """What left before: the end of the recursion, plus noise in proportion to how far two of them may be apart."""
    rng = np.random.default_rng(0)
    n, (rho, reach) = len(X), (abs(1 - solver.step_size * solver.convexity), 0.0)
    rho = max(rho, abs(1 - solver.step_size * (0.25 + solver.convexity)))
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    with np.errstate(all="ignore"):
        w = np.zeros(X.shape[1])
        for _ in range(solver.steps):
            reach = rho * reach + 2.0 * solver.step_size / n
            slopes = Logistic().dz(X @ w, y)
            w = w - solver.step_size * (X.T @ slopes / n + solver.convexity * w)
        return w + reach * 20.0 * rng.standard_normal((runs, len(w)))


def test_the_old_formula_told_the_worlds_apart():
    X, other = worlds(1)
    first, second = (old_ends(RUNAWAYS[0], table) for table in (X, other))
    assert np.isinf(first).all() and np.isnan(second).all()


@pytest.mark.parametrize("step", [10.0**k for k in range(-3, 13, 3)] + [1e50, 1e100, 1e200, 1e308])
@pytest.mark.parametrize("kind", [OutPertGD, PSGD, RSGDAR])
def test_any_step_is_refused_for_both_worlds_or_gives_finite_models(kind, step):
    names = kind().get_params()
    given = {"step_size": step, "radius": step, "steps": 50, "epochs": 3}
    solver = kind(**{name: value for name, value in given.items() if name in names})
    said = [outcome(solver, X, random_state=0, epsilon=1.0) for X in worlds(3)]
    assert said[0] == said[1]


@pytest.mark.parametrize("steps", [(1e155, 1e155), (1e308, 1e-10), (1e200,), (1e60, 1e60, 1e60)])
@pytest.mark.parametrize("shuffle", [False, True])
def test_the_oracle_refuses_a_runaway_and_notes_nothing(steps, shuffle):
    account = Recorder()
    public = Public(n=2, n_features=1, intercept=0.0, neighbors="replace_one")
    records = Records.admit(np.array([[1.0], [0.5]]), np.array([1.0, -1.0]), public, 1.0)
    question = HiddenDescent(
        loss=Logistic(),
        penalty=ScaledPenalty(NoPenalty()),
        shape=(1,),
        schedule=Schedule(np.array(steps)[:, None] * np.ones(2), (1, 1)),
        convexity=1.0,
        multiplier=300.0,
        shuffle=shuffle,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(NotSupported, match="run away"):
            Oracle(records, account, Noise(0)).ask(question)
    assert not account.script


ROWS = [[1e-320, 1.0, 1.0], [1e-200, 1e-200, 1e200], [1e308, 1e308, 1e308], [5e-324, 0.0, 0.0]]


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("given", [np.asarray, csr_array])
def test_a_fatal_floating_point_error_tells_of_no_record(row, given):
    X, y = np.ones((N, 3)), np.arange(N) % 2
    X[0] = row
    with np.errstate(all="raise"):
        DPLogisticRegression(data_norm=1.0, classes=[0, 1], solver="gd").fit(given(X), y)
        DPStandardScaler().fit(X)


def test_nor_does_one_from_a_target_or_a_weight():
    X, y, few = np.ones((N, 3)), np.arange(N) / N, np.full(N, 1.0)
    y[0] = few[0] = 5e-324
    with np.errstate(all="raise"):
        DPLinearRegression(data_norm=1.0, y_bounds=(-1, 1), solver="gd").fit(X, y)
        weighted = DPLogisticRegression(
            data_norm=1.0, classes=[0, 1], solver="gd", max_sample_weight=3
        )
        weighted.fit(X, y > 0.5, sample_weight=few)


def test_prices_are_found_where_underflow_is_fatal():
    """By loss distributions, whose tails underflow: a network's batches, and a choice beside Gaussian fits."""
    X, y = np.ones((N, 3)), np.arange(N) % 2
    linear = DPLogisticRegression(data_norm=1.0, classes=[0, 1], solver="gd")
    with np.errstate(all="raise"):
        DPMLPClassifier(data_norm=1.0, classes=[0, 1], max_iter=1).quote(N, 3)
        DPGridSearchCV(linear, {"C": [0.1, 1.7]}, epsilon=2.3).fit(X, y)


def test_fatal_errors_of_a_program_lose_no_fit_that_was_paid():
    """Noise may hide the scale of a target: bounds that come out at 0 made the end of the fit underflow."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 2)), np.zeros(400)
    ledger = Ledger(5.0, 1e-5)
    model = DPRidge(epsilon=1.0, delta=1e-6, data_norm=2.0, y_bounds=None, ledger=ledger)
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that noise has hidden the scale
        model.fit(X, y)
    assert np.isfinite(model.coef_).all() and len(ledger) == 1
