"""The accounts: scripts held to the letter, and a budget that several fits share."""

import copy
import math
import pickle
import re
import threading
import time

import pytest
from sklearn.base import BaseEstimator, clone

from skdp.exceptions import BudgetExceeded, NotSupported, OffScript
from skdp.privacy import Filter, Ledger, Spec, accountants, calibrate
from skdp.privacy.events import (
    ZCDP,
    BoundedRange,
    Gaussian,
    PoissonGaussian,
    PureDP,
    RandomPosition,
    run_lengths,
)
from skdp.privacy.ledger import Recorder, Scripted

SPEC = Spec(1.0, 1e-6)


def test_what_is_asked_and_what_is_left_are_in_one_currency():
    ledger = Ledger(3.0, 1e-5, accountant="rdp")
    script = ((PoissonGaussian(1.0, 0.01), 400),)
    with pytest.raises(BudgetExceeded) as refusal:
        while True:
            ledger.reserve(script)
    said = str(refusal.value)
    asked = float(re.search(r"Asked for epsilon=([0-9.]+)", said)[1])
    left = float(re.search(r"left ([0-9.]+)", said)[1])
    assert asked > left > 0.0 and len(ledger.scripts) > 1


def test_a_choice_opens_books_that_hold_most_choices():
    script = ((BoundedRange(0.1), 20),)
    ledger = Ledger(2.0, 1e-6)
    ledger.reserve(script)
    assert ledger.renyi_order is not None


def gaussian_fit(epsilon, steps=1):
    return ((Gaussian(calibrate(lambda s: ((Gaussian(s), steps),), Spec(epsilon, 1e-6))), steps),)


# a rehearsal and a script


def test_recorder_writes_the_script_down():
    recorder = Recorder()
    for event in (Gaussian(1.0), Gaussian(1.0), PureDP(0.1), Gaussian(1.0)):
        assert recorder.affords(event)
        recorder.charge(event)
    recorder.charge(Gaussian(1.0), count=3)
    assert recorder.script == ((Gaussian(1.0), 2), (PureDP(0.1), 1), (Gaussian(1.0), 4))


def test_scripted_accepts_its_script_and_nothing_else():
    script = ((Gaussian(100.0), 2), (PureDP(0.01), 1), (Gaussian(100.0), 1))
    account = Scripted(SPEC, script)
    account.charge(Gaussian(100.0))
    for wrong in (Gaussian(100.0 + 1e-13), PureDP(0.01), ZCDP(0.0)):
        with pytest.raises(OffScript, match="where the script has 1 x Gaussian"):
            account.charge(wrong)
    with pytest.raises(OffScript):
        account.charge(Gaussian(100.0), count=2)
    assert account.spent_script == ((Gaussian(100.0), 1),) and not account.complete
    account.charge(Gaussian(100.0))
    account.charge(PureDP(0.01))
    account.charge(Gaussian(100.0))
    assert account.complete and account.spent_script == script
    with pytest.raises(OffScript, match="after the end"):
        account.charge(Gaussian(100.0))


def test_scripted_refuses_a_script_that_costs_too_much():
    with pytest.raises(BudgetExceeded, match=r"costs epsilon=.* the promise is 1"):
        Scripted(SPEC, ((Gaussian(4.0), 2),))
    Scripted(Spec(math.inf, 1e-6), ((Gaussian(0.0), 5),)).charge(Gaussian(0.0))
    Scripted(SPEC, gaussian_fit(1.0, steps=7)).charge(gaussian_fit(1.0, steps=7)[0][0])


def test_charging_does_not_slow_down_with_the_script():
    """A hundred thousand equal charges touch one line each: the account keeps no list."""
    account = Scripted(Spec(math.inf, 0.0), ((Gaussian(1.0), 100_000),))
    for _ in range(100_000):
        account.charge(Gaussian(1.0))
    assert account.complete and len(account.spent_script) == 1


# a shared ledger


def test_ten_gaussian_fits_cost_their_composition_not_a_sum_of_epsilons():
    ledger = Ledger(1.0, 1e-6)
    fit = gaussian_fit(0.25)
    for _ in range(10):
        ledger.reserve(fit)
    composed = accountants.epsilon(((fit[0][0], 10),), 1e-6)
    assert ledger.spent == pytest.approx(composed, rel=1e-9)
    assert composed < 0.9 < 10 * 0.25


def test_a_ledger_holds_exactly_what_composition_allows():
    ledger = Ledger(1.0, 1e-6)
    tenth = gaussian_fit(1.0, steps=10)[0][0]
    for _ in range(10):
        ledger.reserve(((tenth, 1),))
    assert ledger.spent == pytest.approx(1.0, rel=1e-9) and ledger.spent <= 1.0
    assert ledger.remaining < 1e-4
    with pytest.raises(BudgetExceeded):
        ledger.reserve(((tenth, 1),))


