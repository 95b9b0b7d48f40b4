"""The public facts about a vault: all that a solver may know before it has asked anything."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..models import Linear, Model

__all__ = ["Public"]

MOST = (
    1 << 20
)  # records under add/remove where no rough count is declared: rounding adds 1e-7 to noise
_LINEAR = Linear()


@dataclass(frozen=True)
class Public:
    """What may be known of the records without paying.

    Parameters
    ----------
    n : int or None
        Number of records; None where it is private (add/remove neighbours) and was not declared.
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
    model : Model
        How scores come from parameters and rows.

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
    model: Model = _LINEAR

    @property
    def most(self) -> int:
        """Largest number of records that can be here: n, or a public cap. Rounding of sums is bounded for so many."""
        if self.replace_one and self.n is not None:
            return self.n
        return max(MOST, 16 * (self.n or 0))

    @property
    def width(self) -> int:
        """Columns that a linear model sees: the features and the intercept's."""
        return self.n_features + (self.intercept > 0)

    @property
    def row_bound(self) -> float:
        """Bound B on the norm of a row after scaling, the intercept's column included."""
        return math.hypot(1.0, self.intercept)

    @property
    def replace_one(self) -> bool:
        """Whether a neighbour replaces a record (n public) rather than adds or removes one."""
        return self.neighbors == "replace_one"

    @property
    def sensitivity_factor(self) -> float:
        """How far a sum of contributions of norm at most 1 moves between neighbours: 2 or 1."""
        return 2.0 if self.replace_one else 1.0
