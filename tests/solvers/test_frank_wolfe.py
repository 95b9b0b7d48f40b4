"""Frank-Wolfe on an L1 ball: its limit, its script, sparsity, and what it refuses."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from solvers.comparing import check_determined_by_seed, model, problem, quality

from skdp import NotSupported
from skdp.penalties import L1Ball
from skdp.privacy.events import BoundedRange
from skdp.solvers import FrankWolfe

BALL = L1Ball(2.0)


def _objective(X, y, w, b):
    return np.logaddexp(0.0, -(2 * y - 1) * (X @ w + b)).mean()


def _least(X, y, radius, intercept):
    """Smallest mean loss on the ball: w = u - v with u, v >= 0 and a bounded sum."""
    d = X.shape[1]

    def loss(p):
        return _objective(X, y, p[:d] - p[d : 2 * d], p[-1] if intercept else 0.0)

    bounds = [(0, None)] * (2 * d) + [(None, None) if intercept else (0, 0)]
    inside = {"type": "ineq", "fun": lambda p: radius - p[: 2 * d].sum()}
    start = np.zeros(2 * d + 1)
    return minimize(loss, start, bounds=bounds, constraints=[inside], method="SLSQP", tol=1e-10).fun


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("data_norm", [1.0, 2.0])
@pytest.mark.filterwarnings("ignore::skdp.PrivacyWarning")
def test_comes_near_the_optimum_on_the_ball_without_noise(intercept, data_norm):
    """Frank-Wolfe is within 2 curvature diameter^2 / (t + 2) of it: a thousandth here, after 1000 steps."""
    X, y = problem(400)
    given = {"fit_intercept": intercept, "data_norm": data_norm, "penalty": BALL}
    fitted = model(FrankWolfe(steps=1000), math.inf, **given).fit(X, y)
    reached = _objective(X, y, fitted.coef_[0], fitted.intercept_[0])
    assert np.abs(fitted.coef_).sum() <= 2.0 * (1 + 1e-9)
    assert reached <= _least(X, y, 2.0, intercept) + 1e-3


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_spends_what_was_promised(neighbors):
    fitted = model("frank-wolfe", 0.5, penalty=BALL, neighbors=neighbors).fit(*problem(500))
    assert 0.99 * 0.5 <= fitted.privacy_.epsilon <= 0.5
    counts = {}
    for event, count in fitted.privacy_.script:
        assert isinstance(event, BoundedRange)
        counts[event.epsilon] = counts.get(event.epsilon, 0) + count
    shares = np.array(sorted(counts)) ** 2
    assert list(counts.values()) == [30, 30]
    assert shares[0] / shares.sum() == pytest.approx(0.2)


def test_a_seed_determines_the_result():
    X, y = problem(300)
    one, same, other = (
        model("frank-wolfe", penalty=BALL, random_state=s).fit(X, y).coef_ for s in (1, 1, 2)
    )
    assert np.array_equal(one, same) and not np.array_equal(one, other)


def test_learns_under_both_relations():
    for neighbors in ("replace_one", "add_remove"):
        assert quality("frank-wolfe", 1.0, penalty=L1Ball(10.0), neighbors=neighbors) > 0.75


def test_few_steps_leave_few_coefficients():
    X, y = problem(500, d=20)
    fitted = model(FrankWolfe(steps=4), penalty=BALL).fit(X, y)
    assert 1 <= np.count_nonzero(fitted.coef_) <= 4


@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_refuses_what_is_no_ball(penalty):
    with pytest.raises(NotSupported, match=r"frank-wolfe.*L1Ball\(radius\)"):
        model("frank-wolfe", penalty=penalty).fit(*problem(50))


def test_check_can_fail():
    """Two seeds of a solver that ignores the noise would agree; the check of determinism sees it."""
    with pytest.raises(AssertionError):
        check_determined_by_seed(FrankWolfeWithoutSteps())


class FrankWolfeWithoutSteps(FrankWolfe):
    """Asks nothing and returns zero."""

    needs = frozenset()

    def solve(self, oracle, task, budget):
        return np.zeros(task.shape)
