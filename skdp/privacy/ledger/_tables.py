"""The tables of a ledger's file, and connections to them.

The journal is a rollback journal, which is there only while a charge is written, and not a write-ahead log: of a log
SQLite drops everything after the first damaged byte without a word, and it is found by the file's name. A second table
holds the number and the digest of the last line, so that lines cannot vanish from the end either, and the file's place.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeAlias

__all__ = [
    "INHERITED",
    "WRITE_NEXT",
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
