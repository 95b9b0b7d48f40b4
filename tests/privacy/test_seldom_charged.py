"""What seldom happens to a ledger's file: it is put back and charged, upgraded by two, witnessed late or twice."""

import contextlib
import json
import os
import pickle
import shutil
import sqlite3
from functools import partial

import pytest
from ledger_workers import PROMISE, STEP
from test_ledger_faults import _bytes_of, _put, charged, fits, fresh
from test_ledger_file import DATA, FITS

from skdp.exceptions import NotSupported
from skdp.privacy import Ledger
from skdp.privacy.ledger import _file, _store
from skdp.privacy.ledger._place import WitnessFile
from skdp.privacy.ledger._store import Store


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "budget.db")


def test_an_older_copy_that_was_charged_since_is_noticed_by_whoever_saw_the_newer_one(path):
    """It has as many lines as before, or more: the one that was last is another."""
    ledger = fresh(path)
    ledger.reserve(STEP)
    old = _bytes_of(path)
    ledger.reserve(STEP, "seen")
    ledger._store._file.close()
    for more in (1, 3):
        _put(path, old)
        charged(path, more)
        for use in (lambda: ledger.reserve(STEP), lambda: ledger.spent):
            with pytest.raises(ValueError, match="lines that were there are gone"):
                use()
        assert len(fresh(path)) == 1 + more  # nothing was charged


def plain(monkeypatch):
    """Write lines without a nonce, as was done before this format was released; no midnight tells them apart."""
    monkeypatch.setattr("skdp.privacy.ledger._ledger.today", lambda: "2026-01-01")
    monkeypatch.setattr(_file, "add_nonce", lambda text: text)


def lines(path):
    """Text and digest of each line of a file."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT text, digest FROM lines ORDER BY position").fetchall()


def refusal(use):
    """What is said instead of an answer; nothing where there is one."""
    try:
        use()
    except ValueError as error:
        return str(error)
    return ""


class TestRollbackAndEqualCharge:
    """An older copy is put back, and an equal charge follows on the same day: two answers, one charge."""

    def put_back_and_charged(self, path, keep_open=False, witness=None):
        """The ledger of a process that saw the newer file; another process has charged the older one since."""
        seen = fresh(path, witness=witness)
        seen.reserve(STEP, "opens the books")
        old = _bytes_of(path)
        seen.reserve(STEP, "worker")
        if not keep_open:
            seen._store._file.close()
        _put(path, old)
        other = fresh(path)
        other.reserve(STEP, "worker")
        other._store._file.close()
        return seen

    def test_the_witness_refuses(self, path, tmp_path):
        self.put_back_and_charged(path, witness=tmp_path / "witness")
        with pytest.raises(ValueError, match="lacks line 3, which its witness has seen"):
            fresh(path, witness=tmp_path / "witness")

    @pytest.mark.parametrize("keep_open", [False, True], ids=["closed", "open"])
    def test_a_process_that_saw_the_newer_file_refuses(self, path, keep_open):
        seen = self.put_back_and_charged(path, keep_open)
        before = lines(path)
        for use in (lambda: seen.reserve(STEP), lambda: seen.spent, lambda: len(seen)):
            assert "lines that were there are gone" in refusal(use)
        assert lines(path) == before and len(before) == 4

    def test_an_audit_names_what_is_lost(self, path):
        first = fits(path, 1)
        old = _bytes_of(path)
        second = fits(path, 1)
        _put(path, old)
        again = fits(path, 1)
        assert again[0].script == second[0].script
        found = fresh(path).audit([*first, *second, *again])
        assert (found.matched, found.replaced, found.sound) == ((0, 2), (1,), False)
        assert (found.doubled, found.unclaimed) == ((), 0)
        assert "receipts [1] name lines that others have replaced" in str(found)
        assert not fresh(path).audit(second).sound and fresh(path).audit(again).sound

    def test_without_a_nonce_nobody_notices(self, path, tmp_path, monkeypatch):
        """The sabotage of the tests above."""
        plain(monkeypatch)
        seen = self.put_back_and_charged(path, witness=tmp_path / "witness")
        assert refusal(lambda: fresh(path, witness=tmp_path / "witness")) == ""
        assert refusal(lambda: seen.spent) == ""

    def test_with_pages_that_are_remembered_a_charge_is_overwritten(self, path, monkeypatch):
        """The sabotage of the test with an open file: SQLite counts changes, and there are as many as before."""
        monkeypatch.setattr(_file, "forget_pages", lambda connection: None)
        seen = self.put_back_and_charged(path, keep_open=True)
        theirs = lines(path)[-1]
        assert refusal(lambda: seen.reserve(STEP)) == ""
        assert theirs not in lines(path)


class TestNonce:
    """Sixteen random bytes in each line."""

    def test_every_line_has_one_of_its_own(self, path, tmp_path):
        """Also the first line, the one that divides the data, and the one that a move leaves."""
        ledger = fresh(path)
        ledger.partition(2)
        for _ in range(20):
            ledger.reserve(STEP)
        ledger._store._file.close()
        os.rename(path, tmp_path / "moved.db")
        moved = fresh(str(tmp_path / "moved.db"), moved=True)
        moved._store._file.close()
        texts = [json.loads(text) for text, _ in lines(tmp_path / "moved.db")]
        assert len(texts) == 24 and "moved" in texts[-1] and "id" in texts[0]
        assert len({bytes.fromhex(text["nonce"]) for text in texts}) == 24
        assert {len(text["nonce"]) for text in texts} == {32}

    def test_lines_without_one_are_read_as_before(self, path, monkeypatch):
        """Those of the first format, and of this one before it was released."""
        with monkeypatch.context() as patched:
            plain(patched)
            charged(path, 3)
        assert "nonce" not in lines(path)[-1][0]
        ledger = fresh(path)
        ledger.reserve(STEP)
        ledger._store._file.close()
        assert len(fresh(path)) == 4 and "nonce" in lines(path)[-1][0]


def test_two_processes_bring_one_old_file_up_to_date(path, monkeypatch):
    """The other has done it between this one's look and its lock."""
    shutil.copyfile(DATA / "ledger_format_1.db", path)
    transaction, others = _file.transaction, []

    @contextlib.contextmanager
    def late(connection):
        if not others:
            others.append(None)
            others[0] = fresh(path)
            others[0].reserve(STEP)
            others[0]._store._file.close()
        with transaction(connection):
            yield

    header = fresh(str(path) + ".other")._store._header
    monkeypatch.setattr(_file, "transaction", late)
    slow = _file.LedgerFile(path, header)
    state = slow.read()
    assert state.fits == len(FITS) + 1 == len(others[0])
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM head").fetchone() == (1,)
    slow.close()
    others[0].reserve(STEP)
    assert slow.read().fits == len(FITS) + 2 == len(fresh(path))


