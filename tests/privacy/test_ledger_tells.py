"""What a ledger tells of itself: reports as text, table, frame and picture; names, parts, scopes; what is left."""

import copy
import gc
import math
import os
import pickle
import sys
import threading
from dataclasses import replace
from types import ModuleType

import pytest
from privacy.receipt_samples import receipt_number

from skdp.exceptions import BudgetExceeded, NotSupported
from skdp.privacy import Ledger, _shifted, epsilon
from skdp.privacy.events import Gaussian, PoissonGaussian, PureDP
from skdp.privacy.ledger import _budget, _store
from skdp.privacy.ledger._budget import budget, in_scope, paid
from skdp.privacy.ledger._store import Store


def pure(value):
    return ((PureDP(value), 1),)


SAMPLED = ((PoissonGaussian(0.7, 0.01), 20),)


# Reports.


@pytest.fixture
def told():
    ledger = Ledger(1.0, 0.0)
    ledger.called("survey").reserve(pure(0.25), "a <b>count</b>")
    ledger.reserve(pure(0.5))
    return ledger.report()


def test_a_report_says_who_was_charged_what_and_what_is_left(told):
    assert [(row.number, row.what, row.epsilon, row.share) for row in told.rows] == [
        (1, "survey a <b>count</b>", 0.25, 0.25),
        (2, "", 0.5, 0.5),
    ]
    assert (told.used, told.left, told.next_cost, told.more) == (0.75, 0.25, 0.5, 0)
    lines = str(told).splitlines()
    assert lines[0] == "Budget of epsilon = 1, delta = 0, replace_one: 75 % used by 2 fits."
    assert lines[2].endswith("25.0%  survey a <b>count</b>") and lines[3].endswith("unnamed")
    assert lines[4:6] == [
        "Left for Gaussian noise: epsilon = 0.25.",
        "Another fit like the last would add 0.5; 0 would fit.",
    ]


def test_a_report_as_html_holds_no_markup_of_its_payers(told):
    shown = told._repr_html_()
    assert "a &lt;b&gt;count&lt;/b&gt;" in shown and "<b>count" not in shown
    assert (
        shown.count("<tr>") == 3
        and "75 % used" in shown
        and "however little of it is used" in shown
    )


def test_a_report_of_nothing():
    report = Ledger(1.0, 1e-6).report()
    assert report.rows == () and report.next_cost is None and report.more == 0
    assert "0 % used by 0 fits" in str(report) and "Another fit" not in str(report)
    assert "<table>" not in report._repr_html_()


def test_a_report_counts_what_would_still_fit_up_to_a_thousand():
    few, many, endless = Ledger(1.0, 0.0), Ledger(1.0, 0.0), Ledger(math.inf, 0.0)
    few.reserve(pure(0.3))
    many.reserve(pure(1e-5))
    endless.reserve(pure(0.3))
    assert (few.report().more, few.report().next_cost) == (2, pytest.approx(0.3))
    assert "1000 or more would fit" in str(many.report())
    told = endless.report()
    assert told.left == math.inf and told.rows[0].share == 0.0 and "0 % used by 1 fit" in str(told)


def test_a_report_names_the_parts_that_a_fit_has_read():
    ledger = Ledger(1.0, 0.0)
    north = ledger.partition(["north", "south", "west"])
    north.only("north", "south").reserve(pure(0.25), "mean")
    ledger.reserve(pure(0.5), "all")
    rows = ledger.report().rows
    assert [row.parts for row in rows] == [("north", "south"), ()]
    assert (
        "mean on north, south" in str(ledger.report()) and str(ledger.report()).count(" on ") == 1
    )


def test_a_frame_has_a_line_for_each_fit(told):
    pytest.importorskip("pandas")
    frame = told.to_frame()
    assert list(frame.columns) == ["when", "what", "parts", "epsilon", "share"]
    assert list(frame.index) == [1, 2] and frame["epsilon"].sum() == 0.75


