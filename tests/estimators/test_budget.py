"""A budget in scope pays for every fit inside, wherever it runs; what is not covered is said."""

import multiprocessing
import pickle
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from joblib import Parallel, delayed, parallel_config
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline

import skdp
from skdp import BudgetExceeded, DPLogisticRegression, NotSupported, PrivacyWarning
from skdp.fitting import _payer
from skdp.privacy import Ledger, epsilon
from skdp.privacy.ledger import _budget

RNG = np.random.default_rng(0)
X = RNG.uniform(-0.5, 0.5, (60, 2))
Y = (X[:, 0] > 0).astype(int)
K = np.arange(60) % 3

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def _model(**parameters):
    return DPLogisticRegression(
        **({"epsilon": 0.1, "delta": 1e-6, "solver": "gd"} | parameters),
        data_norm=1.0,
        classes=[0, 1],
    )


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_fits_in_workers_are_covered(backend):
    with skdp.budget(epsilon=2, delta=1e-6) as ledger, parallel_config(backend=backend):
        cross_val_score(_model(), X, Y, cv=3, n_jobs=2)
        OneVsRestClassifier(_model(), n_jobs=2).fit(X, K)
        cross_val_score(OneVsRestClassifier(_model()), X, K, cv=2, n_jobs=2)
    assert len(ledger) == 3 + 3 + 6
    _model().fit(X, Y)
    assert len(ledger) == 12


def _made_where_it_is_fitted(rows=60):
    """A fit of an estimator that nobody sent, and what was said of it."""
    if multiprocessing.parent_process() is not None:
        _payer.UNCOVERED.told = False  # by a test before, in this worker
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        paid = _model().fit(X[:rows], Y[:rows]).privacy_.ledger
    return paid is not None, [str(one.message) for one in heard]


IN_THREADS = {
    "joblib": lambda: Parallel(n_jobs=2, prefer="threads")(
        delayed(_made_where_it_is_fitted)(60) for _ in range(3)
    ),
    "pool": lambda: list(ThreadPoolExecutor(2).map(_made_where_it_is_fitted, [60] * 3)),
}


@pytest.mark.parametrize("how", IN_THREADS)
def test_what_is_made_in_a_thread_is_covered(how):
    with skdp.budget(epsilon=2, delta=1e-6) as ledger:
        assert [paid for paid, _ in IN_THREADS[how]()] == [True] * 3
    assert len(ledger) == 3


def charged_in_threads(how):
    """Charges of an outer and of an inner budget: by threads inside both, and by threads inside the outer alone."""
    with skdp.budget(epsilon=2, delta=1e-6) as outer:
        with skdp.budget(epsilon=2, delta=1e-6) as inner:
            IN_THREADS[how]()
            inside = len(outer), len(inner)
        IN_THREADS[how]()
        return inside, (len(outer), len(inner))


@pytest.mark.parametrize("how", IN_THREADS)
def test_the_innermost_budget_pays_for_what_is_made_in_a_thread(how):
    assert charged_in_threads(how) == ((0, 3), (3, 3))


def test_an_outer_budget_that_pays_for_threads_of_an_inner_one_is_found(monkeypatch):
    class OutermostFirst(list):
        def __getitem__(self, place):
            return super().__getitem__(0)

    monkeypatch.setattr(_budget, "_OPEN", OutermostFirst())
    assert charged_in_threads("pool") == ((3, 0), (6, 0))


def test_what_is_made_in_a_thread_that_ran_before_is_covered():
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(abs, range(4)))
        with skdp.budget(epsilon=2, delta=1e-6) as ledger:
            assert all(paid for paid, _ in pool.map(_made_where_it_is_fitted, [60] * 3))
    assert len(ledger) == 3


def test_what_is_made_in_a_worker_out_of_sight_says_so():
    with skdp.budget(epsilon=2, delta=1e-6) as ledger, parallel_config(backend="loky"):
        found = Parallel(n_jobs=2)(delayed(_made_where_it_is_fitted)() for _ in range(2))
        sent = Parallel(n_jobs=2)(delayed(_fitted)(clone(_model())) for _ in range(2))
    assert len(ledger) == 2 and all(told == [] for told in sent)
    for paid, told in found:
        assert not paid and "made in a worker process" in told[0]


def _fitted(model):
    _payer.UNCOVERED.told = False  # by a test before, in this worker
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model.fit(X, Y)
    return [str(one.message) for one in heard]


def test_what_was_sent_without_a_budget_is_not_said_to_be_out_of_sight():
    with parallel_config(backend="loky"):
        (told,) = Parallel(n_jobs=2)(delayed(_fitted)(clone(_model())) for _ in range(1))
    assert not any("made in a worker process" in one for one in told)


def test_a_search_inside_ends_with_a_model_or_is_refused_before_its_first_fit():
    """The script that spent its budget and came back without a model, with the number of fits said."""
    search = GridSearchCV(_model(epsilon=0.3), {"C": [0.01, 0.1, 1, 10]}, cv=3, error_score="raise")
    with (
        skdp.budget(epsilon=0.6, delta=1e-6, fits=13) as ledger,
        pytest.raises(BudgetExceeded, match=r"fits=13 like this one cost .*about epsilon=0\.1"),
    ):
        search.fit(X, Y)
    assert len(ledger) == 0
    with skdp.budget(epsilon=0.6, delta=1e-6, fits=13) as ledger:
        search.set_params(estimator__epsilon=0.15).fit(X, Y)
    assert len(ledger) == 13 and np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_.coef_.shape == (1, 2)


