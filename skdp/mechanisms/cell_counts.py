"""Counts of records in cells: accuracy, confusion matrices, histograms of scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..privacy.events import Event
from ._cells import cells_of
from ._kernels import UNIT, pairwise_total
from ._mechanism import Additive, Array, Mechanism
from ._public import Public
from ._records import Records

__all__ = ["CellCounts"]

MOST = 1 << 20  # cells


@dataclass(frozen=True, eq=False, kw_only=True)
class CellCounts(Additive):
    """Counts of the targets 0, 1, ... plus Gaussian noise; every row is in one cell, for what it weighs.

    Parameters
    ----------
    cells : int
        Number of cells. A target beyond them counts in the nearest one.

    See Also
    --------
    MeanLoss : Where records have numbers rather than cells.

    Examples
    --------
    >>> from skdp.mechanisms import CellCounts, Public
    >>> public = Public(n=1000, n_features=1, intercept=0.0, neighbors="replace_one")
    >>> round(CellCounts(cells=4, multiplier=2.0).sensitivity(public), 6)  # sqrt(2), not 2
    1.414214
    """

    proof: ClassVar[str] = "cell_counts"
    covers_units: ClassVar[bool] = True
    cells: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if type(self.cells) is not int or not 1 <= self.cells <= MOST:
            raise ValueError(f"cells={self.cells!r} must be a whole number from 1 to {MOST}.")

    def bound(self, public: Public) -> float:
        """A record counts once."""
        return 1.0

    def size(self, public: Public) -> int:
        """Return the number of cells."""
        return self.cells

    def sensitivity(self, public: Public) -> float:
        """A replaced record leaves one cell for another: sqrt(2), and nothing where there is but one cell."""
        return math.sqrt(public.sensitivity_factor)

    def rounding(self, public: Public) -> float:
        """Bound the rounding of sums of weights and of quotients on the lattice; whole counts are exact."""
        quotients = 4.0 * UNIT * public.most * math.sqrt(self.cells)
        return quotients + (super().rounding(public) if public.shares else 0.0)

    def sampled_event(self, public: Public, rate: float) -> Event:
        """Refused: evaluation is of all records."""
        return Mechanism.sampled_event(self, public, rate)

    def measure(self, records: Records) -> Array:
        """The counts; of units, sums of what their rows weigh."""
        cells = cells_of(records.y, self.cells)
        counts = np.bincount(cells, minlength=self.cells)
        if records.units is None:
            return counts.astype(np.float64)
        weights = records.shared(np.ones(len(cells)))[np.argsort(cells, kind="stable")]
        return np.array([pairwise_total(part) for part in np.split(weights, counts.cumsum()[:-1])])
