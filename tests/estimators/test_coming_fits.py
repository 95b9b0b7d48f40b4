"""A search that a ledger cannot pay for is refused before its first fit, and one that it can pay for ends.

scikit-learn tells how many fits a search makes since 1.9, by the contexts of its callbacks. In older versions, and of
a cross-validation in every version, a user says it by ``fits=`` or `Ledger.announce`; else a warning comes.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn import __version__
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import Pipeline, make_pipeline

import skdp
from skdp import BudgetExceeded, DPLogisticRegression, PrivacyWarning
from skdp.fitting import _provenance
from skdp.model_selection import DPGridSearchCV
from skdp.preprocessing import BoundsScaler, DPBounds
from skdp.privacy import Ledger
from skdp.privacy._gaussian import gaussian_epsilon, gaussian_mu

TELLS = tuple(map(int, __version__.split(".")[:2])) >= (1, 9)
told = pytest.mark.skipif(not TELLS, reason="scikit-learn tells of searches since 1.9")
# Where every fit of a search is refused, scikit-learn raises a ValueError that shows why.
REFUSED = BudgetExceeded, ValueError

rng = np.random.default_rng(0)
X = rng.uniform(-0.5, 0.5, (300, 3))
Y = (X[:, 0] > 0).astype(int)
GRID = {"C": [0.01, 0.1, 1, 10]}

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def model(**given):
    declared = {"data_norm": 1.0, "classes": [0, 1], "solver": "gd", "delta": 1e-6}
    return DPLogisticRegression(**{"epsilon": 0.3, **declared, **given})


def searches(one):
    """What fits 13 times."""
    yield GridSearchCV(one, GRID, cv=3)
    yield GridSearchCV(one, GRID, cv=3, n_jobs=2)
    yield RandomizedSearchCV(one, {"C": uniform(0.1, 2.0)}, n_iter=4, cv=3, random_state=0)
    yield GridSearchCV(one, GRID, cv=3, error_score="raise")


def test_the_hook_is_there_in_every_version_that_promises_it():
    """Were it to go, or to be renamed, all below would be skipped."""
    assert hasattr(DPLogisticRegression, "set_callbacks") == TELLS
    one = model(ledger=Ledger(5.0, 1e-6))
    GridSearchCV(one, GRID, cv=3).fit(X, Y)
    assert all(("in GridSearchCV" in who) == TELLS for who in one.ledger.payers[:12])


@told
@pytest.mark.parametrize("which", range(4))
def test_a_search_is_refused_before_the_first_fit_with_the_whole_quote(which):
    ledger = Ledger(0.6, 1e-6)
    search = list(searches(model(ledger=ledger)))[which]
    kind = BudgetExceeded if search.error_score == "raise" else REFUSED
    with pytest.raises(
        kind,
        match=r"13 fits are coming, which cost epsilon=1\.\d+ .*0\.6 left of 0\.6.*epsilon=0\.1",
    ):
        search.fit(X, Y)
    assert len(ledger) == 0


@pytest.mark.parametrize("which", range(4))
def test_with_what_was_advised_it_ends_with_a_model(which):
    ledger = Ledger(0.6, 1e-6)
    search = list(searches(model(ledger=ledger, epsilon=0.14)))[which]
    search.fit(X, Y)
    assert len(ledger) == 13 and np.isfinite(search.cv_results_["mean_test_score"]).all()


@told
def test_a_search_that_has_just_enough_is_let_pass_in_every_process():
    """Each process asks for what is left, by what the ledger says was paid of this search."""
    price = model(epsilon=0.1).quote(200, 3).script
    for n_jobs in (1, 2):
        ledger = Ledger(0.5, 1e-6)
        for _ in range(3):  # of others
            ledger.reserve(price, "another")
        whole = gaussian_mu(ledger.remaining, 1e-6)
        least = 0.97 * gaussian_epsilon(whole / np.sqrt(13), 1e-6)
        search = GridSearchCV(model(ledger=ledger, epsilon=least), GRID, cv=3, n_jobs=n_jobs)
        search.fit(X, Y)
        assert len(ledger) == 16 and np.isfinite(search.cv_results_["mean_test_score"]).all()


CALLS = [cross_val_score, cross_validate, cross_val_predict]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_cross_validation_is_refused_where_its_fits_are_said(call, n_jobs):
    """Nothing public tells of a cross-validation."""
    for announced in ({"fits": 5}, {}):
        ledger = Ledger(0.6, 1e-6, **announced)
        with pytest.raises(REFUSED, match=r"fits=5 like this one|5 fits are coming"):
            if not announced:
                ledger.announce([(model().quote(240, 3).script, 5)])
            call(model(ledger=ledger), X, Y, cv=5, n_jobs=n_jobs)
        assert len(ledger) == 0
    ledger = Ledger(0.6, 1e-6, fits=3)
    call(model(ledger=ledger), X, Y, cv=3, n_jobs=n_jobs)
    assert len(ledger) == 3


@pytest.mark.parametrize("which", range(4))
def test_in_every_version_a_search_is_refused_where_its_fits_are_said(which):
    ledger = Ledger(0.6, 1e-6, fits=13)
    with pytest.raises(REFUSED, match=r"fits=13 like this one|13 fits are coming"):
        list(searches(model(ledger=ledger)))[which].fit(X, Y)
    assert len(ledger) == 0


@pytest.fixture
def notes(monkeypatch):
    found = _provenance.Unannounced()
    monkeypatch.setattr(_provenance, "UNANNOUNCED", found)
    return found


UNTOLD = {
    "cross_val_score": lambda one: cross_val_score(one, X, Y, cv=3),
    "cross_validate": lambda one: cross_validate(one, X, Y, cv=3),
    "cross_val_predict": lambda one: cross_val_predict(one, X, Y, cv=3),
    "in a pipeline": lambda one: cross_val_score(
        make_pipeline(BoundsScaler((-0.5, 0.5)), one.set_params(data_norm=2.0)), X, Y, cv=2
    ),
}
if not TELLS:
    UNTOLD["grid"] = lambda one: GridSearchCV(one, GRID, cv=2).fit(X, Y)
    UNTOLD["halving"] = lambda one: HalvingGridSearchCV(one, GRID, cv=2, refit=False).fit(X, Y)


@pytest.mark.parametrize("way", UNTOLD)
def test_where_nobody_says_how_many_a_warning_comes_once(notes, way):
    with pytest.warns(PrivacyWarning, match="Clones of one DPLogisticRegression .*fits=") as seen:
        UNTOLD[way](model(ledger=Ledger(9.0, 1e-6)))
    assert sum("Clones of one" in str(one.message) for one in seen) == 1 and notes.told


def test_no_warning_where_it_is_said_or_where_one_is_fitted(notes):
    cross_val_score(model(ledger=Ledger(9.0, 1e-6, fits=3)), X, Y, cv=3)
    (ledger := Ledger(9.0, 1e-6)).announce([(model().quote(200, 3).script, 3)])
    cross_val_score(model(ledger=ledger), X, Y, cv=3)
    cross_val_score(model(), X, Y, cv=3)  # no ledger
    one = clone(model(ledger=ledger))
    one.fit(X, Y)
    one.fit(X, Y)
    if TELLS:
        GridSearchCV(model(ledger=Ledger(9.0, 1e-6)), GRID, cv=2).fit(X, Y)
    assert not notes.told


@told
def test_in_a_pipeline_and_under_a_budget_in_scope():
    pipeline = make_pipeline(BoundsScaler((-0.5, 0.5)), model(data_norm=2.0, epsilon=0.25))
    grid = {"dplogisticregression__C": [0.1, 1.0]}
    with skdp.budget(0.6, 1e-6) as ledger, pytest.raises(REFUSED, match="7 fits"):
        GridSearchCV(pipeline, grid, cv=3).fit(X, Y)
    assert len(ledger) == 0
    with skdp.budget(0.6, 1e-6) as ledger:
        GridSearchCV(pipeline, grid, cv=2, refit=False).fit(X, Y)
    assert len(ledger) == 4


@told
def test_several_steps_that_pay_are_asked_for_one_by_one():
    pipeline = make_pipeline(DPBounds(epsilon=0.05), model(data_norm=2.0, epsilon=0.3))
    grid = {"dplogisticregression__C": [0.1, 1.0]}
    with skdp.budget(0.6, 1e-6) as ledger, pytest.raises(REFUSED, match="7 fits"):
        GridSearchCV(pipeline, grid, cv=3).fit(X, Y)
    assert [who.split()[0] for who in ledger.payers] == ["DPBounds"]
    with skdp.budget(1.2, 1e-6) as ledger:
        GridSearchCV(pipeline, grid, cv=2).fit(X, Y)
    assert len(ledger) == 10


@told
def test_candidates_with_epsilons_of_their_own():
    """Each is asked for as if the rest of the search cost what it does."""
    grid = {"epsilon": [0.05, 0.1]}
    ledger = Ledger(0.45, 1e-6)
    GridSearchCV(model(ledger=ledger), grid, cv=3, refit=False).fit(X, Y)
    assert len(ledger) == 6
    with pytest.raises(REFUSED, match="6 fits"):
        GridSearchCV(model(ledger=Ledger(0.1, 1e-6)), grid, cv=3, refit=False).fit(X, Y)


@told
@pytest.mark.parametrize("error_score", ["raise", np.nan])
def test_no_step_in_front_is_paid_where_the_pipeline_cannot_be(error_score):
    """A pipeline of skdp tells its steps what all of them cost."""
    pipeline = skdp.make_pipeline(DPBounds(epsilon=0.05), model(data_norm=2.0, epsilon=0.3))
    search = GridSearchCV(
        pipeline, {"dplogisticregression__C": [0.1, 1.0]}, cv=3, error_score=error_score
    )
    with skdp.budget(0.6, 1e-6) as ledger, pytest.raises(REFUSED, match="14 fits are coming"):
        search.fit(X, Y)
    assert len(ledger) == 0 and ledger.spent == 0.0
    ledger = Ledger(0.6, 1e-6)
    given = {"dpbounds__ledger": ledger, "dplogisticregression__ledger": ledger}
    with pytest.raises(REFUSED, match="14 fits are coming"):
        clone(search).set_params(estimator=clone(pipeline).set_params(**given)).fit(X, Y)
    assert len(ledger) == 0 and ledger.spent == 0.0
    with skdp.budget(1.2, 1e-6) as ledger:
        search.set_params(cv=2).fit(X, Y)
    assert len(ledger) == 10


@told
def test_a_step_in_front_asks_for_what_its_own_ledger_pays():
    pipeline = skdp.make_pipeline(
        DPBounds(epsilon=0.05, ledger=(front := Ledger(0.6, 1e-6))),
        model(data_norm=2.0, epsilon=0.3, ledger=(behind := Ledger(2.0, 1e-6))),
    )
    GridSearchCV(pipeline, {"dplogisticregression__C": [0.1, 1.0]}, cv=2).fit(X, Y)
    assert len(front) == len(behind) == 5


def test_our_searches_pay_once_or_not_at_all():
    pipeline = skdp.make_pipeline(DPBounds(epsilon=0.05), model(data_norm=2.0, epsilon=0.3))
    search = DPGridSearchCV(pipeline, {"dplogisticregression__C": [0.1, 1.0]})
    with skdp.budget(0.2, 1e-6) as ledger, pytest.raises(BudgetExceeded):
        search.fit(X, Y)
    assert len(ledger) == 0 and ledger.spent == 0.0


@told
def test_what_candidates_of_several_prices_cost_is_announced_or_asked_for():
    """One of 0.3 and two of 0.05, of which the first comes first: they cost 0.38, and six like the first 0.8."""
    grid = {"epsilon": [0.3, 0.05, 0.05]}
    for n_jobs in (None, 2):
        ledger = Ledger(0.55, 1e-6)
        search = GridSearchCV(model(ledger=ledger), grid, cv=2, refit=False, n_jobs=n_jobs)
        with pytest.raises(REFUSED, match=r"varies epsilon or delta.*ledger\.announce"):
            search.fit(X, Y)
        assert len(ledger) == 0
        prices = [(model(epsilon=e).quote(len(X) // 2, 3).script, 2) for e in grid["epsilon"]]
        ledger.announce(prices)
        search.fit(X, Y)
        assert len(ledger) == 6
    with pytest.raises(BudgetExceeded):
        Ledger(0.4, 1e-6).announce(prices)


@told
def test_candidates_that_are_other_estimators_are_counted_as_one_search():
    grid = {
        "a": [
            model(epsilon=0.1),
            skdp.DPLinearSVC(epsilon=0.1, data_norm=1.0, classes=[0, 1], solver="gd"),
        ]
    }
    with skdp.budget(0.32, 1e-6) as ledger:
        search = GridSearchCV(Pipeline([("a", model())]), grid, cv=3).fit(X, Y)
    assert len(ledger) == 7 and np.isfinite(search.cv_results_["mean_test_score"]).all()


@told
def test_nested_searches_are_counted_whole():
    inner = GridSearchCV(model(ledger=(ledger := Ledger(1.0, 1e-6))), {"C": [0.1, 1.0]}, cv=2)
    outer = GridSearchCV(inner, {"refit": [True]}, cv=3)
    with pytest.raises(REFUSED, match="20 fits are coming"):
        outer.fit(X, Y)
    assert len(ledger) == 0


@told
def test_rounds_of_a_halving_search_are_asked_for_as_they_come():
    """Of later rounds it is known that they come: 8 fits in the first, one in the second at least, and the refit."""
    search = HalvingGridSearchCV(model(ledger=(ledger := Ledger(0.6, 1e-6))), GRID, cv=2)
    with pytest.raises(REFUSED, match="10 fits are coming"):
        search.fit(X, Y)
    assert len(ledger) == 0
    one = model(ledger=(ledger := Ledger(0.6, 1e-6)), epsilon=0.14)
    HalvingGridSearchCV(one, GRID, cv=2).fit(X, Y)
    assert len(ledger) == 13


@told
def test_one_call_after_the_other_is_asked_for_what_is_left():
    one = model(ledger=(ledger := Ledger(0.6, 1e-6)), epsilon=0.25)
    GridSearchCV(one, {"C": [1.0]}, cv=2, refit=False).fit(X, Y)
    with pytest.raises(REFUSED, match="4 fits are coming"):
        GridSearchCV(one, {"C": [1.0]}, cv=4, refit=False).fit(X, Y)
    assert len(ledger) == 2


def test_no_privacy_has_no_price(notes):
    ledger = Ledger(np.inf, 0.0)
    with pytest.warns(skdp.PrivacyWarning):
        cross_val_score(model(epsilon=np.inf, ledger=ledger), X, Y, cv=2)
        GridSearchCV(model(epsilon=np.inf, ledger=ledger), {"C": [1.0]}, cv=2).fit(X, Y)
    assert len(ledger) == 5 and not notes.told


SILENT = """
from sklearn.model_selection import GridSearchCV
from skdp.fitting import _provenance
_provenance.TASK = "renamed"
import sys; sys.path.insert(0, {tests!r})
from estimators.test_coming_fits import GRID, X, Y, model, Ledger
one = model(ledger=Ledger(0.6, 1e-6))
try:
    GridSearchCV(one, GRID, cv=3).fit(X, Y)
except Exception as error:
    print(type(error).__name__)
print(len(one.ledger))
"""


@told
def test_a_name_that_changes_would_be_seen():
    """The name of scikit-learn's task is taken on trust: were it another, fits would be paid, and tests fail."""
    script = SILENT.format(tests=str(Path(__file__).parents[1]))
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, check=True
    )
    assert found.stdout.split()[-1] != "0"
