"""A ledger's file: lines in an SQLite table, each chained to the one before, one transaction a charge.

A charge is decided on the last line that this process knows, and one statement writes it if that is still the last
line of the file. Else, and before anything is refused, the write lock is held from before the new lines are read until
the charge is on the disk. So nobody's charge is computed from an old total. The file is made beside its place and
linked into it, so that nobody ever opens half of one. Its place is in `_place.py`.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, TypeAlias

from ._place import (
    Head,
    Witness,
    WitnessFile,
    place_of,
    refuse_disk,
    refuse_rollback,
    refuse_second_name,
    refuse_stranger,
    sync_folder,
)
from ._state import State, add_nonce, added, difference, today

__all__ = [
    "BUSY_SECONDS",
    "INHERITED",
    "WRITE_NEXT",
    "Cursor",
    "LedgerFile",
    "Row",
    "add_head",
    "close_own",
    "connected",
    "forget_pages",
    "has_head",
    "is_ours",
    "new_tables",
    "read_rows",
    "transaction",
]


Row: TypeAlias = (
    "tuple[int, str, str, str]"  # position, text, digest; position and digest of the last line
)

_APPLICATION = 0x736B6470
_LINES = (
    "CREATE TABLE lines (position INTEGER PRIMARY KEY, text TEXT NOT NULL, digest TEXT NOT NULL)"
)
_HEAD = (
    "CREATE TABLE head (one INTEGER PRIMARY KEY CHECK (one = 1), position INTEGER NOT NULL, digest TEXT NOT NULL, "
    "place TEXT NOT NULL)",
    "CREATE TRIGGER follow AFTER INSERT ON lines "
    "BEGIN UPDATE head SET position = NEW.position, digest = NEW.digest; END",
)
# Without the line before, there is no digest, and a line without one is not written; nor is one whose place is taken.
WRITE_NEXT = (
    "INSERT OR IGNORE INTO lines VALUES "
    "(?, ?, (SELECT ? FROM lines JOIN head USING (position, digest) WHERE position = ? AND digest = ?))"
)
# One statement, so that lines and head are of one moment.
_READ = (
    "SELECT position, text, digest, (SELECT position || ' ' || digest FROM head) FROM lines "
    "WHERE position >= ? ORDER BY position"
)
INHERITED: list[sqlite3.Connection] = []  # a parent's: SQLite forbids even to close them in a child


def connected(path: str, durable: bool, patience: float) -> sqlite3.Connection:
    """A connection to a file that is there, which waits so many seconds for others, and for the disk."""
    quoted = "".join(f"%{ord(c):02x}" if c in "%?#" else c for c in path)
    connection = sqlite3.connect(
        f"file:{quoted}?mode=rw",
        uri=True,
        timeout=patience,
        isolation_level=None,
        check_same_thread=False,
    )
    # EXTRA: the folder too waits for the disk, or a power cut could bring a deleted journal back.
    connection.execute(f"PRAGMA synchronous = {'EXTRA' if durable else 'OFF'}")
    connection.execute("PRAGMA fullfsync = ON")  # on a Mac, else a disk may say that it has written
    return connection


def forget_pages(connection: sqlite3.Connection) -> None:
    """Let the next statement read the file, and not pages that are remembered of it.

    SQLite keeps pages for as long as a count of changes in the file stands still. An older copy that was put back and
    charged as often has the same count: its charges would be overwritten by what is remembered.
    """
    connection.execute("PRAGMA shrink_memory")


def close_own(connection: sqlite3.Connection, process: int) -> None:
    """Close a connection that nobody uses any more, unless it is the parent's."""
    if process == os.getpid():
        connection.close()
    else:
        INHERITED.append(connection)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Nobody else can write inside; all of it is on the disk afterwards, or none."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def new_tables(connection: sqlite3.Connection, place: str) -> Iterator[None]:
    """Make the tables of an empty file; the first lines are written inside."""
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
    with transaction(connection):
        connection.execute(_LINES)
        yield
        add_head(connection, place)


def is_ours(connection: sqlite3.Connection) -> bool:
    """Return whether a ledger made the file, and not another program."""
    return bool(connection.execute("PRAGMA application_id").fetchone()[0] == _APPLICATION)