def test_a_file_that_only_looks_like_a_name_of_the_ledger_is_left_alone(path, tmp_path):
    """What is taken away is a second name under which it was made, and no other file."""
    charged(path, 1)
    stranger = f"{path}.77.88.new"
    with open(stranger, "wb") as file:
        file.write(b"of somebody else")
    os.link(path, tmp_path / "alias.db")
    with pytest.raises(OSError, match="2 names"):
        fresh(path)
    assert _bytes_of(stranger) == b"of somebody else"
    os.link(path, f"{path}.99.88.new")
    os.unlink(tmp_path / "alias.db")
    assert len(fresh(path)) == 1
    assert os.path.exists(stranger) and not os.path.exists(f"{path}.99.88.new")


class TestLateWitness:
    """A witness that is named when this process has the file open already."""

    def test_it_is_told_of_every_line_from_then_on(self, path):
        first, told = fresh(path), []
        first.reserve(STEP)
        second = Ledger(*PROMISE, path=path, witness=told.append)
        assert second == first and told == [first.head]
        first.reserve(STEP)
        second.reserve(STEP)
        assert [head.position for head in told] == [2, 3, 4] and told[-1] == first.head

    def test_one_that_has_seen_more_refuses_the_file_to_everybody_here(self, path, tmp_path):
        witness = tmp_path / "witness"
        seen = fresh(path, witness=witness)
        old = _bytes_of(path)
        seen.reserve(STEP)
        seen._store._file.close()
        _put(path, old)
        ledger = fresh(path)  # nothing shows it that a charge is missing
        ledger.reserve(STEP, "since")
        for use in (
            lambda: Ledger(*PROMISE, path=path, witness=witness),
            lambda: ledger.reserve(STEP),
        ):
            with pytest.raises(ValueError, match="lacks line 2, which its witness has seen"):
                use()
        assert len(fresh(path)) == 1


