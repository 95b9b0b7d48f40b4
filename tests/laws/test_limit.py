"""At epsilon = inf a solver reaches the optimum of its own objective."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from skdp import DPLinearSVC, DPLogisticRegression, PrivacyWarning
from skdp.losses import HuberisedHinge
from skdp.penalties import L1, L2, ElasticNet
from skdp.solvers import GD, SGD

# No clip is in the way, so that the objective is the textbook's.
SOLVERS = [
    pytest.param(GD(steps=4000, clip=100.0), 1e-6, id="gd"),
    pytest.param(SGD(rate=1.0, steps=4000, clip=100.0, averaging=False), 1e-6, id="sgd-whole"),
    pytest.param(SGD(rate=0.5, steps=6000, clip=100.0, schedule="sqrt"), 2e-3, id="sgd-half"),
]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (300, 3))
    y = (X @ [2.0, -1.0, 0.0] + 0.4 + 0.7 * rng.logistic(size=300) > 0).astype(int)
    return X, y


def _fit(Estimator, data, solver, **given):
    model = Estimator(
        epsilon=np.inf, data_norm=2.0, classes=[0, 1], solver=solver, random_state=0, **given
    )
    with pytest.warns(PrivacyWarning, match="NOT private"):
        return model.fit(*data)


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("solver, tolerance", SOLVERS)
def test_logistic_regression_becomes_scikit_learns(data, solver, tolerance, neighbors):
    ours = _fit(DPLogisticRegression, data, solver, C=0.1, neighbors=neighbors)
    theirs = LogisticRegression(C=0.1, tol=1e-12, max_iter=1000).fit(*data)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=tolerance * 30)
    gap = _objective(ours, data, L2(10.0)) - _objective(theirs, data, L2(10.0))
    assert -1e-9 <= gap / len(data[0]) <= tolerance


@pytest.mark.parametrize(
    "penalty", [L2(10.0), L1(10.0), ElasticNet(10.0, 0.5)], ids=lambda p: type(p).__name__
)
def test_svm_reaches_the_optimum_of_its_objective(data, penalty):
    ours = _fit(DPLinearSVC, data, GD(steps=6000, clip=100.0), penalty=penalty)
    best = _reference(data, penalty)
    assert -1e-9 <= (_svm(ours.coef_[0], ours.intercept_[0], data, penalty) - best) / 300 <= 1e-6


def test_one_step_is_not_the_optimum(data):
    short = _fit(DPLogisticRegression, data, GD(steps=1, clip=100.0), C=0.1)
    theirs = LogisticRegression(C=0.1, tol=1e-12, max_iter=1000).fit(*data)
    gap = _objective(short, data, L2(10.0)) - _objective(theirs, data, L2(10.0))
    assert gap / 300 > 1e-3, "the limits above can be missed"


def _objective(model, data, penalty):
    X, y = data
    margin = (2 * y - 1) * (X @ model.coef_[0] + model.intercept_[0])
    return np.logaddexp(0.0, -margin).sum() + penalty.value(model.coef_[0])


def _svm(w, b, data, penalty):
    X, y = data
    loss = HuberisedHinge(0.5).value(X @ w + b, 2.0 * y - 1.0).sum()
    return loss + penalty.value(np.asarray(w))


def _reference(data, penalty):
    """Smooth in (positive part, negative part, intercept), so that a bounded quasi-Newton method is exact."""

    def objective(v):
        w, size = v[:3] - v[3:6], v[:3] + v[3:6]
        extra = penalty.value(size) - penalty.value(w)
        return _svm(w, v[6], data, penalty) + extra

    bounds = [(0, None)] * 6 + [(None, None)]
    options = {"maxiter": 5000, "ftol": 1e-14, "gtol": 1e-9}
    return minimize(
        objective, np.full(7, 0.1), bounds=bounds, method="L-BFGS-B", options=options
    ).fun
