"""The last script that a ledger was asked for, checked and priced: a search charges equal ones one after another.

Adding a price takes less time than finding it by its script, whose events are hashed anew each time.
"""

from __future__ import annotations

from typing import Any

from ...exceptions import NotSupported
from .._counting import Counted
from .._shifted import AnyBook
from ..events import Script, checked, tally
from ._state import Totals

__all__ = ["Repeats"]

Ways = tuple[tuple[Counted, ...], ...]


class Repeats:
    """Cache of the last script that was checked and the last that was priced."""

    def __init__(self) -> None:
        self._checked: tuple[Any, Script] = (None, ())
        self._priced: tuple[Any, Any, list[int], Ways] = (None, None, [], ())

    def checked(self, script: Any) -> Script:
        """The script as runs of events, or a refusal of what is none."""
        given, found = self._checked
        if given is script:
            return found
        found = checked(script)
        tally(found)
        # What can change in place is looked at each time.
        if type(script) is tuple and all(type(run) is tuple for run in script):
            self._checked = (script, found)
        return found

    def ways(self, books: tuple[AnyBook, ...], totals: Totals, script: Script) -> Ways:
        """Return for each book the alternative prices of the script; empty where a book has none."""
        known, priced, at, found = self._priced
        levels = [0 if t is None else book.level(t) for book, t in zip(books, totals)]
        if known is books and priced is script and at == levels:
            return found
        found = tuple(_ways_of(book, script, level) for book, level in zip(books, levels))
        self._priced = (books, script, levels, found)
        return found


def _ways_of(book: AnyBook, script: Script, level: int) -> tuple[Counted, ...]:
    try:
        return book.ways(script, level)
    except NotSupported:
        return ()
