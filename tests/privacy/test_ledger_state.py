"""The state of a ledger: interrupts, forks, pickles, clones and threads."""

import copy
import gc
import os
import pickle
import signal
import sys
import threading
import time

import pytest
from event_samples import gaussian_fit
from sklearn.base import BaseEstimator, clone

from skdp.exceptions import BudgetExceeded, NotSupported
from skdp.privacy import Filter, Ledger, Spec
from skdp.privacy.events import (
    ZCDP,
    PureDP,
)
from skdp.privacy.ledger import _rules
from skdp.privacy.ledger._store import Store

SPEC = Spec(1.0, 1e-6)


def test_the_promise_of_a_ledger_cannot_be_rewritten():
    ledger = Ledger(1.0, 1e-6)
    for name in ("spec", "epsilon", "delta", "neighbors", "accountant", "spent", "scripts"):
        with pytest.raises(AttributeError):
            setattr(ledger, name, Spec(9.0, 1e-6))


def _interrupted(charge, line):
    """Run, and press the keyboard's interrupt before the given line of this package's files."""
    seen, watching = 0, sys.gettrace()  # what measures coverage goes on afterwards

    def tracer(frame, event, arg):
        nonlocal seen
        if event == "line" and "privacy" in frame.f_code.co_filename:
            seen += 1
            if seen == line:
                sys.settrace(None)
                raise KeyboardInterrupt
        return tracer

    sys.settrace(tracer)
    try:
        charge()
        return False
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(watching)


def _after_interrupt(build, charge, read, line):
    """What is recorded of a charge that was stopped before a line, or None if it ran through."""
    account = build()
    return read(account) if _interrupted(lambda: charge(account), line) else None


@pytest.mark.parametrize("kind", ["ledger", "filter"])
def test_an_interrupt_leaves_nothing_half_charged(kind):
    script = ((PureDP(0.01), 1), (ZCDP(0.001), 2), (PureDP(0.02), 3))

    def opened():
        ledger = Ledger(1.0, 1e-6, accountant="zcdp")
        ledger.reserve(((ZCDP(1e-3), 1),))
        return ledger

    build, charge, read = {
        "ledger": (
            opened,
            lambda account: account.reserve(script),
            lambda account: (sum(account.scripts, ()), account.spent),
        ),
        "filter": (
            lambda: Filter(SPEC, "zcdp"),
            lambda account: account.charge_all(script),
            lambda account: (account.script, account.spent),
        ),
    }[kind]
    before, whole = read(build()), build()
    charge(whole)
    found = []
    while (state := _after_interrupt(build, charge, read, len(found) + 1)) is not None:
        found.append(state)
    assert len(found) > 20 and set(found) <= {before, read(whole)} and found[0] == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_forked_while_the_lock_is_held_still_answers():
    """The fork waits for the charge that another thread is making; child and parent share what is left."""
    ledger = Ledger(1.0, 1e-6)
    ledger.reserve(gaussian_fit(0.2))
    held = threading.Event()

    def hold():
        with ledger._store._lock:
            held.set()
            time.sleep(0.3)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # a deadlock ends the child with a signal
        status = 1
        try:
            ledger.reserve(gaussian_fit(0.1))
            status = 0 if (len(ledger), len(ledger.scripts)) == (2, 2) else 2
        finally:
            os._exit(status)
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
    assert len(ledger) == 2 and ledger.spent > 0.2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_whose_ledger_could_not_be_shared_pays_for_nothing(monkeypatch):
    def full(self):
        raise OSError("no space left")

    monkeypatch.setattr(Store, "_share", full)
    ledger = Ledger(1.0, 1e-6)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            ledger.reserve(gaussian_fit(0.1))
        except NotSupported:
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    ledger.reserve(gaussian_fit(0.1))


class Holder(BaseEstimator):
    def __init__(self, ledger=None):
        self.ledger = ledger


def test_clones_and_copies_share_one_ledger():
    ledger = Ledger(1.0, 1e-6)
    assert clone(Holder(ledger)).ledger is ledger
    assert copy.copy(ledger) is ledger and copy.deepcopy(Holder(ledger)).ledger is ledger


def test_a_pickle_is_the_same_ledger_while_its_process_lives():
    ledger = Ledger(1.0, 1e-6)
    ledger.reserve(gaussian_fit(0.5))
    twin = pickle.loads(pickle.dumps(ledger))
    assert twin == ledger and twin.spent == ledger.spent
    twin.reserve(gaussian_fit(0.1))
    assert len(ledger) == len(twin) == 2
    with pytest.raises(BudgetExceeded):
        ledger.reserve(gaussian_fit(0.9))


def test_a_pickle_that_outlives_its_process_is_a_statement():
    ledger = Ledger(1.0, 1e-6)
    ledger.reserve(gaussian_fit(0.5))
    sent, spent = pickle.dumps(ledger), ledger.spent
    del ledger
    gc.collect()
    statement = pickle.loads(sent)
    assert statement.spent == spent and len(statement) == 1 and "read-only" in repr(statement)
    with pytest.raises(
        NotSupported, match="read-only statement: the process that kept it has ended"
    ):
        statement.reserve(gaussian_fit(0.1))
    assert pickle.loads(pickle.dumps(statement)).spent == spent


def test_threads_cannot_overspend_together(monkeypatch):
    """The gap between check and record is held open: without the lock threads would meet in it."""
    plus = _rules.plus

    def slow(*amounts):
        answer = plus(*amounts)
        time.sleep(1e-3)
        return answer

    monkeypatch.setattr(_rules, "plus", slow)
    ledger = Ledger(1.0, 1e-6, accountant="gdp")
    step = ((gaussian_fit(1.0, steps=16)[0][0], 1),)
    admitted, start = [], threading.Barrier(8)

    def work():
        start.wait()
        for _ in range(8):
            try:
                ledger.reserve(step)
                admitted.append(1)
            except BudgetExceeded:
                pass

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(admitted) == len(ledger.scripts) == 16
    assert ledger.spent <= 1.0


def test_repr_shows_the_state():
    ledger = Ledger(1.0, 1e-6)
    ledger.reserve(gaussian_fit(0.5))
    text = repr(ledger)
    for part in (
        "epsilon=1",
        "delta=1e-06",
        "replace_one",
        "'shifted or rdp'",
        "spent=0.5",
        "fits=1",
    ):
        assert part in text
