"""A ledger's file: lines in an SQLite table, each chained to the one before, one transaction a charge.

A charge is decided on the last line that this process knows, and one statement writes it if that is still the last
line of the file. Else, and before anything is refused, the write lock is held from before the new lines are read until
the charge is on the disk. So nobody's charge is computed from an old total. The file is made beside its place and
linked into it, so that nobody ever opens half of one.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from ._lines import added, difference
from ._state import State

__all__ = ["BUSY_SECONDS", "FORMAT", "Cursor", "LedgerFile"]

FORMAT = 1
BUSY_SECONDS = 60.0
_APPLICATION = 0x736B6470
_TABLE = (
    "CREATE TABLE lines (position INTEGER PRIMARY KEY, text TEXT NOT NULL, digest TEXT NOT NULL)"
)
# Without the line before, there is no digest, and a line without one is not written; nor is one whose place is taken.
_WRITE_NEXT = (
    "INSERT OR IGNORE INTO lines VALUES "
    "(?, ?, (SELECT ? FROM lines WHERE position = ? AND digest = ?))"
)


class Cursor(NamedTuple):
    """How far the file has been read, and what it says up to there."""

    state: State = State()
    position: int = -1
    digest: str = ""
    header: str = ""

    def followed_by(self, text: str, state: State) -> Cursor:
        """How far the file has been read with one more line, and what it says then."""
        return Cursor(state, self.position + 1, _digest(self.digest, text), self.header)


class LedgerFile:
    """The lines of one ledger on disk, as seen by one process.

    Parameters
    ----------
    path : str
        Where it is.
    header : dict
        Promise and currency, which the file must have been made for.
    durable : bool
        Whether a charge waits for the disk; a file that ends with its process need not.
    """

    def __init__(self, path: str, header: dict[str, Any], durable: bool = True) -> None:
        self.path, self.header, self.durable = path, header, durable
        self._connection: sqlite3.Connection | None = None
        self._closer: Any = None
        self._inode: tuple[int, int] | None = None
        self._cursor = Cursor()

    def create(self, state: State = State()) -> None:  # noqa: B008
        """Make the file with what is known so far, unless it is there already."""
        if self._is_there():
            return
        fresh = f"{self.path}.{os.getpid()}.{time.time_ns()}.new"
        made = hashlib.sha256(fresh.encode()).hexdigest()[:16]
        header = json.dumps({**self.header, "id": made}, separators=(",", ":"))
        try:
            self._fill(fresh, header, difference(State(), state))
            with suppress(FileExistsError):  # another process was faster
                os.link(fresh, self.path)
        except sqlite3.DatabaseError as error:
            raise self._said(error) from None
        finally:
            for ending in ("", "-wal", "-shm"):
                with suppress(FileNotFoundError):
                    os.unlink(fresh + ending)
        _sync_folder(self.path)

    def _is_there(self) -> bool:
        """Whether the file exists; without it, nothing of it may be left, for SQLite would take it up."""
        left = os.path.exists(f"{self.path}-wal")
        if not os.path.exists(self.path) and left:
            raise OSError(
                f"The ledger {self.path!r} is gone but its last charges, {self.path + '-wal'!r}, are there; "
                "put both back, or remove what is left."
            )
        return os.path.exists(self.path)

    def _fill(self, path: str, *lines: str) -> None:
        connection = self._connected(path, "rwc")
        try:
            if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
                raise OSError(
                    f"The ledger at {self.path!r} would lie on a disk without shared locks; use a local one."
                )
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            connection.execute(_TABLE)
            cursor = Cursor()
            for line in lines:
                cursor = self._append(connection, cursor, line, cursor.state)
        finally:
            connection.close()

    def _connected(self, path: str, mode: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"file:{_quoted(path)}?mode={mode}",
            uri=True,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        connection.execute(f"PRAGMA synchronous = {'FULL' if self.durable else 'OFF'}")
        connection.execute(
            "PRAGMA fullfsync = ON"
        )  # on a Mac, else a disk may say that it has written
        return connection

    def in_place(self) -> bool:
        """Whether the file that was opened is still there."""
        return self._inode is not None and self._inode == _inode(self.path)

    @property
    def made(self) -> str:
        """What tells this ledger from every other one."""
        return str(json.loads(self._cursor.header)["id"])

    def close(self) -> None:
        """Let go of the file; the next charge opens it again."""
        if self._connection is not None:
            self._closer.detach()
            self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        found = _inode(self.path)
        if found is None or self._inode not in (None, found):
            raise FileNotFoundError(
                f"The ledger's file {self.path!r} was removed or replaced; nothing was charged. Put it back, "
                "or open another ledger."
            )
        if self._connection is None:
            self._inode = found
            self._connection = self._connected(self.path, "rw")
            self._closer = weakref.finalize(self, self._connection.close)
        return self._connection

    def _said(self, error: sqlite3.DatabaseError) -> Exception:
        """One plain sentence for whatever SQLite has to say."""
        if not isinstance(error, sqlite3.OperationalError):
            return _no_ledger(self.path, str(error))
        if "locked" not in str(error) and "busy" not in str(error):
            return OSError(f"The ledger at {self.path!r} cannot be used: {error}.")
        return TimeoutError(
            f"The ledger at {self.path!r} was busy for {BUSY_SECONDS:g} s; nothing was charged, so try "
            "again when the process that holds it has ended."
        )

    def read(self) -> State:
        """What the file says now."""
        try:
            self._cursor = self._caught_up(self._open())
        except sqlite3.DatabaseError as error:
            raise self._said(error) from None
        return self._cursor.state

    def change(self, step: Callable[[State], State]) -> State:
        """Let a step decide on the newest state, and write what it decides, or nothing at all."""
        try:
            connection = self._open()
            if connection.in_transaction:  # left by an interrupt
                connection.execute("ROLLBACK")
            return self._at_once(connection, step) or self._alone(connection, step)
        except sqlite3.DatabaseError as error:
            raise self._said(error) from None

    def _at_once(
        self, connection: sqlite3.Connection, step: Callable[[State], State]
    ) -> State | None:
        """The next state, if the file is as it was last seen: it is checked and written by one statement."""
        before = self._cursor
        if before.position < 0:
            return None
        try:
            after = step(before.state)
        except Exception:  # what is refused is refused by what the file says now
            return None
        text = difference(before.state, after)
        written = before.followed_by(text, after)
        given = (written.position, text, written.digest, before.position, before.digest)
        if connection.execute(_WRITE_NEXT, given).rowcount != 1:
            return None
        self._cursor = written
        return after

    def _alone(self, connection: sqlite3.Connection, step: Callable[[State], State]) -> State:
        """The next state, decided and written while nobody else can write."""
        try:
            connection.execute("BEGIN IMMEDIATE")
            before = self._cursor = self._caught_up(connection)
            after = step(before.state)
            written = self._append(connection, before, difference(before.state, after), after)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        self._cursor = written
        return after

    @staticmethod
    def _append(connection: sqlite3.Connection, before: Cursor, text: str, state: State) -> Cursor:
        after = before.followed_by(text, state)
        connection.execute(
            "INSERT INTO lines VALUES (?, ?, ?)", (after.position, text, after.digest)
        )
        return after

    def _caught_up(self, connection: sqlite3.Connection) -> Cursor:
        """The cursor after all lines that are new, each of which must follow from the one before."""
        cursor = self._cursor
        if cursor.position < 0:
            self._check_kind(connection)
        query = "SELECT position, text, digest FROM lines WHERE position >= ? ORDER BY position"
        rows = connection.execute(query, (max(cursor.position, 0),)).fetchall()
        if not rows or (cursor.position >= 0 and rows[0][::2] != (cursor.position, cursor.digest)):
            raise _no_ledger(self.path, "lines that were there are gone")
        for position, text, digest in rows[cursor.position >= 0 :]:
            if position != cursor.position + 1 or digest != _digest(cursor.digest, text):
                raise _no_ledger(self.path, f"line {position} does not follow from the one before")
            if position == 0:
                self._check_header(text)
            state = cursor.state if position == 0 else added(cursor.state, text)
            cursor = Cursor(state, position, digest, text if position == 0 else cursor.header)
        return cursor

    def _check_kind(self, connection: sqlite3.Connection) -> None:
        if connection.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
            raise _no_ledger(self.path, "another program made it")

    def _check_header(self, text: str) -> None:
        made = json.loads(text)
        for name, wanted in self.header.items():
            if made.get(name) != wanted:
                raise ValueError(
                    f"The ledger at {self.path!r} was made with {name}={_shown(made.get(name))}, and this one "
                    f"has {_shown(wanted)}; open it as it was made, or give another path."
                )


def _digest(before: str, text: str) -> str:
    return hashlib.sha256(f"{before}\n{text}".encode()).hexdigest()


def _no_ledger(path: str, why: str) -> ValueError:
    return ValueError(
        f"The file {path!r} is no sound ledger ({why}); nothing was charged. Restore it, and mind that an "
        "older copy does not know of later charges."
    )


def _shown(value: Any) -> str:
    """A value of the header as the user wrote it."""
    try:
        return repr(float.fromhex(value))
    except (TypeError, ValueError):
        return repr(value)


def _inode(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _quoted(path: str) -> str:
    return "".join(f"%{ord(c):02x}" if c in "%?#" else c for c in path)


def _sync_folder(path: str) -> None:
    """The name of a new file is durable once its folder is."""
    with suppress(OSError):  # Windows cannot, and need not
        folder = os.open(os.path.dirname(path), os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
