"""A fit that fails stays paid, and a run of a search that fails is not made again: of everything public that pays."""

import copy
import inspect
import uuid
from contextlib import contextmanager
from dataclasses import replace

import pytest
from estimators.checked import STAND_INS, checked
from laws.failures import (
    Failure,
    check_next_is_paid,
    check_not_made_again,
    check_paid_again,
    check_stays_paid,
    rows,
)
from sklearn.base import clone

import skdp
from skdp import metrics, model_selection
from skdp.entry import _reused
from skdp.fitting import program
from skdp.model_selection import DPGridSearchCV, DPRandomizedSearchCV, _folds, _searches
from skdp.model_selection._frame import Frame
from skdp.privacy import Ledger
from skdp.privacy.ledger import _budget
from skdp.utils import all_estimators

X, Y = rows()
ROOM = {"epsilon": 60.0, "delta": 1e-4}
BASE = skdp.DPLogisticRegression(epsilon=4.0, data_norm=2.0, classes=[0, 1], solver="gd")
FITTED = clone(BASE).fit(X, Y)
SEARCHES = {
    "DPGridSearchCV": lambda **given: DPGridSearchCV(BASE, {"C": [0.1, 1.0]}, **given),
    "DPRandomizedSearchCV": lambda **given: DPRandomizedSearchCV(
        BASE, {"C": [0.1, 1.0, 10.0]}, n_iter=2, **given
    ),
}
FUNCTIONS = {
    "dp_score": lambda **given: metrics.dp_score(FITTED, X, Y, epsilon=2.0, **given),
    "dp_calibration_curve": lambda **given: metrics.dp_calibration_curve(
        FITTED, X, Y, epsilon=2.0, **given
    ),
    "dp_cross_val_score": lambda **given: model_selection.dp_cross_val_score(BASE, X, Y, **given),
}


def paying():
    """Everything public that pays, by name: what takes a ledger, made for it."""
    for model in checked():
        if "ledger" in model.get_params():
            yield f"{type(model).__name__}-{getattr(model, 'neighbors', '')}", fit_of(model)
    for name, make in SEARCHES.items():
        yield name, lambda ledger, make=make: make(ledger=ledger).fit(X, Y)
    for name, call in FUNCTIONS.items():
        yield name, lambda ledger, call=call: call(ledger=ledger)


def fit_of(model):
    """A fit at a modest epsilon, charged to a ledger."""

    def run(ledger):
        one = clone(model).set_params(epsilon=4.0)
        if "classes" in one.get_params():
            one.set_params(classes=[0, 1])
        one.set_params(ledger=ledger).fit(X, Y)

    return run


PAYING = dict(paying())


def relation_of(name):
    return "add_remove" if name.endswith("-add_remove") else "replace_one"


def test_the_law_ranges_over_everything_that_takes_a_ledger():
    """A new estimator, search or metric is run, or fails here."""
    kinds = {
        name for name, kind in all_estimators() if "ledger" in inspect.signature(kind).parameters
    }
    kinds = {STAND_INS.get(name, type(name, (), {})).__name__ for name in kinds}
    functions = {
        name
        for room in (metrics, model_selection)
        for name in room.__all__
        if inspect.isfunction(getattr(room, name))
        and "ledger" in inspect.signature(getattr(room, name)).parameters
    }
    assert kinds | functions == {name.split("-")[0] for name in PAYING}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PAYING)
def test_what_failed_stays_paid_in_memory_and_on_the_disk(name, tmp_path):
    relation = relation_of(name)

    def durable():
        return Ledger(**ROOM, neighbors=relation, path=tmp_path / f"{uuid.uuid4().hex}.ledger")

    assert not list(check_stays_paid(PAYING[name], lambda: Ledger(**ROOM, neighbors=relation)))
    assert not list(check_stays_paid(PAYING[name], durable))
    kept = [Ledger(**ROOM, neighbors=relation, path=path) for path in tmp_path.glob("*.ledger")]
    assert len(kept) == 2 and all(ledger.spent > 0 for ledger in kept)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PAYING)
def test_what_is_run_again_after_a_failure_pays_again(name):
    relation = relation_of(name)
    assert not list(check_paid_again(PAYING[name], lambda: Ledger(**ROOM, neighbors=relation)))


