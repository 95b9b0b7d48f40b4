"""A ledger in a file: nothing is lost, doubled or rounded, whoever charges it and whenever they die."""

import contextlib
import hashlib
import json
import math
import os
import pickle
import shutil
import sqlite3
import threading
from fractions import Fraction
from pathlib import Path

import ledger_workers
import pytest
from event_samples import gaussian_fit
from ledger_workers import PROMISE, STEP, answer, fit, start, storm

from skdp.exceptions import BudgetExceeded, NotSupported
from skdp.privacy import Ledger, epsilon, events
from skdp.privacy.events import (
    BoundedRange,
    Event,
    Gaussian,
    ObjectivePerturbation,
    PureDP,
    RenyiDP,
    _written,
    read_script,
    written_script,
)
from skdp.privacy.ledger import _file, _state, _store
from skdp.privacy.ledger._state import Entry, State

DATA = Path(__file__).parent / "data"
FITS = [
    gaussian_fit(0.1),
    ((ObjectivePerturbation(0.02, 0.01), 1), (Gaussian(100.1), 3)),
    ((PureDP(0.1), 1),),
    ((BoundedRange(0.013), 2),),
    ((RenyiDP(90.0, 0.001), 1),),
]


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "budget.db")


def _fresh(path, *promise, **more):
    """What another process would find: nothing of this one is remembered."""
    _store._OPEN.clear()
    return Ledger(*(promise or PROMISE), path=path, **more)


def test_a_restart_finds_every_charge_to_the_last_bit(path):
    ledger = Ledger(*PROMISE, path=path)
    for script in FITS:
        ledger.reserve(script, "a fit")
    again = _fresh(path)
    assert again._state == ledger._state and again._state is not ledger._state
    assert again.scripts == tuple(FITS) and (again.spent, len(again)) == (ledger.spent, len(FITS))
    again.reserve(FITS[0])
    assert len(ledger) == len(again) == len(FITS) + 1


def _differs_after_reload(difference):
    state = Ledger(*PROMISE)
    for script in FITS:
        state.reserve(script)
    state = state._state
    return _state.added(State(), difference(State(), state)) != state


def test_a_total_written_as_a_double_is_caught():
    assert not _differs_after_reload(_state.difference)

    def rounded(before, after):
        totals = {
            part: tuple(t and tuple(int(float(n)) for n in t) for t in held)
            for part, held in after.totals.items()
        }
        return _state.difference(before, after._replace(totals=totals))

    assert _differs_after_reload(rounded)


@pytest.mark.parametrize("script", FITS)
def test_a_script_comes_back_as_it_was(script):
    assert read_script(written_script(script)) == script


def test_an_event_that_nobody_defined_is_kept_as_it_was_written():
    plain = [{"event": "nowhere:Event", "fields": {"n": {"hex": "0x1.8p+0"}}, "count": 2}]
    script = read_script(plain)
    assert written_script(script) == plain and hash(script) == hash(read_script(plain))
    with pytest.raises(NotSupported):
        epsilon(script, 1e-6)


def test_events_have_public_names_of_a_version_wherever_their_classes_live():
    for name in events.__all__:
        kind = getattr(events, name)
        if isinstance(kind, type) and issubclass(kind, Event) and kind is not Event:
            assert _written._name_of(kind) == f"skdp/1:{name}"


@pytest.mark.parametrize("script", FITS)
def test_a_line_of_the_first_format_is_read_wherever_the_class_has_moved(script):
    plain = written_script(script)
    for run in plain:
        run["event"] = "skdp.privacy.events._moved_since:" + run["event"].partition(":")[2]
    assert read_script(plain) == script


def test_totals_are_told_without_the_classes_of_a_user(path):
    """The event was of a class that this process does not have."""
    Ledger(*PROMISE, path=path).reserve(STEP, "first")
    ledger = _fresh(path)
    ledger.reserve(FITS[0], "theirs")
    told = ledger.spent, ledger.remaining, len(ledger)
    _forget(path, FITS[0])
    again = _fresh(path)
    assert (again.spent, again.remaining, len(again)) == told
    assert math.isinf(again.report().rows[1].epsilon) and "theirs:Gone" in str(again.scripts)
    again.reserve(FITS[0], "ours")
    assert _fresh(path).spent == again.spent > told[0]
    with pytest.raises(NotSupported):
        again.reserve(again.scripts[1])


