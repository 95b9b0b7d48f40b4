"""Sums and sums of squares of columns that public bounds map to [-1, 1]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..privacy.events import Event
from ._kernels import PIECE, add
from ._mechanism import Additive, Array, Mechanism, freeze_fields
from ._octaves import numbers_at, to_unit
from ._public import Public
from ._records import Records

__all__ = ["ColumnMoments"]

# Squares of this weight are free under replace-one: the largest c with 4 >= p^2 (1 + c^2 q^2) on |p| + |q| <= 2 is
# sqrt(phi^5 / 4) = 1.66509..., phi the golden ratio (docs/proofs/column_moments.md).
FREE = 1.665


@dataclass(frozen=True, eq=False, kw_only=True)
class ColumnMoments(Additive):
    """The sum of every column and the sum of its squares, weighted, plus Gaussian noise.

    An entry of a row stands for a place on the line of octaves, as in `ColumnCounts`; the number there is mapped to
    [-1, 1] by the bounds of its column, and a missing one counts as 0.

    Parameters
    ----------
    multiplier : float
        Standard deviation of the noise over the bound of one record's contribution.
    low, high : ndarray of shape (n_features,)
        Public bounds; where both are equal, the number's sign is taken.
    scale : float
        What an entry of a row is multiplied by to be a place.

    See Also
    --------
    ColumnCounts : Finds the bounds.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.mechanisms import ColumnMoments, Public
    >>> public = Public(n=1000, n_features=4, intercept=0.0, neighbors="replace_one")
    >>> question = ColumnMoments(multiplier=10.0, low=-np.ones(4), high=np.ones(4))
    >>> question.sensitivity(public)  # of the sums alone: squares are free
    4.0
    """

    low: Array
    high: Array
    scale: float = 1.0

    proof: ClassVar[str] = "column_moments"

    def __post_init__(self) -> None:
        freeze_fields(self, scales=("multiplier",), bounds=("scale",))
        for name in ("low", "high"):  # huge bounds are fine: they are clipped to, and not summed
            array = np.array(getattr(self, name), dtype=np.float64)
            if not np.isfinite(array).all():
                raise ValueError(f"ColumnMoments was given {name} that is not finite; use doubles.")
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    def weight(self, public: Public) -> float:
        """Weight of the squares beside the sums."""
        return FREE if public.replace_one else 1.0

    def bound(self, public: Public) -> float:
        """A number in [-1, 1] and its weighted square, in each column."""
        return math.sqrt((1.0 + self.weight(public) ** 2) * public.n_features)

    def size(self, public: Public) -> int:
        """Two numbers a column."""
        shape = (public.n_features,)
        if self.low.shape != shape or self.high.shape != shape or (self.low > self.high).any():
            raise ValueError(
                f"low and high must hold one bound for each of the {shape[0]} columns, with low <= high."
            )
        return 2 * public.n_features

    def sensitivity(self, public: Public) -> float:
        """Return the sensitivity; under replace-one that of the sums alone (see the page)."""
        return 2.0 * math.sqrt(public.n_features) if public.replace_one else self.bound(public)

    def sampled_event(self, public: Public, rate: float) -> Event:
        """Refused: scales are bought of all records."""
        return Mechanism.sampled_event(self, public, rate)

    def measure(self, records: Records) -> Array:
        """Sums, then weighted sums of squares."""
        public = records.public
        total = np.zeros(self.size(public))
        lost = np.zeros_like(total)
        for first in range(0, len(records), PIECE):
            rows = records.rows.take(slice(first, first + PIECE)).to_dense()
            u = to_unit(numbers_at(rows[:, : public.n_features] * self.scale), self.low, self.high)
            squares = self.weight(public) * np.square(u)
            add(total, lost, np.concatenate([u.sum(axis=0), squares.sum(axis=0)]))
        return total + lost
