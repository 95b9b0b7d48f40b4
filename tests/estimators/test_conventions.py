"""What parameters mean in scikit-learn they mean here, and none is ignored in silence."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from skdp import DPLinearSVC, DPLogisticRegression, PrivacyWarning
from skdp.fitting import Sizes
from skdp.losses import Hinge
from skdp.penalties import L1, L2, ElasticNet, L1Ball, NoPenalty

PUBLIC = {"data_norm": 10.0, "classes": [0, 1]}


def table(n=400, d=4, seed=0):
    """Rows with a linear signal and an intercept far from 0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X @ rng.normal(size=d) + 1.0 + rng.logistic(size=n) > 0).astype(int)


def exact(model):
    """Fitted without noise."""
    with pytest.warns(PrivacyWarning, match="NOT private"):
        return model.set_params(epsilon=np.inf, **PUBLIC).fit(*table())


def penalty_of(**given):
    """Which formula a fit would minimise."""
    model = DPLogisticRegression(**PUBLIC, **given)
    return model._problem(Sizes(100, 4, norm=10.0))[1].penalty.penalty


@pytest.mark.parametrize(
    "given, expected",
    [
        ({}, L2(0.5)),
        ({"l1_ratio": 0.0}, L2(0.5)),
        ({"l1_ratio": 1.0}, L1(0.5)),
        ({"l1_ratio": 1}, L1(0.5)),
        ({"l1_ratio": 0.3}, ElasticNet(0.5, 0.3)),
        ({"penalty": "l2"}, L2(0.5)),
        ({"penalty": "l1"}, L1(0.5)),
        ({"penalty": "elasticnet", "l1_ratio": 0.3}, ElasticNet(0.5, 0.3)),
        ({"penalty": "elasticnet", "l1_ratio": 0.0}, L2(0.5)),
        ({"penalty": "elasticnet", "l1_ratio": 1.0}, L1(0.5)),
        ({"C": np.inf}, NoPenalty()),
        ({"C": np.inf, "l1_ratio": 1.0}, NoPenalty()),
    ],
)
def test_a_penalty_is_named_as_in_scikit_learn(given, expected):
    assert penalty_of(**{"C": 2.0, **given}) == expected


IGNORED = [
    ({"penalty": None, "C": 10.0}, "penalty=None will ignore the C"),
    ({"penalty": "none", "C": 10.0}, "penalty=None will ignore the C"),
    ({"penalty": L1Ball(3.0), "C": 10.0}, r"L1Ball.radius=3.0. carries its own strength"),
    ({"penalty": "l2", "l1_ratio": 0.5}, "l1_ratio=0.5 is only used when penalty is"),
    ({"penalty": "l1", "l1_ratio": 0.0}, "l1_ratio=0.0 is only used when penalty is"),
    ({"penalty": None, "l1_ratio": 0.5}, "l1_ratio=0.5 is only used when penalty is"),
    ({"penalty": "scad", "l1_ratio": 0.5}, "l1_ratio=0.5 is only used when penalty is"),
]
USED = [
    {},
    {"C": 10.0},
    {"penalty": None},
    {"penalty": None, "C": np.inf},
    {"penalty": L1Ball(3.0)},
    {"penalty": "l1", "l1_ratio": 1.0},
    {"penalty": "l2", "l1_ratio": 0.0},
    {"l1_ratio": 0.5},
]


@pytest.mark.parametrize("given, told", IGNORED)
def test_what_is_ignored_is_said(given, told):
    with pytest.warns(UserWarning, match=told):
        DPLogisticRegression(**PUBLIC, **given).quote(100, 4)


@pytest.mark.parametrize("Estimator", [DPLogisticRegression, DPLinearSVC])
@pytest.mark.parametrize("given", USED)
def test_what_is_used_is_not(Estimator, given):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Estimator(**PUBLIC, **given).quote(100, 4)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", Hinge()])
def test_a_half_width_without_a_parabola_is_said(loss):
    with pytest.warns(UserWarning, match="h=0.1 is only used when loss='huberised_hinge'"):
        DPLinearSVC(**PUBLIC, loss=loss, h=0.1).quote(100, 4)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_squared_hinge_is_linear_svcs(C):
    """Twice the loss of before, and no slope is clipped where there is no noise to be kept small."""
    ours = exact(DPLinearSVC(loss="squared_hinge", C=C, fit_intercept=False))
    theirs = LinearSVC(C=C, fit_intercept=False, tol=1e-12, max_iter=100_000, dual=False)
    theirs.fit(*table())
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-5)


@pytest.mark.parametrize("name", ["output-perturbation", "amp", "outpert-gd"])
def test_the_intercept_is_free(name):
    """C is so small that a penalised intercept would be 0."""
    ours = exact(DPLogisticRegression(solver=name, C=1e-6))
    theirs = LogisticRegression(C=1e-6, tol=1e-12).fit(*table())
    assert theirs.intercept_[0] > 0.4
    assert ours.intercept_[0] == pytest.approx(theirs.intercept_[0], abs=1e-3)


def test_log_probabilities_are_finite_for_all_scores():
    X, _ = table()
    model = exact(DPLogisticRegression())
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(model.predict_proba(X)))
    far = 1e5 * X
    told, scores = model.predict_log_proba(far), model.decision_function(far)
    assert np.isfinite(told).all()
    np.testing.assert_allclose(told[:, 1] - told[:, 0], scores)
    assert np.array_equal(told.max(axis=1), -np.log1p(np.exp(-np.abs(scores))))
