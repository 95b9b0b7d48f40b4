"""Counts of records in each octave of each column."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..privacy.events import Event
from ._mechanism import Additive, Array, Mechanism, freeze_fields
from ._octaves import BINS, bins_of
from ._public import Public
from ._records import Records

__all__ = ["ColumnCounts"]

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
        """Refused: scales are bought of all records."""
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