def _forget(path, script):
    """Let the last line speak of an event of a user's own, with all digests right."""
    (name,) = {run["event"] for run in written_script(script)}
    with contextlib.closing(sqlite3.connect(path)) as connection:
        position, text = connection.execute("SELECT max(position), text FROM lines").fetchone()
        query = "SELECT digest FROM lines WHERE position = ?"
        (before,) = connection.execute(query, (position - 1,)).fetchone()
        text = text.replace(name, "theirs:Gone")
        given = text, hashlib.sha256(f"{before}\n{text}".encode()).hexdigest()
        connection.execute(
            f"UPDATE lines SET (text, digest) = (?, ?) WHERE position = {position}", given
        )
        connection.execute("UPDATE head SET digest = ?", given[1:])
        connection.commit()


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ((2.0, 1e-6), "epsilon=1.0, and this one has 2.0"),
        ((1.0, 1e-7), "delta=1e-06, and this one has 1e-07"),
        ((1.0, 1e-6, "add_remove"), "neighbors='replace_one'"),
        ((1.0, 1e-6, "replace_one", "gdp"), "accountant='auto'"),
    ],
)
@pytest.mark.parametrize("held", [False, True], ids=["closed", "open"])
def test_a_file_of_another_promise_is_refused(path, other, said, held):
    """Also while this process has it open, before the first charge and after it."""
    ledger = Ledger(*PROMISE, path=path)
    for charges in range(2):
        kept = ledger if held else None
        if not held:
            ledger = None
            _store._OPEN.clear()
        with pytest.raises(ValueError, match=said):
            Ledger(*other, path=path)
        ledger = kept or Ledger(*PROMISE, path=path)
        assert len(ledger) == charges and (ledger.epsilon, ledger.delta) == PROMISE
        ledger.reserve(STEP)


def test_a_file_of_another_version_is_refused(path, monkeypatch):
    Ledger(*PROMISE, path=path)
    _store._OPEN.clear()
    monkeypatch.setattr("skdp.privacy.ledger._ledger.FORMAT", _state.FORMAT + 1)
    with pytest.raises(ValueError, match=r"format=2.*this one has 3.*another path"):
        Ledger(*PROMISE, path=path)


def _damaged(path, damage):
    ledger = Ledger(*PROMISE, path=path)
    for _ in range(30):
        ledger.reserve(STEP)
    ledger._store._file.close()
    damage(path)
    return _fresh(path)


def _flip(path):
    with open(path, "r+b") as file:
        whole = file.read()
        file.seek(whole.rfind(b"Gaussian") + 2)
        file.write(b"X")


