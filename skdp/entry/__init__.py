"""Trusted: the tables that users give, and the ways in which a program may look at them.

A `Table` holds rows, targets, owners and weights, and shows them to nobody. A program looks at it through a `View`: a
registered map of single records, whose parameters are public numbers or answers that were paid for. What comes out is
a vault, which an oracle asks.
"""

from ._table import Table
from ._targets import middle_and_half, onto_unit
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
    "VIEWS",
    "ClassCodes",
    "ColumnPlaces",
    "ListLabels",
    "RowLengths",
    "Rows",
    "Table",
    "View",
    "affine_of",
    "middle_and_half",
    "onto_unit",
    "to_columns",
]