def paid_beside(name, monkeypatch):
    """Ledgers that pay for a function of a model that has none, and of one that has; and the model's own."""
    alone, beside, own = (Ledger(**ROOM) for _ in range(3))
    FUNCTIONS[name](ledger=alone)
    for model in ("BASE", "FITTED"):
        monkeypatch.setitem(globals(), model, copy.copy(globals()[model]).set_params(ledger=own))
    FUNCTIONS[name](ledger=beside)
    return alone, beside, own


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_ledger_that_a_model_holds_takes_nothing_off_the_price(name, monkeypatch):
    """The one that was given pays for all."""
    alone, beside, own = paid_beside(name, monkeypatch)
    assert beside.scripts == alone.scripts and beside.spent == alone.spent > 0
    assert own.spent == 0.0


@pytest.mark.parametrize("error", [Failure, KeyboardInterrupt])
@pytest.mark.parametrize("name", PAYING)
def test_what_comes_after_something_broken_off_is_paid(name, error):
    """A program that goes on after it has caught an interrupt is still in its budget."""
    room = ROOM | {"neighbors": relation_of(name)}
    later = PAYING[f"DPRidge-{relation_of(name)}"]
    assert not list(check_next_is_paid(PAYING[name], later, room, error))


def searching(name):
    """A search, or a cross-validation, whose draws are the same each time."""
    if name in SEARCHES:
        return lambda: SEARCHES[name](random_state=0).fit(X, Y)
    return lambda: FUNCTIONS[name](random_state=0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [*SEARCHES, "dp_cross_val_score"])
@pytest.mark.parametrize("which", [0, 1, 250])
def test_a_run_that_fails_is_not_made_again(name, which):
    assert not list(check_not_made_again(searching(name), which))


# Planted: what has to be found.


def refunding(run):
    """A refund after a failure (the books are put back as they were)."""

    def again(ledger):
        before = ledger._store.state
        try:
            run(ledger)
        except Failure:
            ledger._store.change(lambda state: before)
            raise

    return again


@pytest.mark.parametrize("name", ["DPRidge-replace_one", "DPBounds-add_remove", "dp_score"])
def test_a_refund_is_found(name):
    ledger_of = lambda: Ledger(**ROOM, neighbors=relation_of(name))  # noqa: E731
    assert not list(check_stays_paid(PAYING[name], ledger_of))
    (told,) = check_stays_paid(refunding(PAYING[name]), ledger_of)
    assert told.startswith("charged 0 times, epsilon 0,")


@pytest.mark.parametrize("name", ["DPRidge-replace_one", "DPBounds-add_remove", "dp_score"])
def test_a_run_that_goes_on_at_the_price_of_a_failed_one_is_found(name, monkeypatch):
    sound, failed = program.Program.run, []

    def once_for_both(self, *given, **more):
        asked = self.ledger, self.name
        unpaid = replace(self, ledger=None) if asked in failed else self
        try:
            return sound(unpaid, *given, **more)
        except Failure:
            failed.append(asked)
            raise

    monkeypatch.setattr(program.Program, "run", once_for_both)
    ledger_of = lambda: Ledger(**ROOM, neighbors=relation_of(name))  # noqa: E731
    assert not list(check_stays_paid(PAYING[name], ledger_of))
    (told,) = check_paid_again(PAYING[name], ledger_of)
    assert told.startswith("charged 1 times")


def test_a_cross_validation_that_leaves_fits_to_a_ledger_of_the_model_is_found(monkeypatch):
    sound = _folds._charged
    of_fits = lambda *given: sound(*given) if BASE.ledger is None else ()  # noqa: E731
    monkeypatch.setattr(_folds, "_charged", of_fits)
    alone, beside, own = paid_beside("dp_cross_val_score", monkeypatch)
    assert beside.spent < alone.spent and own.spent == 0.0


@contextmanager
def forgetful():
    """Says that what is inside has been paid for, and does not take it back after an interrupt."""
    token = _budget._HERE.set(_budget._PAID)
    yield
    _budget._HERE.reset(token)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_after_which_nobody_pays_is_found(name, monkeypatch):
    monkeypatch.setattr(_searches, "paid", forgetful)
    monkeypatch.setattr(_reused, "paid", forgetful)
    (told,) = check_next_is_paid(PAYING[name], PAYING["DPRidge-replace_one"], ROOM)
    assert told == "a later fit was charged 0 times"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SEARCHES)
def test_a_run_that_is_made_until_it_works_is_found(name, monkeypatch):
    made = Frame.fitted

    def until_it_works(self, *given):
        while True:
            try:
                return made(self, *given)
            except Failure:
                continue

    monkeypatch.setattr(Frame, "fitted", until_it_works)
    (told,) = check_not_made_again(searching(name))
    assert "fits began where one failed" in told
