"""Trusted: the tables that users give, and the ways in which a program may look at them.

`Given` holds what a user passed to a fit; a `Reader`, which is a registered value, says what its cells and targets are,
and closes it. A `Table` holds rows, targets, owners and weights, and shows them to nobody. A program looks at it
through a `View`: a registered map of single records, whose parameters are public numbers or answers that were paid
for. What comes out is a vault, which an oracle asks.
"""

from ._arrays import (
    Array,
    any_table,
    attempt,
    is_frame,
    known_labels,
    labels,
    table,
    warn_of_column,
)
from ._cells import as_numbers, cells_of, codes, find_ambiguous, numbers_of, read_cell
from ._classes import are_text, read_classes
from ._intake import READERS, Facts, Given, Grades, Labels, Numbers, Reader, Unlabelled
from ._table import Table
from ._targets import grades, middle_and_half, onto_unit, read_targets, targets
from ._units import by_class, ids_of, sizes_of
from ._views import (
    VIEWS,
    ClassCodes,
    ColumnPlaces,
    ListLabels,
    RowLengths,
    Rows,
    View,
    affine_of,
    to_columns,
)

__all__ = [
    "READERS",
    "VIEWS",
    "Array",
    "ClassCodes",
    "ColumnPlaces",
    "Facts",
    "Given",
    "Grades",
    "Labels",
    "ListLabels",
    "Numbers",
    "Reader",
    "RowLengths",
    "Rows",
    "Table",
    "Unlabelled",
    "View",
    "affine_of",
    "any_table",
    "are_text",
    "as_numbers",
    "attempt",
    "by_class",
    "cells_of",
    "codes",
    "find_ambiguous",
    "grades",
    "ids_of",
    "is_frame",
    "known_labels",
    "labels",
    "middle_and_half",
    "numbers_of",
    "onto_unit",
    "read_cell",
    "read_classes",
    "read_targets",
    "sizes_of",
    "table",
    "targets",
    "to_columns",
    "warn_of_column",
]
