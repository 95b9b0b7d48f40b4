"""More than two classes: one release, or one price for all; and what scikit-learn makes of it without noise."""

import math

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skdp import DPLinearSVC, DPLogisticRegression
from skdp.penalties import Nuclear
from skdp.privacy import Ledger, epsilon
from skdp.solvers import GD, SSADMM, PrivGene

X, Y = load_iris(return_X_y=True)
X = X / 10.0
GIVEN = {"data_norm": 1.2, "classes": [0, 1, 2], "random_state": 0}


def model(Estimator=DPLogisticRegression, budget=5.0, **given):
    return Estimator(epsilon=budget, delta=1e-5, **{**GIVEN, **given})


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_without_noise_it_is_scikit_learns_multinomial(C, fit_intercept):
    given = {"C": C, "fit_intercept": fit_intercept}
    exact = LogisticRegression(tol=1e-12, max_iter=100_000, solver="newton-cg", **given).fit(X, Y)
    with pytest.warns(UserWarning, match="NOT private"):
        found = model(budget=math.inf, **given).fit(X, Y)
    scale = np.linalg.norm(exact.coef_)
    assert np.linalg.norm(found.coef_ - exact.coef_) <= 1e-4 * scale
    assert np.abs(found.intercept_ - exact.intercept_).max() <= 1e-4 * (1.0 + scale)
    np.testing.assert_allclose(found.predict_proba(X), exact.predict_proba(X), atol=1e-4)


def test_what_all_classes_have_in_common_is_taken_out():
    found = model(solver=GD(steps=20)).fit(X, Y)
    assert found.coef_.shape == (3, 4) and found.decision_function(X).shape == (150, 3)
    np.testing.assert_allclose(found.coef_.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(found.predict_proba(X).sum(axis=1), 1.0)
    np.testing.assert_allclose(np.exp(found.predict_log_proba(X)), found.predict_proba(X))


@pytest.mark.parametrize("Estimator", [DPLogisticRegression, DPLinearSVC])
@pytest.mark.parametrize("solver", ["gd", "white-gd", "objective-perturbation"])
def test_fits_against_the_rest_share_one_price_and_one_charge(Estimator, solver):
    ledger = Ledger(5.0, 1e-5)
    given = {"multi_class": "ovr"} if Estimator is DPLogisticRegression else {}
    found = model(Estimator, solver=solver, ledger=ledger, random_state=None, **given).fit(X, Y)
    assert found.coef_.shape == (3, 4) and found.privacy_.epsilon <= 5.0
    assert epsilon(found.privacy_.script, 1e-5) <= 5.0 * (1 + 1e-9)
    alone = model(Estimator, solver=solver, classes=[0, 1]).quote(150, 4).script
    asked = sum(count for _, count in found.privacy_.script)
    assert asked in (3 * sum(count for _, count in alone), sum(count for _, count in alone))
    assert 0.0 < ledger.spent <= 5.0


def test_a_forgotten_sum_of_prices_is_seen():
    one = model(solver="gd", classes=[0, 1]).quote(150, 4).script
    tripled = tuple((event, 3 * count) for event, count in one)
    assert epsilon(tripled, 1e-5) > 8.0


def test_under_a_filter_each_class_has_its_part():
    found = model(solver="agd", multi_class="ovr").fit(X, Y)
    assert found.privacy_.unspent >= 0.0 and (np.abs(found.coef_).sum(axis=1) > 0.0).all()


def test_classes_are_told_apart_without_an_order():
    text = np.array(["setosa", "versicolor", "virginica"])
    found = model(budget=1e4, classes=text[::-1].tolist()).fit(X, text[Y])
    assert found.score(X, text[Y]) > 0.8 and found.classes_.tolist() == text.tolist()


def test_a_quote_knows_the_number_of_classes():
    assert model().quote(150, 4).script == model(classes=None).quote(150, 4, n_classes=3).script
    with pytest.raises(ValueError, match="n_classes"):
        model().quote(150, 4, n_classes=1)


def test_a_nuclear_norm_lowers_the_rank():
    given = {"solver": SSADMM(steps=300), "budget": 1e6, "fit_intercept": False}
    full = model(penalty=Nuclear(1e-6), **given).fit(X, Y)
    low = model(penalty=Nuclear(8.0), **given).fit(X, Y)
    ranks = [np.linalg.matrix_rank(m.coef_, tol=1e-6) for m in (full, low)]
    assert ranks[1] < ranks[0]


def test_as_a_user_would():
    pipe = make_pipeline(FunctionTransformer(), model(budget=1e4))
    assert cross_val_score(pipe, X, Y, cv=3).mean() > 0.8
    wrapped = OneVsRestClassifier(model(budget=1e4, classes=[0, 1])).fit(X, Y)
    assert wrapped.score(X, Y) > 0.6
    assert model(solver=PrivGene(), budget=100.0).fit(X, Y).coef_.shape == (3, 4)
