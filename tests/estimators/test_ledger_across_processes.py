"""One ledger for all processes: what a copy in another one pays for is missing in this one."""

import os
import pickle

import numpy as np
import pytest
from joblib import Parallel, delayed, parallel_config
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier

from skdp import BudgetExceeded, DPLogisticRegression
from skdp.privacy import Ledger

RNG = np.random.default_rng(0)
X = RNG.uniform(-0.5, 0.5, (60, 2))
Y = (X[:, 0] > 0).astype(int)
K = np.arange(60) % 3
BACKENDS = ["loky", "threading", "multiprocessing"]

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:random_state=.*:skdp.PrivacyWarning"),  # bagging sets seeds
]


def _model(ledger, **parameters):
    return DPLogisticRegression(
        **({"epsilon": 0.05, "delta": 1e-6, "solver": "gd"} | parameters),
        data_norm=1.0,
        classes=[0, 1],
        ledger=ledger,
    )


def test_a_pickled_model_charges_the_same_ledger():
    ledger = Ledger(1.0, 1e-5)
    twin = pickle.loads(pickle.dumps(_model(ledger, epsilon=0.5))).fit(X, Y)
    assert twin.privacy_.epsilon <= 0.5 and len(ledger) == 1
    with pytest.raises(BudgetExceeded):
        _model(ledger, epsilon=1.0).fit(X, Y)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
def test_a_forked_child_charges_the_ledger_of_its_parent():
    ledger = Ledger(1.0, 1e-5)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            _model(ledger).fit(X, Y)
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert len(ledger) == 1 and ledger.spent > 0


SEARCHES = {
    "grid": (lambda m: GridSearchCV(m, {"C": [0.1, 1.0]}, cv=3, n_jobs=2).fit(X, Y), 7),
    "scores": (lambda m: cross_val_score(m, X, Y, cv=4, n_jobs=2), 4),
    "nested": (
        lambda m: cross_val_score(GridSearchCV(m, {"C": [0.1, 1.0]}, cv=2), X, Y, cv=2, n_jobs=2),
        10,
    ),
    # It draws records by giving them weights, whose bound has to be declared.
    "bagging": (
        lambda m: BaggingClassifier(m, 3, n_jobs=2).fit(X, Y),
        3,
    ),
    "calibrated": (lambda m: CalibratedClassifierCV(m, cv=3, n_jobs=2).fit(X, Y), 3),
    "one-vs-rest": (lambda m: OneVsRestClassifier(m, n_jobs=2).fit(X, K), 3),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("search", SEARCHES)
def test_every_charge_is_held_exactly_once(search, backend):
    if (search, backend) == ("calibrated", "multiprocessing"):
        pytest.skip("scikit-learn's own classifiers cannot be sent there either")
    run, fits = SEARCHES[search]
    ledger = Ledger(3.0, 1e-5)
    with parallel_config(backend=backend):
        run(_model(ledger))
    assert len(ledger) == fits
    one = ledger.scripts[0]
    assert all(script == one for script in ledger.scripts) or search in (
        "bagging",
        "nested",
        "grid",
    )


def _attempt(model):
    try:
        model.fit(X, Y)
        return 1
    except BudgetExceeded:
        return 0


@pytest.mark.parametrize("backend", BACKENDS)
def test_workers_cannot_overspend_together(backend):
    ledger = Ledger(0.2, 1e-5)
    with parallel_config(backend=backend):
        admitted = sum(Parallel(n_jobs=2)(delayed(_attempt)(_model(ledger)) for _ in range(24)))
    assert admitted == len(ledger) and 4 < admitted < 24 and ledger.spent <= 0.2