class Axes:
    """What a report asks of the axes of a picture."""

    def __init__(self):
        self.bars, self.told, self.legends = [], {}, 0

    def barh(self, y, width, left, **style):
        self.bars.append((left, width, style["label"]))

    def set(self, **told):
        self.told = told

    def legend(self, **style):
        self.legends += 1


def test_a_picture_is_a_bar_of_shares_side_by_side(told):
    axes = told.plot(Axes())
    assert axes.bars == [(0.0, 0.25, "1 survey a <b>count</b>"), (0.25, 0.5, "2 unnamed")]
    assert axes.told["xlim"] == (0.0, 1.0) and axes.legends == 1
    assert Ledger(1.0, 0.0).report().plot(Axes()).legends == 0  # nothing to name


def test_a_picture_without_axes_makes_its_own(told, monkeypatch):
    pyplot, axes = ModuleType("matplotlib.pyplot"), Axes()
    pyplot.subplots = lambda figsize: (None, axes)
    package = ModuleType("matplotlib")
    package.pyplot = pyplot
    monkeypatch.setitem(sys.modules, "matplotlib", package)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", pyplot)
    assert told.plot() is axes and len(axes.bars) == 2


def test_a_ledger_is_true_and_counts_and_names_what_it_was_asked_for():
    ledger = Ledger(1.0, 1e-6, accountant="zcdp")
    assert ledger and len(ledger) == 0 and ledger.accountant == "zcdp"
    assert hash(ledger) == hash(ledger.called("x")) and ledger == ledger.called("x")
    assert ledger != Ledger(1.0, 1e-6, accountant="zcdp") and ledger != 1.0


def test_a_ledger_names_who_was_charged():
    ledger = Ledger(1.0, 0.0)
    assert ledger.payers == ()
    ledger.called("survey").reserve(pure(0.25), "mean")
    ledger.reserve(pure(0.25))
    with pytest.raises(BudgetExceeded):
        ledger.reserve(pure(0.75), "refused")
    assert ledger.payers == ("survey mean", "")


def test_a_ledger_says_whether_it_was_told_of_coming_fits():
    assert Ledger(1.0, 0.0, fits=1).announced and not Ledger(1.0, 0.0).announced
    ledger = Ledger(1.0, 0.0)
    with pytest.raises(BudgetExceeded, match="5 fits are coming"):
        ledger.announce([(pure(0.25), 5)])
    assert not ledger.announced  # who was refused may ask for less
    ledger.announce([(pure(0.25), 4)])
    assert ledger.announced and ledger.spent == 0.0


def _at(line, number):
    """A receipt that says a line has paid for it."""
    return replace(receipt_number(number), ledger={**line._asdict(), "head": line.digest})


def test_an_audit_says_in_words_which_receipts_miss_their_line_and_what_none_names(tmp_path):
    """Lines 0 and 1 are the promise and the opening: charges begin with line 2."""
    ledger, other = (Ledger(1.0, 0.0, path=tmp_path / f"{name}.db") for name in "ab")
    heads = []
    for _ in range(3):
        ledger.reserve(pure(0.125))
        heads.append(ledger.head)
    other.reserve(pure(0.125))
    _, second, third = heads
    own = [_at(head, number) for number, head in enumerate(heads)]
    assert "are named by none" not in str(ledger.audit(own)) and ledger.audit(own).sound
    assert len(str(ledger.audit(own)).splitlines()) == 1
    told = str(ledger.audit(own[:2]))
    assert told.endswith("Of its 3 charges, 1 is named by none of these receipts.")
    replaced, lost = third._replace(digest=second.digest), third._replace(position=9)
    silent = replace(receipt_number(5), ledger=None)
    given = [own[0], _at(replaced, 3), silent, _at(other.head, 4), _at(lost, 6), silent]
    found = ledger.audit(given)
    assert (found.matched, found.replaced, found.silent, found.foreign, found.lost) == (
        (0,),
        (1,),
        (2, 5),
        (3,),
        (4,),
    )
    name = f"The ledger {ledger.identity}"
    assert str(found).splitlines() == [
        f"{name} has lost charges: receipts [4] name lines beyond its end.",
        f"{name} was restored from an older copy and charged again: receipts [1] name lines that others have replaced.",
        "Receipts [3] belong to another ledger.",
        "Receipts [2, 5] name no line.",
        "Of its 3 charges, 2 are named by none of these receipts.",
    ]
    assert str(ledger.audit([_at(replaced, 3)])).startswith(
        f"{name} was restored from an older copy"
    )
    assert [head.position for head in heads] == [2, 3, 4]


