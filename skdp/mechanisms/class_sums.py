"""Counts, sums and sums of squares of the rows of each class."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ._kernels import PIECE, ROUNDINGS, UNIT, add, cells_of, pairwise_total
from ._mechanism import Additive, Array, freeze_fields
from ._public import Public
from ._records import Records
from .moments import FREE

__all__ = ["ClassSums"]

MOST = 1 << 20  # classes
HEAVIEST = 1e3  # weight of counts, and of squares
AT_ONCE = 1 << 22  # weights of rows in classes that are held at a time
HALF = 0.5  # squares of this weight are free under replace-one, whatever bounds the rows


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassSums(Additive):
    """Count of each class, sum of its rows and sum of their squares, plus Gaussian noise.

    A record adds to the sums of its own class alone, so no price depends on the number of classes. The answer has one
    line for each class: the weighted count, the sum of the rows, and the weighted sum of their squares by column.

    Parameters
    ----------
    classes : int
        Number of classes. A target beyond 0, 1, ... counts in the nearest one.
    counts : float
        Weight of the counts beside the sums; 0 leaves them out.
    squares : float
        Weight of the squares, each over `cap`, beside the sums; 0 leaves them out.
    cap : float
        Bound on each entry of a row where squares are asked; entries beyond it are cut.
    multiplier : float
        Standard deviation of the noise over the bound of one record's contribution.

    See Also
    --------
    ColumnMoments : Of all records together.
    CellCounts : Counts alone.

    Examples
    --------
    >>> from skdp.mechanisms import ClassSums, Public
    >>> public = Public(n=1000, n_features=4, intercept=0.0, neighbors="replace_one")
    >>> ClassSums(classes=2, multiplier=10.0).sensitivity(public)  # of the sums alone: counts are free
    2.0
    >>> ClassSums(classes=500, multiplier=10.0).sensitivity(public)
    2.0
    """

    proof: ClassVar[str] = "class_sums"
    covers_units: ClassVar[bool] = True
    classes: int = 2
    counts: float = 1.0
    squares: float = 0.0
    cap: float = 1.0

    def __post_init__(self) -> None:
        freeze_fields(self, scales=("multiplier", "counts", "squares"), bounds=("cap",))
        if type(self.classes) is not int or not 2 <= self.classes <= MOST:
            raise ValueError(f"classes={self.classes!r} must be a whole number from 2 to {MOST}.")
        for name in ("counts", "squares"):
            if getattr(self, name) > HEAVIEST:
                raise ValueError(
                    f"{name}={getattr(self, name):g} must be at most {HEAVIEST:g}: it is a weight beside the sums."
                )

    def bound(self, public: Public) -> float:
        """A weighted 1, a row, and its weighted squares."""
        return math.sqrt(self._square(public))

    def size(self, public: Public) -> int:
        """Return the number of entries: as many for each class."""
        return self.classes * self._width(public)

    def sensitivity(self, public: Public) -> float:
        """The larger of two distances: of records of two classes, and of two rows of one class (see the page)."""
        if not public.replace_one:
            return self.bound(public)
        row = self._square_of_row(public)
        free = FREE if self._in_box(public) else HALF
        apart = row if self.squares <= free else row * (1.0 + self.squares**2)
        return math.sqrt(max(2.0 * self._square(public), 4.0 * apart))

    def rounding(self, public: Public) -> float:
        """Bound the rounding of the sums; mapped rows are summed as stored, which may be longer."""
        if not public.stretch:
            return super().rounding(public)
        longest = max(self.bound(public), public.stretch)
        return (ROUNDINGS + public.depth) * UNIT * public.most_rows * longest

    def refuse_in(self, seen: Public) -> None:
        """Refuse squares, whose entries would be those of other columns; new rows are bounded in norm, as these are."""
        if self.squares:
            super().refuse_in(seen)

    def measure(self, records: Records) -> Array:
        """The weighted counts, sums and squares: a line for each class."""
        total = np.zeros((self.classes, self._width(records.public)))
        lost = np.zeros_like(total)
        cells = cells_of(records.y, self.classes)
        share = records.shared(np.ones(len(cells)))
        step = PIECE if self.squares else max(PIECE, AT_ONCE // self.classes)
        for first in range(0, len(cells), step):
            part = slice(first, first + step)
            here, line = np.unique(cells[part], return_inverse=True)
            weights = (line[:, None] == np.arange(len(here))) * share[part, None]
            sums, rest = total[here], lost[here]
            add(sums, rest, self._sums(records.rows.take(part), weights))
            total[here], lost[here] = sums, rest
        return np.asarray(total + lost)

    def _sums(self, rows: Any, weights: Array) -> Array:
        """A line for each column of weights: the weighted sums of what rows contribute."""
        if self.squares:
            return np.asarray(weights.T @ self._contributions(rows.to_dense()))
        counted = self.counts * pairwise_total(weights)
        sums = [counted[:, None]] if self.counts else []
        return np.hstack([*sums, rows.tdot(weights).T])

    def split(self, answer: Array) -> tuple[Array, Array, Array]:
        """Counts, sums and sums of squares from an answer, without their weights.

        Parameters
        ----------
        answer : ndarray of shape (n_classes, ...)
            As an oracle gave it.

        Returns
        -------
        counts, sums, squares : ndarray
            Of shape (n_classes,) and twice (n_classes, width); those that were left out are empty.
        """
        counted = int(self.counts > 0.0)
        counts, rest = answer[:, :counted] / (self.counts or 1.0), answer[:, counted:]
        if not self.squares:
            return counts.ravel(), rest, rest[:, :0]
        width = rest.shape[1] // 2
        return counts.ravel(), rest[:, :width], rest[:, width:] * (self.cap / self.squares)

    def _contributions(self, rows: Array) -> Array:
        np.clip(rows, -self.cap, self.cap, out=rows)
        counts = [np.full((len(rows), 1), self.counts)] if self.counts else []
        return np.hstack([*counts, rows, self.squares * (np.square(rows) / self.cap)])

    def _width(self, public: Public) -> int:
        """Return the number of entries of a line."""
        return int(self.counts > 0.0) + public.width * (1 + (self.squares > 0.0))

    def _square(self, public: Public) -> float:
        """Square of the bound."""
        row = self._square_of_row(public)
        return self.counts**2 + row * (1.0 + self.squares**2)

    def _square_of_row(self, public: Public) -> float:
        """Bound the squared norm of a row, whose entries are cut where squares are asked."""
        if not self.squares:
            return public.row_bound**2
        return min(public.row_bound**2, public.width * self.cap**2)

    def _in_box(self, public: Public) -> bool:
        """Return True if the cap of the entries says all that is known of a row."""
        return public.width * self.cap**2 <= public.row_bound**2
