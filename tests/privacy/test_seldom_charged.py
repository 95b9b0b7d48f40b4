"""What seldom happens to a ledger's file: it is put back and charged, upgraded by two at once, witnessed late."""

import contextlib
import os
import shutil
import sqlite3

import pytest
from ledger_workers import PROMISE, STEP
from test_ledger_faults import _bytes_of, _put, charged, fresh
from test_ledger_file import DATA, FITS

from skdp.exceptions import NotSupported
from skdp.privacy import Ledger
from skdp.privacy.ledger import _file


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


def test_a_ledger_without_a_file_has_no_lines_to_audit():
    ledger = Ledger(*PROMISE)
    ledger.reserve(STEP)
    with pytest.raises(NotSupported, match="no lines to audit; give Ledger a path"):
        ledger.audit([])
    ledger.reserve(STEP)
    assert len(ledger) == 2