def test_a_refusal_changes_nothing_and_says_what_is_left():
    ledger = Ledger(1.0, 1e-6)
    ledger.reserve(gaussian_fit(0.9))
    state = (ledger.spent, ledger.remaining, ledger.scripts)
    with pytest.raises(
        BudgetExceeded, match=r"Asked for epsilon=0.9, spent epsilon=0.9 of 1, left"
    ):
        ledger.reserve(gaussian_fit(0.9))
    assert (ledger.spent, ledger.remaining, ledger.scripts) == state
    ledger.reserve(gaussian_fit(ledger.remaining * (1 - 1e-9)))
    assert ledger.spent <= 1.0


def test_a_refused_first_fit_leaves_the_ledger_open():
    ledger = Ledger(1.0, 1e-6)
    with pytest.raises(BudgetExceeded):
        ledger.reserve(gaussian_fit(2.0))
    assert ledger.spent == 0 and ledger.remaining == 1.0 and ledger.scripts == ()
    ledger.reserve(gaussian_fit(1.0))


def test_the_currency_is_settled_by_the_first_fit_and_kept():
    ledger = Ledger(1.0, 1e-6)
    ledger.reserve(gaussian_fit(0.2))
    with pytest.raises(NotSupported, match=r"PoissonGaussian.*in gdp for life.*accountant='rdp'"):
        ledger.reserve(((PoissonGaussian(5.0, 0.01), 10),))
    sampled = Ledger(1.0, 1e-6)
    sampled.reserve(((PoissonGaussian(5.0, 0.01), 10),))
    sampled.reserve(gaussian_fit(0.2))
    sampled.reserve(((BoundedRange(0.05), 3),))
    assert 0.2 < sampled.spent < 1.0 and "accountant='rdp'" in repr(sampled)


def test_a_tight_first_fit_is_admitted_alone_and_closes_the_ledger():
    """A fit calibrated by its exact profile takes all the budget, though no filter admits it."""
    position = RandomPosition((0.5, 0.5), (4.2, 6.0))
    epsilon = accountants.epsilon(((position, 1),), 1e-6)
    ledger = Ledger(epsilon * (1 + 1e-9), 1e-6)
    ledger.reserve(((position, 1),))
    assert ledger.spent == pytest.approx(epsilon) and ledger.remaining == 0
    with pytest.raises(BudgetExceeded, match="the first fit took the budget as a whole"):
        ledger.reserve(((Gaussian(1e9), 1),))
    strict = Ledger(epsilon * (1 + 1e-9), 1e-6, accountant="gdp")
    with pytest.raises(BudgetExceeded):
        strict.reserve(((position, 1),))


def test_only_filters_guard_a_ledger():
    with pytest.raises(NotSupported, match=r"accountant='pld' cannot guard fits"):
        Ledger(1.0, 1e-6, accountant="pld")


def test_pure_privacy_needs_no_delta():
    ledger = Ledger(1.0, 0.0)
    ledger.reserve(((PureDP(0.4), 1),))
    ledger.reserve(((PureDP(0.4), 1),))
    assert ledger.spent == pytest.approx(0.8) and ledger.remaining == pytest.approx(0.2)
    with pytest.raises(BudgetExceeded):
        ledger.reserve(((PureDP(0.4), 1),))
    with pytest.raises(NotSupported, match="Gaussian"):
        ledger.reserve(((Gaussian(5.0), 1),))


def test_no_promise_keeps_the_books_open():
    ledger = Ledger(math.inf, 1e-6)
    for _ in range(3):
        ledger.reserve(((Gaussian(0.0), 1),))
    assert ledger.remaining == math.inf and len(ledger.scripts) == 3


class Holder(BaseEstimator):
    def __init__(self, ledger=None):
        self.ledger = ledger


def test_clones_and_copies_share_one_ledger():
    ledger = Ledger(1.0, 1e-6)
    assert clone(Holder(ledger)).ledger is ledger
    assert copy.copy(ledger) is ledger and copy.deepcopy(Holder(ledger)).ledger is ledger


def test_a_pickle_is_a_read_only_statement():
    ledger = Ledger(1.0, 1e-6)
    ledger.reserve(gaussian_fit(0.5))
    statement = pickle.loads(pickle.dumps(ledger))
    assert statement.spent == ledger.spent and "read-only" in repr(statement)
    with pytest.raises(NotSupported, match="pickled and a copy could overspend"):
        statement.reserve(gaussian_fit(0.1))
    ledger.reserve(gaussian_fit(0.1))
    assert len(statement.scripts) == 1 and len(ledger.scripts) == 2


def test_threads_cannot_overspend_together(monkeypatch):
    """The gap between check and record is held open: without the lock threads would meet in it."""
    fits = Filter._fits

    def slow(self, added):
        answer = fits(self, added)
        time.sleep(1e-3)
        return answer

    monkeypatch.setattr(Filter, "_fits", slow)
    ledger = Ledger(1.0, 1e-6)
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
    for part in ("epsilon=1", "delta=1e-06", "replace_one", "'gdp'", "spent=0.5", "fits=1"):
        assert part in text


def test_run_lengths_make_equal_scripts_equal():
    assert run_lengths([Gaussian(1.0)] * 3) == ((Gaussian(1.0), 3),)