def _cut(path):
    os.truncate(path, os.path.getsize(path) // 2)


def _lose_a_line(path, which="7"):
    connection = sqlite3.connect(path)
    connection.execute(f"DELETE FROM lines WHERE position = {which}")
    connection.commit()
    connection.close()


@pytest.mark.parametrize("damage", [_flip, _cut, _lose_a_line])
def test_a_corrupt_file_is_refused_in_one_sentence(path, damage):
    with pytest.raises(ValueError, match="is not an intact ledger") as refusal:
        _damaged(path, damage)
    assert refusal.value.__cause__ is None and "\n" not in str(refusal.value)
    assert refusal.value.__suppress_context__ or refusal.value.__context__ is None


@pytest.mark.parametrize("content", [b"", b"hello" * 1000])
def test_a_file_of_another_program_is_left_alone(path, content):
    with open(path, "wb") as file:
        file.write(content)
    with pytest.raises(ValueError, match="is not an intact ledger"):
        Ledger(*PROMISE, path=path)
    with open(path, "rb") as file:
        assert hashlib.sha256(file.read()).digest() == hashlib.sha256(content).digest()


def test_an_older_copy_put_back_is_noticed_by_whoever_saw_the_newer_one(path):
    ledger = Ledger(*PROMISE, path=path)
    ledger.reserve(STEP)
    ledger._store._file.close()
    _lose_a_line(path, "2")
    with pytest.raises(ValueError, match="lines that were there are gone"):
        ledger.reserve(STEP)


def _remove(path):
    for ending in ("", "-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path + ending)


@pytest.mark.parametrize("part", ["-journal", "-wal"])
def test_what_is_left_of_a_file_that_is_gone_is_not_taken_up_by_another(path, part):
    with open(path + part, "wb") as file:
        file.write(b"charges")
    with pytest.raises(OSError, match=f"is missing but its journal .*{part}' is there"):
        Ledger(*PROMISE, path=path)
    os.unlink(path + part)
    assert len(Ledger(*PROMISE, path=path)) == 0


class TestFirstFormat:
    """A file that a version with a write-ahead log has made is kept as test data."""

    @pytest.fixture
    def old(self, path):
        """A copy of it, at rest."""
        shutil.copyfile(DATA / "ledger_format_1.db", path)
        return path

    def test_it_is_read_converted_and_charged(self, old):
        ledger = Ledger(*PROMISE, path=old)
        assert ledger.scripts == tuple(FITS) and ledger.spent == pytest.approx(0.36900350810819393)
        ledger.reserve(STEP)
        connection = ledger._store._file._open()
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        ledger._store._file.close()
        with open(old, "rb") as file:
            assert file.read(20)[18:] == b"\x01\x01"  # not to be logged any more, whoever opens it
        assert len(_fresh(old)) == len(FITS) + 1
        shutil.copyfile(old, old + ".copy")
        with pytest.raises(ValueError, match="is a copy"):
            _fresh(old + ".copy")

    def test_one_that_was_left_in_the_middle_is_refused(self, old):
        """Its log may have lost charges, and nothing shows it."""
        with open(old + "-wal", "wb") as file:
            file.write(b"frames")
        with pytest.raises(
            OSError, match=r"earlier version of skdp.*holds charges that damage can hide"
        ):
            Ledger(*PROMISE, path=old)

    def test_one_of_another_promise_is_left_as_it_was(self, old):
        with pytest.raises(ValueError, match=r"epsilon=1\.0, and this one has 2\.0"):
            Ledger(2.0, 1e-6, path=old)
        with contextlib.closing(sqlite3.connect(old)) as connection:
            assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("lines",)]

    def test_a_later_file_without_its_last_line_is_damaged(self, path):
        Ledger(*PROMISE, path=path)._store._file.close()
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("DROP TRIGGER follow")
            connection.execute("DROP TABLE head")
        with pytest.raises(ValueError, match="the table of its last line is gone"):
            _fresh(path)


def test_a_file_that_was_removed_is_not_charged(path):
    ledger = Ledger(*PROMISE, path=path)
    _remove(path)
    with pytest.raises(FileNotFoundError, match="removed or replaced; nothing was charged"):
        ledger.reserve(STEP)
    other = Ledger(*PROMISE, path=path)
    other.reserve(STEP)
    with pytest.raises(FileNotFoundError):
        ledger.reserve(STEP)
    assert len(other) == 1


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(OSError, match="cannot be used"):
        Ledger(*PROMISE, path=tmp_path / "no" / "budget.db")


def test_a_refused_or_interrupted_charge_leaves_the_file_as_it_was(path, monkeypatch):
    ledger = Ledger(*PROMISE, path=path)
    ledger.reserve(gaussian_fit(0.5))
    with pytest.raises(BudgetExceeded):
        ledger.reserve(gaussian_fit(0.95))

    def interrupted(before, after):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(_file, "difference", interrupted)
        ledger.reserve(STEP)
    assert len(ledger) == len(_fresh(path)) == 1
    ledger.reserve(STEP)


def test_a_lock_that_is_held_too_long_is_a_sentence(path, monkeypatch):
    monkeypatch.setattr(_file, "BUSY_SECONDS", 0.05)
    ledger = Ledger(*PROMISE, path=path)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(TimeoutError, match=r"was busy for 0\.05 s; nothing was charged"):
        ledger.reserve(STEP)
    holder.execute("ROLLBACK")
    holder.close()
    ledger.reserve(STEP)
    assert len(ledger) == 1


def test_a_lock_that_is_held_is_a_sentence_also_for_who_has_read_nothing_yet(path, monkeypatch):
    monkeypatch.setattr(_file, "BUSY_SECONDS", 0.05)
    header = Ledger(1.0, 0.0, path=path)._store._header
    fresh, holder = _file.LedgerFile(path, header), sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(TimeoutError, match="nothing was charged"):
        fresh.change(lambda state: state)
    holder.execute("ROLLBACK")
    holder.close()


@pytest.mark.parametrize("epsilon", [1.0, 100.0])
def test_a_pickle_of_a_file_that_was_replaced_charges_nothing(path, epsilon):
    sent = pickle.dumps(Ledger(epsilon, 0.0, path=path))
    for ending in ("", "-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{path}{ending}")
    other = Ledger(1.0, 0.0, path=path)
    with pytest.raises(ValueError, match="was made with"):
        pickle.loads(sent).reserve(((PureDP(epsilon), 1),))
    other.reserve(((PureDP(1.0), 1),))
    assert len(other) == 1 and len(Ledger(1.0, 0.0, path=path)) == 1


def test_a_pickle_is_a_handle_that_outlives_the_process(path):
    ledger = Ledger(*PROMISE, path=path)
    ledger.reserve(STEP)
    sent = pickle.dumps(ledger)
    _store._OPEN.clear()
    twin = pickle.loads(sent)
    twin.reserve(STEP)
    assert len(ledger) == len(twin) == 2 and twin._store is not ledger._store
    _remove(path)
    Ledger(*PROMISE, path=path)  # another ledger in its place
    _store._OPEN.clear()
    with pytest.raises(ValueError, match="was made with id="):
        pickle.loads(sent).reserve(STEP)


def _racing(path, threads, times):
    """Admitted charges of threads that each open the file by themselves."""
    admitted, start = [], threading.Barrier(threads)

    def work():
        store = _store.Store(Ledger(*PROMISE, path=path)._store._header, path)
        ledger = Ledger(*PROMISE)
        ledger._store = store
        start.wait()
        for _ in range(times):
            try:
                ledger.reserve(((Gaussian(45.0), 1),))
                admitted.append(1)
            except BudgetExceeded:
                pass

    running = [threading.Thread(target=work) for _ in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return len(admitted)


def test_connections_cannot_overspend_together(path):
    admitted = _racing(path, 4, 40)
    ledger = _fresh(path)
    assert admitted == len(ledger) and 40 < admitted < 160 and ledger.spent <= 1.0
    with pytest.raises(BudgetExceeded):
        ledger.reserve(((Gaussian(45.0), 1),))


def test_a_charge_decided_before_the_lock_is_caught(path, monkeypatch):
    """The lost update: who reads before the lock decides on what is old."""
    caught_up = _file.LedgerFile._caught_up

    def stale(self, connection):
        return caught_up(self, connection) if self._cursor.position < 0 else self._cursor

    monkeypatch.setattr(_file.LedgerFile, "_caught_up", stale)
    first, second = (_store.Store(Ledger(*PROMISE, path=path)._store._header, path) for _ in "ab")
    ledgers = Ledger(*PROMISE), Ledger(*PROMISE)
    for ledger, store in zip(ledgers, (first, second)):
        ledger._store = store
    ledgers[0].reserve(STEP)
    with pytest.raises((ValueError, sqlite3.IntegrityError)):
        ledgers[1].reserve(STEP)


def _two_processes(path):
    """The file of a ledger as two processes see it, both up to its last line."""
    header = Ledger(*PROMISE, path=path)._store._header
    both = _file.LedgerFile(path, header), _file.LedgerFile(path, header)
    for file in both:
        file.read()
    return both


def _one_more(state):
    return state._replace(log=state.plus(Entry(STEP, state.parts, "a charge", "today")))


def _put_back(path):
    """The last line is another one, as after a restored backup that was charged since."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE lines SET text = text || ' ', digest = digest || 'f'")
        connection.commit()


def _charged_by_another(path):
    _two_processes(path)[0].change(_one_more)


def _written_at_once(path, change):
    """Whether a line is written in one go after the file has changed under whoever read it."""
    file = _two_processes(path)[0]
    file.change(_one_more)
    change(path)
    return file._at_once(file._open(), _one_more) is not None


CHANGES = {
    "another": _charged_by_another,
    "put back": _put_back,
    "lost": lambda p: _lose_a_line(p, "2"),
}


def test_a_line_is_written_at_once_where_nothing_has_changed(path):
    assert _written_at_once(path, lambda path: None) and len(Ledger(*PROMISE, path=path)) == 2


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_line_is_not_written_at_once_where_the_last_one_is_another(path, change):
    assert not _written_at_once(path, change)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_line_that_does_not_look_for_the_one_before_is_caught(path, change, monkeypatch):
    blind = "INSERT OR REPLACE INTO lines SELECT ?, ?, ? WHERE ? IS NOT ?"
    monkeypatch.setattr(_file, "WRITE_NEXT", blind)
    assert _written_at_once(path, change)


def test_a_refusal_counts_what_another_process_has_charged(path):
    mine = Ledger(*PROMISE, path=path)
    mine.reserve(gaussian_fit(0.1))
    _store._OPEN.clear()
    Ledger(*PROMISE, path=path).reserve(gaussian_fit(0.8))
    with pytest.raises(BudgetExceeded, match=r"spent epsilon=0\.8"):
        mine.reserve(gaussian_fit(0.95))
    with pytest.raises(BudgetExceeded):  # it would go in beside what this process has charged
        mine.reserve(gaussian_fit(0.7))
    assert len(mine) == 2


def test_lines_are_the_shortest_json_of_what_they_say(path):
    ledger = Ledger(*PROMISE, path=path)
    ledger.partition(['n"orth', "süd"])
    for script in FITS:
        ledger.reserve(script, "a \\ b")
    with contextlib.closing(sqlite3.connect(path)) as connection:
        lines = [text for (text,) in connection.execute("SELECT text FROM lines")]
    assert len(lines) == len(FITS) + 3
    for line in lines:
        assert line == json.dumps(json.loads(line), separators=(",", ":"))


def test_processes_charge_one_file_without_loss(path):
    workers = [start("charge", path, 25) for _ in range(3)]
    admitted = sum(int(worker.communicate()[0]) for worker in workers)
    ledger = Ledger(*PROMISE, path=path)
    assert admitted == len(ledger) == 75 and ledger.spent <= 1.0


@pytest.mark.slow
def test_eight_processes_of_two_hundred_charges(path):
    workers = [start("charge", path, 200) for _ in range(8)]
    admitted = sum(int(worker.communicate()[0]) for worker in workers)
    assert admitted == len(Ledger(*PROMISE, path=path)) == 1600


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("rounds", [20, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("work", [answer, fit])
def test_no_answer_without_its_charge_however_a_process_dies(path, rounds, work):
    answers, charges = storm(path, rounds, work=work)
    assert 0 < answers <= charges <= answers + rounds


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_an_answer_before_its_charge_is_caught(path, monkeypatch):
    def hasty(path):
        ledger = Ledger(*PROMISE, path=path)
        while True:
            os.write(1, b"..")
            ledger.reserve(STEP)

    monkeypatch.setattr(ledger_workers, "answer", hasty)
    with pytest.raises(AssertionError, match="answers and"):
        storm(path, 40)


@pytest.mark.parametrize("accountant", ["auto", "shifted", "gdp", "zcdp", "rdp", "pure"])
def test_ten_fits_of_a_tenth_fit_one_in_every_currency(accountant):
    ledger = Ledger(1.0, 0.0 if accountant == "pure" else 1e-6, accountant=accountant)
    script = ((PureDP(0.1), 1),) if accountant == "pure" else gaussian_fit(0.1)
    for _ in range(10):
        ledger.reserve(script)
    assert len(ledger) == 10 and ledger.spent <= 1.0


def test_ten_pure_fits_of_a_tenth_fit_one_beside_a_delta():
    ledger = Ledger(1.0, 1e-6, fits=10, accountant="shifted")
    for _ in range(10):
        ledger.reserve(((PureDP(0.1), 1),))
    with pytest.raises(BudgetExceeded):
        ledger.reserve(((PureDP(0.1), 1),))
    assert Fraction(len(ledger), 10) == 1


def test_announced_fits_are_refused_before_the_first():
    ledger = Ledger(0.6, 1e-6, fits=13)
    with pytest.raises(
        BudgetExceeded, match=r"fits=13 like this one cost epsilon=1\.\d+.*0\.6"
    ) as no:
        ledger.reserve(gaussian_fit(0.3))
    assert len(ledger) == 0 and "about epsilon=0.1" in str(no.value)
    for _ in range(13):
        ledger.reserve(gaussian_fit(0.15))


def test_accountants_that_are_no_filter_are_refused():
    with pytest.raises(NotSupported, match="cannot guard fits"):
        Ledger(1.0, 1e-6, accountant="profile")
    with pytest.raises(NotSupported, match="needs delta > 0"):
        Ledger(1.0, 0.0, accountant="shifted")
    with pytest.raises(ValueError, match="fits=0"):
        Ledger(1.0, 1e-6, fits=0)


def test_a_ledger_is_told_from_every_other_one(tmp_path):
    kept, other = Ledger(1.0, 1e-6, path=tmp_path / "a"), Ledger(1.0, 1e-6, path=tmp_path / "b")
    memory = Ledger(1.0, 1e-6)
    memory.reserve(STEP)
    known = [ledger.identity for ledger in (kept, other, memory, Ledger(1.0, 1e-6))]
    assert len(set(known)) == 4 and all(known)
    assert Ledger(1.0, 1e-6, path=tmp_path / "a").identity == kept.identity
    for ledger in (kept, memory):
        same = [pickle.loads(pickle.dumps(ledger)), ledger.called("name"), ledger.partition(2)[1]]
        assert {copy.identity for copy in same} == {ledger.identity}
    memory.reserve(STEP)
    assert memory.identity == known[2] and len(memory) == 2
