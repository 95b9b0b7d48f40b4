"""Lists of a vault, and scores of their documents."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..losses import Lists
from ._records import Records

__all__ = ["lists_of", "scores_at"]

Array = np.ndarray[Any, Any]


def lists_of(records: Records) -> Lists:
    """Lists that are not empty; where records are rows, each is a list of its own."""
    if records.units is None:
        return Lists(np.arange(len(records.rows) + 1))
    return Lists.of(records.units.offsets)


def scores_at(w: Array, rows: Any) -> Array:
    """Scores of documents, in double precision, each made of its own row; those that overflow are not numbers."""
    return np.asarray(rows.dot(w), dtype=np.float64)
