"""Who hands an estimator over has it back as it was: with its promise, its ledger, its seed, and what a fit has left.

A function that sets another promise, or takes the ledger away, and works on the estimator itself would have the next
fit of its owner paid by nobody. The calls are all that the package shows with an argument of that name.
"""

import copy
import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from laws.answers_held import differences
from sklearn.base import BaseEstimator

import skdp
from skdp import DPLogisticRegression, _simulate, audit, inspection, metrics, model_selection
from skdp.privacy import Ledger
from skdp.utils import expected_failed_checks
from skdp.utils._discovery import _public_modules

X = np.random.default_rng(0).uniform(-0.5, 0.5, (60, 2))
Y = (X[:, 0] > 0).astype(int)
HELD = (X, Y)
GRID = {"C": [0.1, 1.0]}
COLUMNS = {"age": [17, 90], "sex": ["f", "m"]}
CALLS: dict[str, Callable[[Any], Any]] = {
    "DPConfusionMatrix.from_estimator": lambda e: metrics.DPConfusionMatrix.from_estimator(
        e, *HELD
    ),
    "DPGridSearchCV": lambda e: model_selection.DPGridSearchCV(e, GRID).fit(*HELD),
    "DPGroupAccuracy.from_estimator": lambda e: metrics.DPGroupAccuracy.from_estimator(
        e, *HELD, Y, names=[0, 1]
    ),
    "DPRandomizedSearchCV": lambda e: model_selection.DPRandomizedSearchCV(e, GRID, n_iter=2).fit(
        *HELD
    ),
    "LedgerDisplay.from_estimator": lambda e: inspection.LedgerDisplay.from_estimator(
        e, plot=False
    ),
    "PrivacyDisplay.from_estimator": lambda e: inspection.PrivacyDisplay.from_estimator(
        e, plot=False
    ),
    "Receipt.complaints": lambda e: e.privacy_.complaints(e),
    "Receipt.verify": lambda e: e.privacy_.verify(e),
    "TradeoffDisplay.from_estimator": lambda e: inspection.TradeoffDisplay.from_estimator(
        e, plot=False
    ),
    "check": skdp.check,
    "dp_calibration_curve": lambda e: metrics.dp_calibration_curve(e, *HELD),
    "dp_cross_val_score": lambda e: model_selection.dp_cross_val_score(e, *HELD),
    "dp_score": lambda e: metrics.dp_score(e, *HELD),
    "expected_failed_checks": expected_failed_checks,
    "fitted": lambda e: audit.replay(audit.fitted(e), next(audit.adversarial_pairs("replace_one"))),
    "original_units": inspection.original_units,
    "released_by": lambda e: audit.released_by(e)(HELD),
    "simulate": lambda e: skdp.simulate(COLUMNS, 60, [0.3, 2.0], estimator=e, repeats=2),
    "total": skdp.total,
}
WITHOUT_LEDGER = ("DPGridSearchCV", "DPRandomizedSearchCV")  # which pay for all themselves
INNER = ("entry", "fitting", "mechanisms", "models", "solvers")  # rooms that no user calls
OTHERS = ("DPTableClassifier", "DPTableRegressor", "Receipt")  # whose `model` is a name, or digests


def takers() -> Iterator[str]:
    """Public functions, classes and class methods with an argument of the name."""
    for module in _public_modules("skdp"):
        if {*INNER} & {*module.__name__.split(".")}:
            continue
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            named = {name: thing} if callable(thing) and not name.startswith("_") else {}
            if inspect.isclass(thing) and not issubclass(thing, BaseEstimator):
                methods = [part for part in dir(thing) if not part.startswith("_")]
                named |= {f"{name}.{part}": getattr(thing, part) for part in methods}
            yield from (told for told, call in named.items() if _takes_one(call))


def _takes_one(call: Any) -> bool:
    try:
        return bool({"estimator", "model"} & set(inspect.signature(call).parameters))
    except (TypeError, ValueError):
        return False


def estimator(call: str) -> Any:
    """A fitted estimator; its ledger pays for a fit, or for as many as there may be."""
    ledger = None if call in WITHOUT_LEDGER else Ledger(50.0, 1e-4)
    model = DPLogisticRegression(data_norm=1.0, classes=[0, 1], solver="gd", ledger=ledger)
    return model.fit(*HELD)


def complaints(call: str) -> list[str]:
    """What a call leaves otherwise of the estimator that it is given."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = estimator(call)
        before = copy.deepcopy(vars(given))
        CALLS[call](given)
    return differences(before, vars(given), call)


def test_every_call_that_takes_an_estimator_is_under_the_law():
    assert sorted(set(takers()) - set(OTHERS)) == sorted(CALLS)


@pytest.mark.parametrize("call", CALLS)
def test_an_estimator_that_is_given_stays_as_it_is(call):
    assert complaints(call) == []


def test_one_that_is_worked_on_itself_is_found(monkeypatch):
    monkeypatch.setattr(_simulate, "clone", lambda model: model)
    assert {"simulate.epsilon differs", "simulate.ledger"} <= {
        told.split(" is of")[0] for told in complaints("simulate")
    }