# Fits that take the budget as a whole.


@pytest.fixture
def few_ways(monkeypatch):
    """Less to choose from: it is not the choice that is tested."""
    monkeypatch.setattr(_shifted, "_SHARES", (0.2,))
    monkeypatch.setattr(_shifted, "_ORDERS", (0, 150))


def test_a_first_fit_that_costs_what_is_promised_is_admitted_alone(few_ways, tmp_path):
    """Its books have to be opened for that: none at an order that proves nothing at its share of delta."""
    promised = epsilon(SAMPLED, 1e-6) * 1.001
    path = tmp_path / "alone.db"
    ledger = Ledger(promised, 1e-6, path=path)
    ledger.reserve(SAMPLED, "all of it")
    report = ledger.report()
    assert (report.rows[0].share, report.left, report.more) == (1.0, 0.0, 0)
    for again in (Ledger(promised, 1e-6, path=path), pickle.loads(pickle.dumps(ledger))):
        with pytest.raises(BudgetExceeded, match="took the budget as a whole and left nothing"):
            again.reserve(((Gaussian(1e6), 1),))
        assert again.remaining == 0.0


@pytest.mark.parametrize("times", [1.001, 1.3, 3.0])
def test_a_ledger_opens_at_every_promise_above_the_price(times, few_ways):
    ledger = Ledger(epsilon(SAMPLED, 1e-6) * times, 1e-6)
    ledger.reserve(SAMPLED)
    assert len(ledger) == 1 and ledger.spent <= ledger.epsilon


# Budgets in scope.


def test_the_innermost_budget_is_the_one_in_scope():
    assert in_scope() is None
    with budget(1.0, 1e-6) as outer:
        assert in_scope().ledger is outer
        with budget(2.0, 1e-6, "add_remove", accountant="zcdp") as inner:
            assert in_scope().ledger is inner and inner.neighbors == "add_remove"
        assert in_scope().ledger is outer
    assert in_scope() is None


def test_a_budget_that_ends_in_an_error_has_ended():
    with pytest.raises(RuntimeError), budget(1.0, 1e-6):
        raise RuntimeError
    assert in_scope() is None and not _budget._OPEN


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, GeneratorExit])
def test_what_is_paid_for_as_a_whole_ends_with_its_with_however_that_ends(error):
    """Else whatever is fitted afterwards in that budget would be charged to nobody."""
    with budget(1.0, 1e-6) as ledger:
        with pytest.raises(error), paid():
            assert in_scope().ledger is None
            raise error
        assert in_scope().ledger is ledger
    assert in_scope() is None


def in_thread(ask):
    """What another thread finds."""
    found = []

    def run():
        try:
            found.append(ask())
        except NotSupported as refusal:
            found.append(refusal)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return found[0]


def test_a_thread_without_a_budget_uses_the_only_one_there_is():
    with budget(1.0, 1e-6) as ledger, budget(1.0, 1e-6) as inner:
        assert in_thread(in_scope).ledger is inner is not ledger
    assert in_thread(in_scope) is None


def test_budgets_of_several_threads_are_not_mixed():
    with budget(1.0, 1e-6):

        def opened():
            with budget(1.0, 1e-6):
                return in_thread(in_scope)

        refusal = in_thread(opened)
    assert isinstance(refusal, NotSupported) and "Several threads have opened a budget" in str(
        refusal
    )


