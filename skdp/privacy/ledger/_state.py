"""All that a ledger knows, as one value that is replaced as a whole: nobody sees half of a charge.

A ledger as lines of text: what one state has that another had not. Nothing is rounded or recomputed.

Totals are whole numbers and are read as they stand: prices found anew, by another version of a
library, could round the other way and lose what was paid. Every line that is written carries a
nonce, 16 random bytes: two equal charges are two lines, also where one of them was rolled back.
"""

from __future__ import annotations

import json
import os
import time
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .._exact import Counted
from .._filter import Book
from .._shifted import AnyBook, ShiftedBook
from ..events import Script, read_script, written_script
from ..spec import Spec

__all__ = [
    "FORMAT",
    "WHOLE",
    "Entry",
    "Log",
    "State",
    "Totals",
    "add_nonce",
    "added",
    "difference",
    "today",
]


WHOLE = ("",)  # the one part of data that were never divided

Totals: TypeAlias = "tuple[Counted | None, ...]"  # one a book; None once the book is out


class Entry(NamedTuple):
    """Charge: what was paid for, on which parts of the data, by whom and when."""

    script: Script
    parts: tuple[str, ...]
    what: str
    when: str  # the date, UTC


class Log(NamedTuple):
    """The charges as a chain from the last to the first: one more costs the same however many there are."""

    before: Log | None
    entry: Entry
    length: int


class State(NamedTuple):
    """Books, what each holds for each part of the data, the charges that led there, and parts that hold no more."""

    books: tuple[Any, ...] = ()
    parts: tuple[str, ...] = WHOLE
    totals: dict[str, Totals] = {}  # by part; never changed in place  # noqa: RUF012
    log: Log | None = None
    closed: frozenset[str] = frozenset()

    @property
    def fits(self) -> int:
        """Number of charges so far."""
        return 0 if self.log is None else self.log.length

    def since(self, before: State) -> list[Entry]:
        """The charges that an earlier state has not, oldest first."""
        out, log, known = [], self.log, before.fits
        while log is not None and log.length > known:
            out.append(log.entry)
            log = log.before
        return out[::-1]

    @property
    def entries(self) -> list[Entry]:
        """All charges, oldest first."""
        return self.since(State())

    def plus(self, entry: Entry) -> Log:
        """The chain with one more charge."""
        return Log(self.log, entry, self.fits + 1)


def today() -> str:
    """The date, UTC. A time of day would say how long fits take, which may depend on records."""
    return _date(int(time.time() // 86400))


@lru_cache(maxsize=1)
def _date(day: int) -> str:
    """The date so many days after 1970 began; a clock that is wrong by millennia refuses nobody."""
    return str(np.datetime64(day, "D"))


FORMAT = 2

_json = json.JSONEncoder(separators=(",", ":")).encode
_BETWEEN = '","'


def difference(before: State, after: State) -> str:
    """Return a line that leads from a state to a later one."""
    # Joined from texts: a charge writes the same entry many times, and one encoder for all takes twice as long.
    line = f'{{"entries":[{",".join(map(_entry, after.since(before)))}]'
    if after.books != before.books:
        line += f',"books":{_json([_book(book) for book in after.books])}'
    if after.parts != before.parts:
        line += f',"parts":{_json(after.parts)}'
    changed = ",".join(
        [
            f"{_json(part)}:{_totals(totals)}"
            for part, totals in after.totals.items()
            if before.totals.get(part) is not totals
        ]
    )
    if changed:
        line += f',"totals":{{{changed}}}'
    if after.closed != before.closed:
        line += f',"closed":{_json(sorted(after.closed))}'
    return line + "}"


def add_nonce(text: str) -> str:
    """Return a line with 16 random bytes of the operating system, which make it unlike every other line."""
    return f'{text[:-1]},"nonce":"{os.urandom(16).hex()}"}}'


def added(state: State, text: str) -> State:
    """The state with one more line."""
    line = json.loads(text)
    if "books" in line:
        state = state._replace(books=tuple(_read_book(book) for book in line["books"]))
    if "parts" in line:
        state = state._replace(parts=tuple(line["parts"]), totals={})
    totals = {part: _read(plain) for part, plain in line.get("totals", {}).items()}
    state = state._replace(totals={**state.totals, **totals})
    if "closed" in line:  # files of the first format close all parts together
        closed = state.parts if line["closed"] is True else line["closed"]
        state = state._replace(closed=frozenset(closed))
    for plain in line["entries"]:
        state = state._replace(log=state.plus(_read_entry(plain)))
    return state


@lru_cache(maxsize=64)
def _entry(entry: Entry) -> str:
    return _json({**entry._asdict(), "script": written_script(entry.script)})


def _read_entry(plain: dict[str, Any]) -> Entry:
    return Entry(
        read_script(plain["script"]),
        tuple(plain["parts"]),
        plain["what"],
        plain["when"],
    )


def _book(book: AnyBook) -> dict[str, Any]:
    spec = book.spec
    return {
        "kind": book.kind,
        "order": book.order,
        "epsilon": spec.epsilon.hex(),
        "delta": spec.delta.hex(),
        "neighbors": spec.neighbors,
    }


def _read_book(plain: dict[str, Any]) -> AnyBook:
    spec = Spec(float.fromhex(plain["epsilon"]), float.fromhex(plain["delta"]), plain["neighbors"])
    if plain["kind"] == "shifted":
        return ShiftedBook(spec, plain["order"])
    return Book(spec, plain["kind"], plain["order"])


def _totals(totals: Totals) -> str:
    """Whole numbers as strings of digits, which no reader rounds."""
    texts = ["null" if t is None else f'["{_BETWEEN.join(map(str, t))}"]' for t in totals]
    return f"[{','.join(texts)}]"


def _read(plain: list[list[str] | None]) -> Totals:
    return tuple(None if text is None else tuple(map(int, text)) for text in plain)
