"""Table 3 of Zhang et al.: the exact minimum, and estimators that minimise the same objective."""

import importlib
from pathlib import Path

import numpy as np
import pytest

from skdp import PrivacyWarning
from skdp.losses import Huber, Logistic

with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    table3 = importlib.import_module("table3")


@pytest.fixture(params=["logistic", "huber"])
def problem(request, monkeypatch):
    """A small table in the place of the data."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (900, 4)) / 2
    y = np.clip(X @ [2.0, -1.0, 0.5, 0.0] + 0.3 * rng.normal(size=900), -1, 1)
    made = (X, np.sign(y), Logistic()) if request.param == "logistic" else (X, y, Huber(1.0))
    monkeypatch.setattr(table3, "load", lambda name: made)
    return table3.Problem("any", 0.1)


def test_nothing_near_the_minimum_is_lower(problem):
    w = problem.minimum(problem.mu)
    assert problem.value(w) == problem.least
    for direction in np.random.default_rng(1).normal(size=(50, 4)):
        for step in (1e-4, 1e-2, 1.0):
            assert problem.value(w + step * direction) > problem.least


def test_the_estimator_without_noise_is_at_the_minimum(problem):
    """So its penalty, scale and loss are those of F."""
    model = problem.model(epsilon=np.inf, solver="objective-perturbation")
    with pytest.warns(PrivacyWarning, match="no noise"):
        model.fit(problem.X, problem.y)
    assert model.coef_.ravel() == pytest.approx(problem.minimum(problem.mu), abs=1e-6)
    assert abs(problem.value(model.coef_.ravel()) - problem.least) < 1e-11


def test_a_private_fit_is_above_the_minimum(problem):
    errors = [problem.error(table3.OWN, epsilon, seed)[0] for epsilon, seed in ((1.0, 0), (1.0, 1))]
    assert min(errors) > 0 and errors[0] != errors[1]


def test_with_little_noise_it_is_near_the_minimum(problem):
    """So nothing but the solver moves the coefficients: no slope of calibrated scores."""
    error, _ = problem.error("objective-perturbation", 5.0, 0)
    assert 0 < error < 1e-3 < problem.value(2.0 * problem.minimum(problem.mu)) - problem.least


def test_the_page_divides_what_is_printed_by_the_same_algorithm():
    rows = [
        {"data": "wine", "mu": 0.5, "epsilon": epsilon, "solver": solver, "rounds": 2, "error": e}
        for epsilon, own in zip(table3.EPSILONS, (0.5421, 0.0182, 0.0101, 0.0012))
        for solver, e in ((table3.OWN, own), ("amp", 0.002))
    ]
    page = table3.page(rows)
    assert "| wine | 0.5 | 0.1 | 1.0842 | 0.542 | 2 | **0.002** |" in page
    assert "| wine | 0.5 | 2 | 0.0024 | **0.0012** | 2 | 0.002 |" in page
    assert "wine 1 to 2" in page and "in 3 of 4 cells, the best column in 4" in page