def test_what_was_sent_charges_the_same_ledger_while_the_scope_is_open(monkeypatch):
    with budget(1.0, 1e-6) as ledger:
        scope = in_scope()
        sent = pickle.loads(pickle.dumps(scope.sent()))
        assert scope.sent()._mark == sent._mark and os.path.exists(sent._mark)
        assert not sent.travelled  # here the with itself decides
        monkeypatch.setattr(_budget.os, "getpid", lambda: -1)
        assert sent.travelled
        sent.ledger.reserve(((Gaussian(50.0), 1),))
        assert len(ledger) == 1
    assert sent.travelled and not os.path.exists(sent._mark)
    with pytest.raises(NotSupported, match="has ended; fit it inside another"):
        _ = sent.ledger


def test_a_mark_that_somebody_has_removed_is_no_error():
    with budget(1.0, 1e-6):
        os.unlink(in_scope().sent()._mark)


# Children of a fork, where coverage is not looking: their part is called by hand.


def test_a_child_charges_the_file_and_nothing_where_it_could_not_be_made_ready():
    for ready in (True, False):
        ledger = Ledger(1.0, 0.0)
        ledger.reserve(pure(0.25))
        store = ledger._store
        assert store.before_fork()
        lock = store._lock
        store.after_fork_in_child(ready)
        assert store._lock is not lock and store.read_only == (not ready)
        lock.release()
        if ready:
            ledger.reserve(pure(0.25))
            assert ledger.spent == 0.5
        else:
            with pytest.raises(NotSupported, match="read-only statement"):
                ledger.reserve(pure(0.25))


def test_a_store_whose_lock_is_never_free_is_not_made_ready(monkeypatch):
    monkeypatch.setattr(_store, "_LOCK_SECONDS", 0.01)
    ledger = Ledger(1.0, 0.0)
    store = ledger._store
    with store._lock:
        assert in_thread(store.before_fork) is False
    assert in_thread(store.before_fork) is True or store._file is not None


def test_all_stores_of_a_child_are_told_and_none_is_held_any_longer(monkeypatch):
    ready, other = Ledger(1.0, 0.0)._store, Store({})
    monkeypatch.setattr(_store, "_ALL", {ready, other})
    monkeypatch.setattr(_store, "_HELD", [ready])
    assert ready.before_fork()
    _store._in_child()
    assert (ready.read_only, other.read_only, _store._HELD) == (False, True, [])


def test_a_folder_is_removed_by_the_process_that_made_it(tmp_path):
    folder = tmp_path / "kept"
    folder.mkdir()
    _store._remove(str(folder), -1)
    assert folder.exists()
    _store._remove(str(folder), os.getpid())
    assert not folder.exists()


def test_a_file_that_is_gone_is_an_error_and_a_temporary_one_a_statement(tmp_path):
    path = tmp_path / "kept.db"
    kept = Ledger(1.0, 0.0, path=path)
    kept.reserve(pure(0.25))
    for left in tmp_path.iterdir():
        left.unlink()
    with pytest.raises(FileNotFoundError):
        _ = kept.spent
    with pytest.raises(FileNotFoundError):
        kept.reserve(pure(0.25))


def test_a_path_that_is_open_here_is_the_same_store(tmp_path):
    one, other = (Ledger(1.0, 0.0, path=tmp_path / "same.db") for _ in range(2))
    assert one._store is other._store
    other.reserve(pure(0.25))
    assert one.spent == 0.25


def test_a_copy_in_another_process_reads_on_when_the_keeper_has_ended(monkeypatch):
    ledger = Ledger(1.0, 0.0)
    ledger.reserve(pure(0.25))
    sent = pickle.dumps(ledger)
    monkeypatch.setattr(_store, "_OPEN", {})  # as in a process that has not met it
    twin = pickle.loads(sent)
    assert twin._store is not ledger._store
    twin.reserve(pure(0.25))
    assert ledger.spent == twin.spent == 0.5
    del ledger
    gc.collect()
    assert twin.spent == 0.5  # its file went with the process that made it
    with pytest.raises((NotSupported, OSError)):
        twin.reserve(pure(0.25))


def test_copies_are_the_same_ledger():
    ledger = Ledger(1.0, 0.0)
    assert copy.copy(ledger) is ledger is copy.deepcopy(ledger)