def test_the_innermost_budget_pays_and_an_own_ledger_before_it():
    own = Ledger(1.0, 1e-6)
    with skdp.budget(1.0, 1e-6) as outer:
        _model().fit(X, Y)
        with skdp.budget(1.0, 1e-6) as inner:
            _model().fit(X, Y)
            _model(ledger=own).fit(X, Y)
        _model().fit(X, Y)
    assert (len(outer), len(inner), len(own)) == (2, 1, 1)
    assert outer.report().rows[0].what == "DPLogisticRegression gd"


def test_a_budget_of_another_relation_is_refused():
    with skdp.budget(1.0, 1e-6, "add_remove"), pytest.raises(ValueError, match="one relation"):
        _model().fit(X, Y)


def test_a_budget_refuses_before_anything_is_fitted():
    with skdp.budget(0.1, 1e-6) as ledger:
        with pytest.raises(BudgetExceeded, match=r"a fit of epsilon=0\.09\d+ by Gaussian"):
            _model(epsilon=0.5).fit(X, Y)
        assert len(ledger) == 0


def test_budgets_of_several_threads_are_not_mixed():
    opened, done, seen = threading.Event(), threading.Event(), []

    def other():
        with skdp.budget(1.0, 1e-6) as ledger:
            opened.set()
            done.wait()
            _model().fit(X, Y)
            seen.append(len(ledger))

    def third():
        try:
            _model().fit(X, Y)
        except NotSupported as refusal:
            seen.append(str(refusal))

    with skdp.budget(1.0, 1e-6) as ledger:
        thread = threading.Thread(target=other)
        thread.start()
        opened.wait()
        _model().fit(X, Y)
        stray = threading.Thread(target=third)
        stray.start()
        stray.join()
        done.set()
        thread.join()
    assert len(ledger) == 1 and seen[1:] == [1] and "Several threads" in seen[0]


def _as_in_a_worker(sent, monkeypatch):
    """The estimator as another process would see it."""
    monkeypatch.setattr("skdp.privacy.ledger._budget.os.getpid", lambda: -1)
    return pickle.loads(sent)


def test_a_sent_fit_is_refused_once_its_scope_has_ended(monkeypatch):
    with skdp.budget(1.0, 1e-6) as ledger:
        sent = pickle.dumps(_model())
        assert "_sent" not in vars(pickle.loads(sent))  # at home the with itself decides
        with monkeypatch.context() as patched:
            worker = clone(_as_in_a_worker(sent, patched))
    late = _as_in_a_worker(sent, monkeypatch)
    for one in (worker, late):
        with pytest.raises(NotSupported, match="pickled inside a budget that has ended"):
            one.fit(X, Y)
    assert len(ledger) == 0
    with skdp.budget(1.0, 1e-6) as another:
        late.fit(X, Y)
    assert len(another) == 1


@pytest.fixture
def uncovered(monkeypatch):
    notes = _payer.Uncovered()
    monkeypatch.setattr("skdp.fitting.estimator.UNCOVERED", notes)
    return notes


def test_the_second_uncovered_fit_is_told_once(uncovered):
    _model().fit(X, Y)
    with pytest.warns(PrivacyWarning, match="second fit without a ledger on tables of the same 2"):
        _model().fit(X[:30], Y[:30])
    _model().fit(X, Y)


def test_covered_fits_and_other_columns_are_not_told(uncovered):
    _model().fit(X, Y)
    _model().fit(np.hstack([X, X[:, :1]]) / 2, Y)
    with skdp.budget(1.0, 1e-6):
        _model().fit(X, Y)
    assert not uncovered.told


def test_the_note_does_not_depend_on_any_record(uncovered):
    """Whether it comes is a function of public facts: other records, the same note."""
    told = []
    for other in (X, X[::-1] / 2):
        notes = _payer.Uncovered()
        notes.fit(X.shape[1], None)
        with pytest.warns(PrivacyWarning):
            notes.fit(other.shape[1], None)
        told.append((notes.told, notes._seen))
    assert told[0] == told[1]


MODELS = {
    "pipeline": (lambda m: Pipeline([("m", m)]).fit(X, Y), 1),
    "one-vs-rest": (lambda m: OneVsRestClassifier(m).fit(X, K), 3),
    "voting": (lambda m: VotingClassifier([("a", m), ("b", clone(m))]).fit(X, Y), 2),
    "nested": (lambda m: Pipeline([("s", OneVsRestClassifier(m))]).fit(X, K), 3),
}


@pytest.mark.parametrize("name", MODELS)
def test_total_composes_every_receipt_inside(name):
    fit, count = MODELS[name]
    found = skdp.total(fit(_model()))
    script = tuple(run for receipt in found.receipts for run in receipt.script)
    assert len(found.receipts) == count
    assert found.epsilon == pytest.approx(epsilon(script, 1e-6)) and found.delta == 1e-6
    assert (found.epsilon > 0.11) == (count > 1) and f"{count} fit" in str(found)


THROW_AWAY = {  # fits of folds, or costs that do not add up since one label moves others between folds
    "grid": lambda m: GridSearchCV(m, {"C": [0.1, 1.0]}, cv=2),
    "calibrated": lambda m: CalibratedClassifierCV(m, cv=3),
    "stacking": lambda m: StackingClassifier([("a", m), ("b", clone(m))], cv=2),
}


@pytest.mark.parametrize("name", THROW_AWAY)
def test_total_refuses_what_throws_fits_away(name):
    model = THROW_AWAY[name](_model()).fit(X, Y)
    with pytest.raises(NotSupported, match="share a ledger"):
        skdp.total(model)


def test_total_refuses_what_does_not_add_up():
    def receipt(**parameters):
        return _model(**parameters).fit(X, Y)

    with pytest.raises(NotSupported, match="different relations"):
        skdp.total([receipt(), receipt(neighbors="add_remove", n_public=60)])
    with pytest.raises(NotSupported, match="under a filter"):
        skdp.total(receipt(solver="blgd", epsilon=1.0))
