"""All that a ledger knows, as one value that is replaced as a whole: nobody sees half of a charge."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .._counting import Counted
from ..events import Script

__all__ = ["WHOLE", "Entry", "Log", "State", "Totals", "today"]

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
