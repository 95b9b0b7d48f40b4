"""Intake of data for an estimator: checked tables and labels, and texts that show none of it."""

from .._messages import as_text, frames_to_caller
from ..entry import (
    Array,
    affine_of,
    any_table,
    as_numbers,
    attempt,
    codes,
    find_ambiguous,
    grades,
    ids_of,
    is_frame,
    known_labels,
    labels,
    table,
    warn_of_column,
)
from ._parameters import SeedSource, is_count
from ._scores import rows_times, scores

__all__ = [
    "Array",
    "SeedSource",
    "affine_of",
    "any_table",
    "as_numbers",
    "as_text",
    "attempt",
    "codes",
    "find_ambiguous",
    "frames_to_caller",
    "grades",
    "ids_of",
    "is_count",
    "is_frame",
    "known_labels",
    "labels",
    "rows_times",
    "scores",
    "table",
    "warn_of_column",
]
