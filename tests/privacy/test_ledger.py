"""The accounts: scripts held to the letter, and a budget that several fits share."""

import copy
import math
import os
import pickle
import re
import signal
import sys
import threading
import time
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone

from skdp.exceptions import BudgetExceeded, NotSupported, OffScript
from skdp.privacy import NEIGHBORS, Filter, Ledger, Spec, accountants, calibrate
from skdp.privacy._book import Book
from skdp.privacy._gaussian import gaussian_delta, gaussian_mu
from skdp.privacy._objective import ObjectivePerturbation
from skdp.privacy.events import (
    ZCDP,
    BoundedRange,
    Gaussian,
    PoissonGaussian,
    PureDP,
    RandomPosition,
    RenyiDP,
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


def test_a_ledger_of_gaussians_holds_exactly_what_composition_allows():
    ledger = Ledger(1.0, 1e-6, accountant="gdp")
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


def test_ten_equal_gaussian_fits_are_at_most_two_percent_dearer_than_exact():
    """The price of staying open to other solvers: ten fits of epsilon 0.98 / 10 of the whole."""
    whole = gaussian_mu(1.0, 1e-6) ** 2
    ledger = Ledger(1.0, 1e-6)
    for _ in range(10):
        ledger.reserve(((Gaussian((0.97 * whole / 10) ** -0.5), 1),))
    assert len(ledger.scripts) == 10 and ledger.spent >= 0.98


def test_the_currency_is_settled_by_the_first_fit_and_kept():
    ledger = Ledger(1.0, 1e-6, accountant="gdp")
    ledger.reserve(gaussian_fit(0.2))
    with pytest.raises(NotSupported, match=r"PoissonGaussian.*in gdp for life.*accountant='rdp'"):
        ledger.reserve(((PoissonGaussian(5.0, 0.01), 10),))
    sampled = Ledger(1.0, 1e-6)
    sampled.reserve(((PoissonGaussian(5.0, 0.01), 10),))
    sampled.reserve(gaussian_fit(0.2))
    sampled.reserve(((BoundedRange(0.05), 3),))
    assert 0.2 < sampled.spent < 1.0 and "accountant='rdp'" in repr(sampled)


FITS = {
    "gd": ((Gaussian(60.0), 20),),
    "sgd": ((PoissonGaussian(4.0, 0.02), 100),),
    "objective-perturbation": ((ObjectivePerturbation(0.02, 0.01, "logistic"), 1),),
    "agd": ((ZCDP(0.002), 1),),
    "auto": ((ObjectivePerturbation(0.02, 0.01), 1), (Gaussian(100.0), 1)),
    "frank-wolfe": ((BoundedRange(0.01), 30),),
    "output-perturbation": ((PureDP(0.05), 1),),
}


def _fit(name, ledger):
    """A common fit as the estimators charge it: blgd asks for the ledger's own order."""
    if name != "blgd":
        return FITS[name]
    spec = Spec(0.2, ledger.delta, ledger.neighbors)
    try:
        own = Filter(spec, "rdp", ledger.renyi_order)
    except ValueError:  # that order proves nothing for so small a fit
        own = Filter(spec, "rdp")
    return ((RenyiDP(own.order, own.total), 1),)


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("first", [*FITS, "blgd"])
def test_no_first_fit_shuts_another_solver_out(first, neighbors):
    for second in [*FITS, "blgd"]:
        ledger = Ledger(4.0, 1e-6, neighbors)
        ledger.reserve(_fit(first, ledger))
        before = ledger.spent
        ledger.reserve(_fit(second, ledger))
        ledger.reserve(FITS["gd"])
        assert len(ledger.scripts) == 3 and before < ledger.spent < 4.0 and ledger.remaining > 1.0


def _adaptive_delta(books, first):
    """True delta of a Gaussian and then, by its answer, what is worse: one more, or a pure step."""
    epsilon, (gdp, rdp) = books[0].spec.epsilon, books
    mu = math.sqrt(gdp.budget - first**2)
    left = rdp.budget - rdp.order * first**2 / 2

    def fits(pure):
        return float(rdp.price(PureDP(pure))) <= left

    low, high = 0.0, 5.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    y = np.linspace(-9, 9, 40_001) + first
    rest = epsilon - first * (y - first / 2)
    yes = 1 / (1 + math.exp(-low))
    pure = yes * -np.expm1(np.minimum(rest - low, 0))
    pure += (1 - yes) * -np.expm1(np.minimum(rest + low, 0))
    density = np.exp(-((y - first) ** 2) / 2) / math.sqrt(2 * math.pi)
    worse = np.maximum(gaussian_delta(rest, mu), pure)
    return float((density * worse).sum() * (y[1] - y[0]))


@pytest.mark.parametrize("part", [0.3, 0.6, 0.9])
def test_choosing_the_book_by_the_answers_keeps_the_promise(part):
    """Two books of all of delta each break it; with shares of delta they do not."""
    delta = 1e-6
    ledger = Ledger(1.0, delta)
    ledger.reserve(((Gaussian(1e3), 1),))
    books = ledger._state.books
    assert math.fsum(book.spec.delta for book in books) <= delta
    assert _adaptive_delta(books, part * math.sqrt(books[0].budget)) <= delta
    greedy = (Book(Spec(1.0, delta), "gdp"), Book(Spec(1.0, delta), "rdp"))
    whole = _adaptive_delta(greedy, part * math.sqrt(greedy[0].budget))
    assert (whole > 1.02 * delta) == (part == 0.6)


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


def test_no_promise_keeps_the_books_open_and_says_what_was_spent():
    ledger = Ledger(math.inf, 1e-6)
    ledger.reserve(gaussian_fit(1.0))
    assert ledger.spent == pytest.approx(1.0)
    for _ in range(3):
        ledger.reserve(((Gaussian(0.0), 1),))
    assert ledger.remaining == ledger.spent == math.inf and len(ledger.scripts) == 4


@pytest.mark.parametrize(
    ("price", "whole", "times"),
    [(0.1, 1.0, 10), (0.1, 0.3, 3), (0.7, 2.1, 3), (0.01, 1.0, 100), (1e-3, 0.007, 7)],
)
@pytest.mark.parametrize("at", [0.0, 1e-6])
def test_pure_prices_add_as_the_numbers_that_were_written(price, whole, times, at):
    ledger = Ledger(whole, at, accountant="pure")
    for _ in range(times):
        ledger.reserve(((PureDP(price), 1),))
    assert ledger.spent == whole and ledger.remaining == 0.0
    with pytest.raises(BudgetExceeded):
        ledger.reserve(((PureDP(1e-17), 1),))
    budget = Filter(Spec(whole, at), "pure")
    budget.charge(PureDP(price), count=times)
    assert not budget.affords(PureDP(1e-17)) and budget.spent == whole


@given(st.lists(st.decimals("1e-9", "3", places=9), min_size=1, max_size=30))
def test_a_pure_ledger_is_full_exactly_when_the_decimals_say_so(prices):
    budget = Filter(Spec(4.0, 0.0), "pure")
    spent = Decimal(0)
    for price in prices:
        fits = spent + price <= 4
        assert budget.affords(PureDP(float(price))) == fits
        if fits:
            budget.charge(PureDP(float(price)))
            spent += price
    budget.affords(PureDP(budget.unspent)) and budget.charge(PureDP(budget.unspent))
    assert budget.unspent == 0.0


def test_calibrated_pure_fits_lie_below_what_is_charged_for_them():
    """Reading a double as a decimal gives away half an ulp: calibration leaves more than that."""
    for epsilon in (0.1, 0.3, 0.7, 1e-3):
        scale = calibrate(lambda s: ((PureDP(1 / s), 1),), Spec(epsilon, 0.0))
        assert Fraction(1) / Fraction(scale) <= Fraction(str(epsilon)) * (1 - Fraction(1, 2**49))


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
            lambda account: (sum(account.scripts, ()), sum(map(float, account._state.spent))),
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
    ledger = Ledger(1.0, 1e-6)
    ledger.reserve(gaussian_fit(0.2))
    held, done = threading.Event(), threading.Event()

    def hold():
        with ledger._lock:
            held.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # a deadlock ends the child with a signal
        status = 1
        try:
            ledger.reserve(gaussian_fit(0.1))
        except NotSupported:
            answers = (
                ledger.spent,
                ledger.remaining,
                repr(ledger),
                ledger.scripts,
                ledger.renyi_order,
            )
            status = 0 if len(answers) == 5 and "read-only" in answers[2] else 2
        finally:
            os._exit(status)
    done.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


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
    holds = Book.holds

    def slow(self, spent):
        answer = holds(self, spent)
        time.sleep(1e-3)
        return answer

    monkeypatch.setattr(Book, "holds", slow)
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
    for part in ("epsilon=1", "delta=1e-06", "replace_one", "'gdp or rdp'", "spent=0.5", "fits=1"):
        assert part in text


def test_run_lengths_make_equal_scripts_equal():
    assert run_lengths([Gaussian(1.0)] * 3) == ((Gaussian(1.0), 3),)