class TestSecondWitness:
    """Another witness is named where this process has the file open beside one."""

    def test_both_are_told_before_a_charge_counts(self, path):
        one, two = [], []
        first = fresh(path, witness=one.append)
        second = Ledger(*PROMISE, path=path, witness=two.append)
        for ledger in (first, second):
            ledger.reserve(STEP)
            assert one[-1] == two[-1] == first.head
        assert [head.position for head in two] == [1, 2, 3]

    def test_neither_lets_a_charge_pass_that_it_refuses(self, path):
        fails = set()

        def witness(name):
            def told(head):
                if name in fails:
                    raise OSError(f"{name} is full")

            return told

        ledger = fresh(path, witness=witness("one"))
        assert Ledger(*PROMISE, path=path, witness=witness("two")) == ledger
        for name in ("one", "two"):
            fails.add(name)
            with pytest.raises(OSError, match=f"{name} is full"):
                ledger.reserve(STEP)
            fails.clear()

    def test_a_file_that_is_named_again_is_told_once(self, path, tmp_path):
        witness = tmp_path / "witness"
        ledger = fresh(path, witness=witness)
        assert Ledger(*PROMISE, path=path, witness=str(witness)) == ledger
        assert len(ledger._store._file.witnesses) == 1
        os.symlink(witness, tmp_path / "alias")
        Ledger(*PROMISE, path=path, witness=tmp_path / "alias")
        Ledger(*PROMISE, path=path, witness=tmp_path / "other")
        before = witness.read_text().split("\n\n")
        ledger.reserve(STEP)
        assert len(witness.read_text().split("\n\n")) == len(before) + 1
        assert tuple(ledger.head) == _last(witness) == _last(tmp_path / "other")

    def test_one_that_comes_with_a_pickle_is_told_beside_that_of_this_process(self, path, tmp_path):
        first, second = tmp_path / "first", tmp_path / "second"
        sender = fresh(path, witness=first)
        sent = pickle.dumps(sender)
        ledger = fresh(path, witness=second)
        received = pickle.loads(sent)
        assert received == ledger
        ledger.reserve(STEP)
        assert tuple(ledger.head) == _last(first) == _last(second)
        assert pickle.loads(pickle.dumps(ledger)) == ledger
        assert len(ledger._store._file.witnesses) == 2

    def test_one_that_has_seen_more_refuses_beside_one_that_has_not(self, path, tmp_path):
        seen = fresh(path, witness=tmp_path / "first")
        old = _bytes_of(path)
        seen.reserve(STEP)
        seen._store._file.close()
        _put(path, old)
        ledger = fresh(path, witness=tmp_path / "second")
        for use in (
            lambda: Ledger(*PROMISE, path=path, witness=tmp_path / "first"),
            lambda: ledger.reserve(STEP),
        ):
            assert "lacks line 2, which its witness has seen" in refusal(use)
        assert len(fresh(path)) == 0

    def test_one_of_another_ledger_is_refused_and_the_right_one_can_be_named(self, path, tmp_path):
        fresh(str(tmp_path / "other.db"), witness=tmp_path / "wrong")
        before = (tmp_path / "wrong").read_text()
        ledger = fresh(path)
        with pytest.raises(ValueError, match="knows another ledger"):
            Ledger(*PROMISE, path=path, witness=tmp_path / "wrong")
        ledger.reserve(STEP)
        assert Ledger(*PROMISE, path=path, witness=tmp_path / "right") == ledger
        ledger.reserve(STEP)
        assert tuple(ledger.head) == _last(tmp_path / "right") and len(fresh(path)) == 2
        assert (tmp_path / "wrong").read_text() == before


def _last(witness):
    """Identity, position and digest of the last head that a file was told."""
    identity, position, digest = witness.read_text().split()[-3:]
    return identity, int(position), digest


def test_a_ledger_without_a_file_has_no_lines_to_audit():
    ledger = Ledger(*PROMISE)
    ledger.reserve(STEP)
    with pytest.raises(NotSupported, match="no lines to audit; give Ledger a path"):
        ledger.audit([])
    ledger.reserve(STEP)
    assert len(ledger) == 2


def note(place, head):
    """A witness that is a function: it writes the number of each line that it is told of."""
    with open(place, "a", encoding="ascii") as file:
        file.write(f"{head.position}\n")


class TestWitnessElsewhere:
    """A ledger is sent to another process, which has not opened it: whoever is told of charges is told there too."""

    @staticmethod
    def told_elsewhere(path, witness):
        """Send a ledger and charge it twice where nobody knows it; the numbers of the lines that were written."""
        sent = pickle.dumps(fresh(path, witness=witness))
        _store._OPEN.clear()
        there = pickle.loads(sent)
        return [there.reserve(STEP).position for _ in range(2)]

    def test_a_function_is_told(self, path, tmp_path):
        written = self.told_elsewhere(path, partial(note, tmp_path / "told"))
        told = (tmp_path / "told").read_text().split()
        assert set(written) <= set(map(int, told))

    def test_a_file_is_told(self, path, tmp_path):
        written = self.told_elsewhere(path, tmp_path / "witness")
        assert _last(tmp_path / "witness")[1] == written[-1]

    def test_with_one_that_cannot_be_sent_nothing_is_sent(self, path):
        """Without it, charges of the other process would pass unseen."""
        ledger = fresh(path, witness=lambda head: None)
        with pytest.raises((pickle.PicklingError, AttributeError, TypeError)):
            pickle.dumps(ledger)

    def test_a_handle_that_forgets_functions_is_found(self, path, tmp_path, monkeypatch):
        handle = Store.handle

        def files_only(self):
            found = handle(self)
            kept = tuple(one for one in found.witnesses if isinstance(one, WitnessFile))
            return found._replace(witnesses=kept)

        monkeypatch.setattr(Store, "handle", files_only)
        self.test_a_file_is_told(path, tmp_path)
        with pytest.raises(AssertionError):
            self.test_a_function_is_told(str(tmp_path / "other.db"), tmp_path)
