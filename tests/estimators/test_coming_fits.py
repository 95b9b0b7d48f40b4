"""A search that a ledger cannot pay for is refused before its first fit, and one that it can pay for ends."""

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.model_selection import (
    GridSearchCV,
    RandomizedSearchCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline

import skdp
from skdp import BudgetExceeded, DPLogisticRegression
from skdp.preprocessing import BoundsScaler
from skdp.privacy import Ledger

rng = np.random.default_rng(0)
X = rng.uniform(-0.5, 0.5, (300, 3))
Y = (X[:, 0] > 0).astype(int)
GRID = {"C": [0.01, 0.1, 1, 10]}


def model(**given):
    declared = {"data_norm": 1.0, "classes": [0, 1], "solver": "gd", "delta": 1e-6}
    return DPLogisticRegression(**{"epsilon": 0.3, **declared, **given})


def searches(one):
    """What fits 13 times."""
    yield GridSearchCV(one, GRID, cv=3)
    yield GridSearchCV(one, GRID, cv=3, n_jobs=2)
    yield RandomizedSearchCV(one, {"C": uniform(0.1, 2.0)}, n_iter=4, cv=3, random_state=0)


@pytest.mark.parametrize("which", range(3))
def test_a_search_is_refused_before_the_first_fit_with_the_whole_quote(which):
    ledger = Ledger(0.6, 1e-6)
    search = list(searches(model(ledger=ledger)))[which]
    with pytest.raises(
        BudgetExceeded,
        match=r"13 fits are coming, which cost epsilon=1\.\d+ .*0\.6 left of 0\.6.*epsilon=0\.1",
    ):
        search.fit(X, Y)
    assert len(ledger) == 0


@pytest.mark.parametrize("which", range(3))
def test_with_what_was_advised_it_ends_with_a_model(which):
    ledger = Ledger(0.6, 1e-6)
    search = list(searches(model(ledger=ledger, epsilon=0.14)))[which]
    search.fit(X, Y)
    assert len(ledger) == 13 and np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("call", [cross_val_score, cross_validate, cross_val_predict])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_so_is_a_cross_validation(call, n_jobs):
    ledger = Ledger(0.6, 1e-6)
    with pytest.raises(BudgetExceeded, match="5 fits are coming"):
        call(model(ledger=ledger), X, Y, cv=5, n_jobs=n_jobs)
    assert len(ledger) == 0
    call(model(ledger=ledger), X, Y, cv=3, n_jobs=n_jobs)
    assert len(ledger) == 3


def test_in_a_pipeline_and_under_a_budget_in_scope():
    pipeline = make_pipeline(BoundsScaler((-0.5, 0.5)), model(data_norm=2.0, epsilon=0.25))
    grid = {"dplogisticregression__C": [0.1, 1.0]}
    with skdp.budget(0.6, 1e-6) as ledger, pytest.raises(BudgetExceeded, match="7 fits"):
        GridSearchCV(pipeline, grid, cv=3).fit(X, Y)
    assert len(ledger) == 0
    with skdp.budget(0.6, 1e-6) as ledger:
        GridSearchCV(pipeline, grid, cv=2, refit=False).fit(X, Y)
    assert len(ledger) == 4


def test_candidates_with_epsilons_of_their_own():
    grid = {"epsilon": [0.05, 0.2]}
    ledger = Ledger(0.45, 1e-6)
    GridSearchCV(model(ledger=ledger), grid, cv=3, refit=False).fit(X, Y)
    assert len(ledger) == 6
    with pytest.raises(BudgetExceeded, match="6 fits"):
        GridSearchCV(model(ledger=Ledger(0.3, 1e-6)), grid, cv=3, refit=False).fit(X, Y)


def test_nested_searches_are_counted_whole():
    inner = GridSearchCV(model(ledger=(ledger := Ledger(1.0, 1e-6))), {"C": [0.1, 1.0]}, cv=2)
    with pytest.raises(BudgetExceeded, match="15 fits are coming"):
        cross_val_score(inner, X, Y, cv=3)
    assert len(ledger) == 0


def test_one_call_after_the_other_is_asked_for_what_is_left():
    ledger = Ledger(0.6, 1e-6)
    one = model(ledger=ledger)
    cross_val_score(one, X, Y, cv=2)
    with pytest.raises(BudgetExceeded, match="4 fits are coming"):
        cross_val_score(one, X, Y, cv=4)
    assert len(ledger) == 2


def test_no_privacy_has_no_price():
    ledger = Ledger(np.inf, 0.0)
    with pytest.warns(skdp.PrivacyWarning):
        cross_val_score(model(epsilon=np.inf, ledger=ledger), X, Y, cv=2)
    assert len(ledger) == 2
