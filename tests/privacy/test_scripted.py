"""Accounts of scripts that are fixed beforehand: written down, held to the letter, never spelled out."""

import math
import sys

import pytest
from event_samples import gaussian_fit

from skdp.exceptions import BudgetExceeded, OffScript
from skdp.privacy import Filter, Ledger, Spec, calibrate
from skdp.privacy.events import (
    ZCDP,
    Gaussian,
    PureDP,
    run_lengths,
)
from skdp.privacy.ledger import Recorder, Scripted

SPEC = Spec(1.0, 1e-6)


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
    assert not account.complete
    account.charge(Gaussian(100.0))
    account.charge(PureDP(0.01))
    account.charge(Gaussian(100.0))
    assert account.complete and account.script == script
    with pytest.raises(OffScript, match="after the end"):
        account.charge(Gaussian(100.0))


def test_scripted_refuses_a_script_that_costs_too_much():
    with pytest.raises(BudgetExceeded, match=r"costs epsilon=.* the promise is 1"):
        Scripted(SPEC, ((Gaussian(4.0), 2),))
    Scripted(Spec(math.inf, 1e-6), ((Gaussian(0.0), 5),)).charge(Gaussian(0.0))
    Scripted(SPEC, gaussian_fit(1.0, steps=7)).charge(gaussian_fit(1.0, steps=7)[0][0])


def _calls(work):
    """How many functions, of ours or built in, the work calls."""
    count = 0

    def counting(frame, event, arg):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counting)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


STEP = Gaussian(1e7)


def _record(account, times):
    account.charge(STEP, times)
    assert account.script == ((STEP, times),)


def _follow(account, times):
    account.charge(STEP, times - 1)
    account.charge(STEP)
    assert account.complete


def _reserve(account, times):
    account.reserve(((STEP, times),))
    assert 0 < account.spent < 1 and repr(account)


def _calibrated(_, times):
    calibrate(lambda scale: ((Gaussian(scale), times),), SPEC)


MANY = {
    "recorder": (lambda times: Recorder(), _record),
    "scripted": (lambda times: Scripted(SPEC, ((STEP, times),)), _follow),
    "filter": (lambda times: Filter(SPEC, "rdp"), _record),
    "ledger": (lambda times: Ledger(1.0, 1e-6), _reserve),
    "calibrate": (lambda times: None, _calibrated),
}


def _grows_with_the_script(build, work, few=1_000, many=1_000_000):
    less, more = (_calls(lambda times=times: work(build(times), times)) for times in (few, many))
    return more > less + 2_000  # roots are found in more or fewer steps


@pytest.mark.parametrize("case", MANY)
def test_a_million_equal_events_take_no_more_calls_than_a_thousand(case):
    assert not _grows_with_the_script(*MANY[case])


class Spelled(Recorder):
    """A recorder that writes every event down by itself."""

    def charge(self, event, count=1):
        for _ in range(count):
            super().charge(event)


def test_an_account_that_spells_its_events_out_is_caught():
    assert _grows_with_the_script(lambda times: Spelled(), _record, 10, 10_000)


def test_charging_one_by_one_keeps_no_list():
    account = Scripted(Spec(math.inf, 0.0), ((STEP, 100_000),))
    state = [sys.getsizeof(value) for value in vars(account).values()]
    for _ in range(99_999):
        account.charge(STEP)
    assert not account.complete
    assert sum(sys.getsizeof(v) for v in vars(account).values()) < sum(state) + 100


def test_run_lengths_make_equal_scripts_equal():
    assert run_lengths([Gaussian(1.0)] * 3) == ((Gaussian(1.0), 3),)
