"""Intake of data for an estimator: checked tables and labels, and texts that show none of it."""

from ..entry import affine_of
from ._cells import as_numbers, codes, find_ambiguous
from ._parameters import SeedSource, as_text, is_count
from ._scores import rows_times, scores
from ._shares import ids_of, unify_kinds
from ._tables import (
    Array,
    any_table,
    attempt,
    is_frame,
    known_labels,
    labels,
    table,
    warn_of_column,
)
from ._targets import grades
from ._warning import frames_to_caller

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
    "unify_kinds",
    "warn_of_column",
]