def has_head(connection: sqlite3.Connection) -> bool:
    """Return whether the file has a table that names its last line."""
    query = "SELECT count(*) FROM sqlite_master WHERE name = 'head'"
    return bool(connection.execute(query).fetchone()[0])


def add_head(connection: sqlite3.Connection, place: str) -> None:
    """Let the file say which line is its last, from now on, and where it lies."""
    for statement in _HEAD:
        connection.execute(statement)
    connection.execute(
        "INSERT INTO head SELECT 1, position, digest, ? FROM lines ORDER BY position DESC LIMIT 1",
        (place,),
    )


def read_rows(connection: sqlite3.Connection, first: int) -> list[Row]:
    """The lines from a number on, each beside what the file says of its last one."""
    return connection.execute(_READ, (first,)).fetchall()


_LOGGED = (
    1  # the format whose files have a write-ahead log, and no head: they are brought up to date
)
BUSY_SECONDS = 60.0


class Cursor(NamedTuple):
    """Position up to which the file has been read, and the state there."""

    state: State = State()
    position: int = -1
    digest: str = ""
    header: str = ""

    def next_line(self, text: str, state: State) -> tuple[str, Cursor]:
        """Return a new line as it is written, with its nonce, and the cursor behind it."""
        line = add_nonce(text)
        return line, Cursor(state, self.position + 1, _digest(self.digest, line), self.header)


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
    witnesses : tuple of callable
        All are told of each head before a charge counts.
    moved : bool
        Whether a file that lies elsewhere than it remembers is taken as it is, from now on.
    """

    def __init__(
        self,
        path: str,
        header: dict[str, Any],
        durable: bool = True,
        witnesses: tuple[Witness, ...] = (),
        moved: bool = False,
    ) -> None:
        self.path, self.header, self.durable = path, header, durable
        self.witnesses, self._moved = witnesses, moved
        self._connection: sqlite3.Connection | None = None
        self._closer: Any = None
        self._process = os.getpid()
        self._inode: tuple[int, int] | None = None
        self._cursor = Cursor()

    def create(self, state: State = State(), must_exist: bool = False) -> None:  # noqa: B008
        """Make the file with what is known so far, unless it is there already."""
        if self._is_there(must_exist):
            return
        if self.durable:
            refuse_disk(self.path)
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
            for ending in ("", "-journal"):
                with suppress(FileNotFoundError):
                    os.unlink(fresh + ending)
        sync_folder(self.path)

    def _is_there(self, must_exist: bool) -> bool:
        """Return whether the file exists; refuse leftovers without it, since SQLite would read them."""
        if os.path.exists(self.path):
            return True
        for left in (f"{self.path}-journal", f"{self.path}-wal"):
            if os.path.exists(left):
                raise OSError(
                    f"The ledger {self.path!r} is missing but its journal {left!r} is there; restore the ledger, or "
                    "remove the journal."
                )
        if any(isinstance(one, WitnessFile) and one.heads() for one in self.witnesses):
            raise FileNotFoundError(
                f"The ledger {self.path!r} is missing but its witness has seen charges; restore the newest file, or "
                "give a new ledger a witness of its own."
            )
        if must_exist:
            raise FileNotFoundError(
                f"There is no ledger at {self.path!r}; check the path, or leave out must_exist to create one."
            )
        return False

    def _fill(self, path: str, *lines: str) -> None:
        if os.path.isdir(os.path.dirname(path)):  # else SQLite says it
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        connection = connected(path, self.durable, BUSY_SECONDS)
        try:
            with new_tables(connection, place_of(path, os.path.basename(self.path))):
                cursor = Cursor()
                for line in lines:
                    cursor = self._append(connection, cursor, line, cursor.state)
        finally:
            connection.close()

    def in_place(self) -> bool:
        """Return whether the file that was opened is still there."""
        return self._inode is not None and self._inode == _inode(self.path)

    @property
    def made(self) -> str:
        """Identity of this ledger, unlike that of any other."""
        return str(json.loads(self._cursor.header)["id"])

    @property
    def head(self) -> Head:
        """The last line that this process knows of."""
        return Head(self.made, self._cursor.position, self._cursor.digest)

    def digests(self) -> list[str]:
        """Return the digests of all lines, first to last; each follows from the one before."""
        self.read()
        rows = self._open().execute("SELECT digest FROM lines ORDER BY position")
        return [digest for (digest,) in rows]

    def close(self) -> None:
        """Let go of the file; the next charge opens it again."""
        if self._connection is not None:
            self._closer.detach()
            close_own(self._connection, self._process)
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        found = _inode(self.path)
        if found is None or self._inode not in (None, found):
            raise FileNotFoundError(
                f"The ledger's file {self.path!r} was removed or replaced; nothing was charged. Put it back, "
                "or open another ledger."
            )
        refuse_second_name(self.path)
        if self._process != os.getpid():
            self.close()
        if self._connection is None:
            self._inode, self._process = found, os.getpid()
            self._connection = self._connect()
            self._closer = weakref.finalize(self, close_own, self._connection, self._process)
        else:
            forget_pages(self._connection)
        return self._connection

    def _connect(self) -> sqlite3.Connection:
        """A connection to a file that is a ledger, up to date, and where it belongs."""
        if self.durable:
            refuse_disk(self.path)
        log = f"{self.path}-wal"
        if os.path.exists(log) and os.path.getsize(log):
            raise OSError(
                f"The ledger {self.path!r} is in use by an earlier version of skdp, or was when its process died: "
                f"{log!r} holds charges that damage can hide. End that process, or open and close it once there."
            )
        connection = connected(self.path, self.durable, BUSY_SECONDS)
        try:
            self._check_kind(connection)
            connection.execute("PRAGMA journal_mode = DELETE")  # of a file of the first format
            self._bring_up_to_date(connection)
            self._settle(connection)
            if self.witnesses:
                self._ask_witnesses(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _bring_up_to_date(self, connection: sqlite3.Connection) -> None:
        """Give a file of the first format a head; one of a later format that has none is damaged."""
        if has_head(connection):
            return
        with transaction(connection):
            rows = connection.execute("SELECT position, text, digest FROM lines ORDER BY position")
            cursor = self._follow(Cursor(), rows.fetchall())
            if json.loads(cursor.header)["format"] != _LOGGED:
                raise _no_ledger(self.path, "the table of its last line is gone")
            if not has_head(connection):  # nobody was faster
                add_head(connection, place_of(self.path))

    def _settle(self, connection: sqlite3.Connection) -> None:
        """Refuse a file that lies elsewhere than it remembers, unless its user says that it was moved."""
        here = place_of(self.path)
        (remembered,) = connection.execute("SELECT place FROM head").fetchone() or ("",)
        if remembered == here or not self.durable:
            return
        if not self._moved:
            raise ValueError(
                f"The ledger {self.path!r} is a copy, or was moved, renamed or restored; nothing was charged. If no "
                "other copy will ever be charged and this is the newest, open it with moved=True."
            )
        before = os.path.join(os.path.dirname(self.path), remembered.split(" ", 2)[-1])
        left = f"{before}-journal"
        if before != self.path and os.path.exists(left):  # under this name SQLite has used it
            raise OSError(
                f"The ledger {self.path!r} was renamed while a charge was written, which {left!r} can undo; give "
                "both their old names, open it there once, and rename it then."
            )
        with transaction(connection):
            known = self._caught_up(connection)
            text = json.dumps({"entries": [], "moved": today()}, separators=(",", ":"))
            written = self._append(connection, known, text, known.state)
            connection.execute("UPDATE head SET place = ?", (here,))
        self._cursor, self._moved = written, False

    def _ask_witnesses(self, connection: sqlite3.Connection) -> None:
        """Hold the lines against what each witness was told, and tell it how far they go now."""
        rows = self._rows(connection, 0)
        identity = str(json.loads(rows[0][1])["id"])
        for witness in self.witnesses:
            refuse_stranger(self.path, witness, identity)
            refuse_rollback(self.path, witness, [digest for _, _, digest, _ in rows])
        for witness in self.witnesses:
            witness(Head(identity, rows[-1][0], rows[-1][2]))

    def _said(self, error: sqlite3.DatabaseError) -> Exception:
        """Translate an SQLite error into one plain sentence."""
        if not isinstance(error, sqlite3.OperationalError):
            return _no_ledger(self.path, str(error))
        if "locked" not in str(error) and "busy" not in str(error):
            return OSError(f"The ledger at {self.path!r} cannot be used: {error}.")
        return TimeoutError(
            f"The ledger at {self.path!r} was busy for {BUSY_SECONDS:g} s; nothing was charged, so try "
            "again when the process that holds it has ended."
        )

    def read(self) -> State:
        """Return the present state of the file."""
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
            after = self._at_once(connection, step) or self._alone(connection, step)
        except sqlite3.DatabaseError as error:
            raise self._said(error) from None
        for witness in self.witnesses:  # if one fails, the charge stays and is not answered upon
            witness(self.head)
        return after

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
        line, written = before.next_line(difference(before.state, after), after)
        given = (written.position, line, written.digest, before.position, before.digest)
        if connection.execute(WRITE_NEXT, given).rowcount != 1:
            return None
        self._cursor = written
        return after

    def _alone(self, connection: sqlite3.Connection, step: Callable[[State], State]) -> State:
        """The next state, decided and written while nobody else can write."""
        with transaction(connection):
            before = self._cursor = self._caught_up(connection)
            after = step(before.state)
            written = self._append(connection, before, difference(before.state, after), after)
        self._cursor = written
        return after

    @staticmethod
    def _append(connection: sqlite3.Connection, before: Cursor, text: str, state: State) -> Cursor:
        line, after = before.next_line(text, state)
        connection.execute(
            "INSERT INTO lines VALUES (?, ?, ?)", (after.position, line, after.digest)
        )
        return after

    def _caught_up(self, connection: sqlite3.Connection) -> Cursor:
        """The cursor after all lines that are new, the last of which must be the last that was written."""
        cursor = self._cursor
        rows = self._rows(connection, max(cursor.position, 0))
        if cursor.position >= 0 and rows[0][::2] != (cursor.position, cursor.digest):
            raise _no_ledger(self.path, "lines that were there are gone")
        cursor = self._follow(cursor, [row[:3] for row in rows[cursor.position >= 0 :]])
        if rows[-1][3] != f"{cursor.position} {cursor.digest}":
            raise _no_ledger(self.path, "its last line is not the last that was written")
        return cursor

    def _rows(self, connection: sqlite3.Connection, first: int) -> list[Row]:
        rows = read_rows(connection, first)
        if not rows:
            raise _no_ledger(self.path, "lines that were there are gone")
        return rows

    def _follow(self, cursor: Cursor, rows: list[tuple[int, str, str]]) -> Cursor:
        """Return the cursor behind some more lines, each of which must follow from the one before."""
        for position, text, digest in rows:
            if position != cursor.position + 1 or digest != _digest(cursor.digest, text):
                raise _no_ledger(self.path, f"line {position} does not follow from the one before")
            if position == 0:
                self._check_header(text)
            state = cursor.state if position == 0 else added(cursor.state, text)
            cursor = Cursor(state, position, digest, text if position == 0 else cursor.header)
        return cursor

    def _check_kind(self, connection: sqlite3.Connection) -> None:
        if not is_ours(connection):
            raise _no_ledger(self.path, "another program made it")

    def _check_header(self, text: str) -> None:
        made = json.loads(text)
        for name, wanted in self.header.items():
            if made.get(name) != wanted and (name, made.get(name)) != ("format", _LOGGED):
                raise ValueError(
                    f"The ledger at {self.path!r} was made with {name}={_shown(made.get(name))}, and this one "
                    f"has {_shown(wanted)}; open it as it was made, or give another path."
                )


def _digest(before: str, text: str) -> str:
    return hashlib.sha256(f"{before}\n{text}".encode()).hexdigest()


def _no_ledger(path: str, why: str) -> ValueError:
    return ValueError(
        f"The file {path!r} is not an intact ledger ({why}); nothing was charged. Restore the newest copy: an older "
        "one does not know of later charges."
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
