"""Noisy counts.

* `Count`: the number of records, where that is private.
* `ColumnCounts`: records in each octave of each column.
* `CellCounts`: records in cells, for accuracy, confusion matrices and histograms of scores.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..exceptions import NotSupported
from ..privacy.events import Event
from ._kernels import UNIT, cells_of, pairwise_total
from ._mechanism import Additive, Array, Mechanism, freeze_fields
from ._octaves import BINS, bins_of
from ._public import Public
from ._records import Records

__all__ = ["CellCounts", "ColumnCounts", "Count"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Count(Additive):
    """The number of records plus Gaussian noise, for add/remove neighbours.

    See Also
    --------
    Public : Says whether n is public.

    Examples
    --------
    >>> from skdp.mechanisms import Count, Public
    >>> public = Public(n=None, n_features=2, intercept=0.0, neighbors="add_remove")
    >>> Count(multiplier=5.0).sensitivity(public)
    1.0
    """

    proof: ClassVar[str] = "count"
    covers_units: ClassVar[bool] = True
    of_lists: ClassVar[bool] = True
    covers_users: ClassVar[bool] = True

    def bound(self, public: Public) -> float:
        """A record counts once."""
        return 1.0

    def size(self, public: Public) -> int:
        """Return 1, the number of entries."""
        return 1

    def rounding(self, public: Public) -> float:
        """Bound the rounding of a quotient on the lattice; the count, an integer, has none."""
        return 4.0 * UNIT * public.most

    def sensitivity(self, public: Public) -> float:
        """Adding a record moves the count by one."""
        if public.replace_one:
            raise NotSupported(
                "neighbors='replace_one' makes n public; read public.n, which is free."
            )
        return 1.0

    def measure(self, records: Records) -> Array:
        """The count."""
        return np.array(float(len(records)))


AT_A_TIME = 4096  # rows whose bins are worked out together


@dataclass(frozen=True, eq=False, kw_only=True)
class ColumnCounts(Additive):
    """Histograms of all columns over the octaves of the doubles, plus Gaussian noise on every bin.

    An entry of a row stands for a place on the line of octaves. Every row is in one bin of every column, so that it
    needs no bound that somebody would have to know.

    Parameters
    ----------
    multiplier : float
        Standard deviation of the noise over the root of the number of columns.
    scale : float
        What an entry of a row is multiplied by to be a place.

    See Also
    --------
    ColumnMoments : Means and squares, once the bounds are known.

    Examples
    --------
    >>> from skdp.mechanisms import ColumnCounts, Public
    >>> public = Public(n=1000, n_features=2, intercept=0.0, neighbors="replace_one")
    >>> ColumnCounts(multiplier=10.0).sensitivity(public)  # a record leaves a bin and enters another, in 2 columns
    2.0
    """

    scale: float = 1.0

    proof: ClassVar[str] = "column_counts"

    def __post_init__(self) -> None:
        freeze_fields(self, scales=("multiplier",), bounds=("scale",))

    def bound(self, public: Public) -> float:
        """A record counts once in each column."""
        return math.sqrt(public.n_features)

    def size(self, public: Public) -> int:
        """All bins of all columns."""
        return BINS * public.n_features

    def sensitivity(self, public: Public) -> float:
        """Two unit vectors of a column are at most sqrt(2) apart, not 2."""
        return math.sqrt(public.sensitivity_factor * public.n_features)

    def sampled_event(self, public: Public, rate: float) -> Event:
        """Refuse: scales are bought of all records."""
        return Mechanism.sampled_event(self, public, rate)

    def measure(self, records: Records) -> Array:
        """The counts, one column after the other."""
        width = records.public.n_features
        counts = np.zeros(BINS * width, dtype=np.int64)
        starts = BINS * np.arange(width)
        for first in range(0, len(records), AT_A_TIME):
            rows = records.rows.take(slice(first, first + AT_A_TIME)).to_dense()[:, :width]
            bins = bins_of(rows * self.scale) + starts
            counts += np.bincount(bins.ravel(), minlength=len(counts))
        return counts.astype(np.float64)


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
        """Refuse: evaluation is of all records."""
        return Mechanism.sampled_event(self, public, rate)

    def measure(self, records: Records) -> Array:
        """The counts; of units, sums of what their rows weigh."""
        cells = cells_of(records.y, self.cells)
        counts = np.bincount(cells, minlength=self.cells)
        if records.units is None:
            return counts.astype(np.float64)
        weights = records.shared(np.ones(len(cells)))[np.argsort(cells, kind="stable")]
        return np.array([pairwise_total(part) for part in np.split(weights, counts.cumsum()[:-1])])
