"""The public facts about a vault: all that a solver may know before it has asked anything."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

from ..models import Linear, Model
from ._documents import Documents

__all__ = ["Public"]

MOST = (
    1 << 20
)  # records under add/remove where no rough count is declared: rounding adds 1e-7 to noise
_LINEAR = Linear()


def _derived() -> Any:
    """A fact that follows from the others, worked out once: questions look it up at every step."""
    return field(init=False, repr=False, compare=False)


@dataclass(frozen=True)
class Public:
    """Public facts about the records, known without paying.

    Parameters
    ----------
    n : int or None
        Number of records (units); None where it is private (add/remove neighbours) and was not declared.
    n_features : int
        Number of columns that the user gave.
    intercept : float
        Size of the constant last column, 0 for none.
    neighbors : {"replace_one", "add_remove"}
        Which pairs of data sets are to be indistinguishable.
    target_bound : float
        Bound on the absolute target: 1 for labels in {-1, +1}.
    stretch : float
        Largest norm of a row in memory, where that is not the row that is spoken of; see `Mapped`.
    depth : int
        Columns of the rows in memory, where those are not the ones that are spoken of.
    bought : bool
        Whether rows are a map of the given ones that earlier answers chose: the angle between two depends on these.
    model : Model
        How scores come from parameters and rows.
    rows : int
        Largest number of rows of a unit: what is protected is a row, or a person, a household, a list of up to so many.
        Records are units throughout: n counts them, and neighbours differ in one.
    weighted : bool
        Whether each row has a weight of its own, in [0, 1] and part of its record: contributions are multiplied by it.
    lists : {"labels", "documents"} or None
        Where units are lists of documents that are judged together: what is private of one, its labels or all of it.
    documents : Documents or None
        The documents of all lists, in order, where only labels are private.
    lists_each : int
        Where a unit holds several lists, as a person may: how many of them enter at most, of the same number of rows.
        0: a list is a unit.

    Attributes
    ----------
    width : int
        Columns that a linear model sees: the features and the intercept's.
    row_bound : float
        Bound B on the norm of a row after scaling, the intercept's column included.
    replace_one : bool
        Whether a neighbour replaces a record (n public) rather than adds or removes one.
    sensitivity_factor : float
        How far a sum of contributions of norm at most 1 moves between neighbours: 2 or 1.
    most : int
        Largest number of records that can be here: n, or a public cap.
    most_rows : int
        Largest number of their rows. Rounding of sums is bounded for so many.
    shares : bool
        Whether rows may enter with less than a weight of 1: units of several rows, or weighted ones.

    See Also
    --------
    Records : The vault that it speaks of.

    Examples
    --------
    >>> from skdp.mechanisms import Public
    >>> public = Public(n=None, n_features=3, intercept=0.75, neighbors="add_remove")
    >>> public.width, public.row_bound, public.sensitivity_factor
    (4, 1.25, 1.0)
    """

    n: int | None
    n_features: int
    intercept: float
    neighbors: str
    target_bound: float = 1.0
    stretch: float = 0.0
    depth: int = 0
    bought: bool = False
    model: Model = _LINEAR
    rows: int = 1
    weighted: bool = False
    lists: str | None = None
    documents: Documents | None = None
    lists_each: int = 0

    width: int = _derived()
    row_bound: float = _derived()
    replace_one: bool = _derived()
    sensitivity_factor: float = _derived()
    most: int = _derived()
    most_rows: int = _derived()
    shares: bool = _derived()

    def __post_init__(self) -> None:
        if type(self.rows) is not int or self.rows < 1:
            raise ValueError(f"rows={self.rows!r} must be a whole number, 1 or more.")
        replace_one = self.neighbors == "replace_one"
        if type(self.weighted) is not bool:
            raise ValueError(f"weighted={self.weighted!r} must be True or False.")
        _refuse_lists(self)
        private = self.n is None or not replace_one
        most = max(MOST, 16 * (self.n or 0)) if private else self.n
        derived = {
            "width": self.n_features + (self.intercept > 0),
            "row_bound": math.hypot(1.0, self.intercept),
            "replace_one": replace_one,
            "sensitivity_factor": 2.0 if replace_one else 1.0,
            "most": most,
            "most_rows": self.rows * (most or 0),
            "shares": self.rows > 1 or self.weighted or self.lists is not None,
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def of_rows(self) -> Public:
        """Return the facts with every row as a record: a minimiser's rounding is bounded for these."""
        if self.rows == 1:
            return self
        counted = replace(self, n=None if self.n is None else self.n * self.rows, rows=1)
        for name in ("most", "most_rows"):
            object.__setattr__(counted, name, self.most_rows)
        return counted


def _refuse_lists(public: Public) -> None:
    """Refuse what makes no lists: labels alone are private under one relation, and of documents that are all known."""
    if public.lists not in (None, "labels", "documents"):
        raise ValueError(f"lists={public.lists!r} must be 'labels', 'documents' or None.")
    if public.lists == "labels" and public.neighbors != "replace_one":
        raise ValueError("lists='labels' needs neighbors='replace_one': lists are public.")
    if public.lists is not None and public.weighted:
        raise ValueError("lists of documents take no weights; leave them out.")
    each = public.lists_each
    if type(each) is not int or each < 0 or (each and public.rows % each):
        raise ValueError(f"lists_each={each!r} must be 0, or a whole number that divides rows.")
    if each and public.lists != "documents":
        raise ValueError("units hold several lists only where lists='documents'.")
    shown = public.documents
    if shown is None:
        return
    if type(shown) is not Documents or public.lists != "labels":
        raise ValueError("documents are public only where lists='labels'.")
    fits = len(shown) == public.n and shown.rows.width == public.n_features
    if not fits or public.intercept or shown.lists.sizes.max(initial=1) > public.rows:
        raise ValueError(
            "documents do not match n, n_features, rows and intercept=0; declare the numbers of the documents."
        )
