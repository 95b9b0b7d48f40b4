"""Lists of a vault, and scores of their documents."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..losses import Lists
from ._records import Records

__all__ = ["lists_of", "scores_at", "shares_of"]

Array = np.ndarray[Any, Any]


def lists_of(records: Records) -> Lists:
    """Lists that are not empty; where records are rows, each is a list of its own."""
    if records.units is None:
        return Lists(np.arange(len(records.rows) + 1))
    begins = records.units.begins
    if begins is not None:
        return Lists(np.append(np.flatnonzero(begins), len(begins)))
    return Lists.of(records.units.offsets)


def shares_of(records: Records, lists: Lists) -> Array | None:
    """Return the weight of each list in its unit; None where a list is a unit."""
    units = records.units
    if units is None or units.begins is None:
        return None
    return units.weights.take(lists.offsets[:-1])


def scores_at(w: Array, rows: Any) -> Array:
    """Scores of documents, in double precision, each made of its own row; those that overflow are not numbers."""
    return np.asarray(rows.dot(w), dtype=np.float64)
