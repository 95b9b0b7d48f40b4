"""A ledger as lines of text: what one state has that another had not. Nothing is rounded or recomputed.

Totals are whole numbers and are read as they stand: prices found anew, by another version of a
library, could round the other way and lose what was paid.
"""

from __future__ import annotations

import json
from typing import Any

from .._book import Book
from .._shifted import AnyBook, ShiftedBook
from ..events import read_script, written_script
from ..spec import Spec
from ._state import Entry, State, Totals

__all__ = ["added", "difference"]


def difference(before: State, after: State) -> str:
    """One line that leads from a state to a later one."""
    changed = {
        part: _written(totals)
        for part, totals in after.totals.items()
        if before.totals.get(part) is not totals
    }
    line: dict[str, Any] = {"entries": [_entry(entry) for entry in after.since(before)]}
    if after.books != before.books:
        line["books"] = [_book(book) for book in after.books]
    if after.parts != before.parts:
        line["parts"] = after.parts
    if changed:
        line["totals"] = changed
    if after.closed:
        line["closed"] = True
    return json.dumps(line, separators=(",", ":"))


def added(state: State, text: str) -> State:
    """The state with one more line."""
    line = json.loads(text)
    if "books" in line:
        state = state._replace(books=tuple(_read_book(book) for book in line["books"]))
    if "parts" in line:
        state = state._replace(parts=tuple(line["parts"]), totals={})
    totals = {part: _read(plain) for part, plain in line.get("totals", {}).items()}
    state = state._replace(totals={**state.totals, **totals}, closed=line.get("closed", False))
    for plain in line["entries"]:
        state = state._replace(log=state.plus(_read_entry(plain)))
    return state


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "script": written_script(entry.script),
        "parts": entry.parts,
        "what": entry.what,
        "when": entry.when,
    }


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


def _written(totals: Totals) -> list[list[str] | None]:
    return [None if total is None else list(map(str, total)) for total in totals]


def _read(plain: list[list[str] | None]) -> Totals:
    return tuple(None if text is None else tuple(map(int, text)) for text in plain)
