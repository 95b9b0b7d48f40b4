"""Declared columns and their places in a table; options that all transformers share."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np

from ..entry import cells_of
from ..fitting.data import as_text
from ._blocks import CONTRASTS, INDICATOR, UNKNOWN
from ._declaration import Categories, Declared, Numbers
from ._reading import did_you_mean

__all__ = ["OTHER", "Column", "all_of", "place_of", "refuse_unless", "refuse_word"]

OTHER: dict[type, str] = {Numbers: "DeclaredEncoder", Categories: "BoundsScaler"}


class Column(NamedTuple):
    """Declared column: its place in the table, its name, and its declaration."""

    place: int
    name: str
    declared: Declared

    def cells(self, table: Any) -> Any:
        """The cells of this column in a checked table; of numbers, as floats."""
        return cells_of(table, self.place, self.name, isinstance(self.declared, Numbers))


def refuse_unless(given: dict[str, Any]) -> None:
    """Refuse options of blocks that there are not.

    Parameters
    ----------
    given : dict
        contrasts, unknown, missing: those that a transformer has.
    """
    for name, known in (("contrasts", CONTRASTS), ("unknown", UNKNOWN)):
        if name in given:
            refuse_word(name, given[name], known)
    missing = given.get("missing", 0.0)
    number = isinstance(missing, int | float) and not isinstance(missing, bool)
    marked = isinstance(missing, str) and missing == INDICATOR
    if not marked and not (number and -1.0 <= missing <= 1.0):
        raise ValueError(
            f"missing={as_text(missing)} must be a place in [-1, 1] (0 is the midpoint of the bounds), or 'indicator'."
        )


def refuse_word(name: str, value: object, known: Collection[str]) -> None:
    """Refuse an unknown word for a parameter, and suggest the word that was probably meant."""
    if not isinstance(value, str) or value not in known:
        raise ValueError(
            f"{name}={as_text(value)} is not known; use one of {', '.join(map(repr, known))}"
            f"{did_you_mean(value, known)}."
        )


def all_of(columns: list[Column], names: list[Any]) -> list[Column]:
    """The columns in the order of the table, if none of it lacks a declaration."""
    bare = set(range(len(names))) - {column.place for column in columns}
    if bare:
        raise ValueError(
            f"Column {names[min(bare)]!r} has no declaration; declare it, or drop it before."
        )
    return sorted(columns, key=lambda column: column.place)


def place_of(key: Any, names: list[Any], named: bool) -> int:
    """Place of a declared column in a table."""
    if key in names and (named or isinstance(key, str)):
        return names.index(key)
    if (
        isinstance(key, int | np.integer)
        and not isinstance(key, bool)
        and -len(names) <= key < len(names)
    ):
        return int(key) % len(names)
    if isinstance(key, str) and not named:
        raise ValueError(
            f"Column {key!r} is declared by its name, and X has no names: pass a frame, or declare places 0, 1, ..."
        )
    raise ValueError(
        f"Column {key!r} is declared, but X does not have it{did_you_mean(key, names)}."
    )
