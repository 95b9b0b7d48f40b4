"""Noisy moments.

* `SecondMoment`: of the rows, the shape of the data, for whitening and for preconditioning.
* `JointMoments`: of rows and targets together, all that least squares needs, for less noise than one by one.
* `ColumnMoments`: sums and sums of squares of columns that public bounds map to [-1, 1].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..privacy.events import Event
from ._kernels import PIECE, add, pairwise_total
from ._mechanism import Additive, Array, Mechanism, freeze_fields
from ._noise import Noise
from ._octaves import numbers_at, to_unit
from ._public import Public
from ._records import Records

__all__ = ["ColumnMoments", "JointMoments", "SecondMoment", "mean_moment", "triangle"]


@dataclass(frozen=True, eq=False, kw_only=True)
class SecondMoment(Additive):
    """Sum over records of row times row transposed, plus symmetric Gaussian noise.

    The constant column is a column like any other. The answer is a symmetric matrix, not always positive definite.

    See Also
    --------
    Coordinates : What is made of it.

    Examples
    --------
    >>> from skdp.mechanisms import Public, SecondMoment
    >>> public = Public(n=1000, n_features=2, intercept=0.0, neighbors="replace_one")
    >>> round(SecondMoment(multiplier=10.0).sensitivity(public), 6)  # sqrt(2), not 2
    1.414214
    """

    proof: ClassVar[str] = "second_moment"
    covers_units: ClassVar[bool] = True

    def bound(self, public: Public) -> float:
        """Frobenius norm of one row's outer square: the row's squared norm."""
        return public.row_bound**2

    def size(self, public: Public) -> int:
        """The upper triangle."""
        return public.width * (public.width + 1) // 2

    def sensitivity(self, public: Public) -> float:
        """Outer squares are positive semidefinite, so two of them are at most sqrt(2) bounds apart, not 2."""
        return math.sqrt(public.sensitivity_factor) * self.bound(public)

    def measure(self, records: Records) -> Array:
        """Upper triangle, off-diagonal entries times sqrt(2): its norm is the Frobenius norm of the matrix."""
        moment = records.rows.moment() if records.units is None else mean_moment(records)
        upper, across = triangle(records.rows.width)
        return moment[upper] * across

    def answer(self, records: Records, noise: Noise) -> Array:
        """The noisy matrix: what is released is its triangle, on a lattice, and a function of it."""
        width = records.rows.width
        upper, across = triangle(width)
        moment = np.zeros((width, width))
        moment[upper] = super().answer(records, noise) / across
        return moment + np.triu(moment, 1).T


def mean_moment(records: Records) -> Array:
    """Sum over units of the averages of their rows' outer squares."""
    weights = records.shared(np.ones(len(records.rows)))
    total = np.zeros((records.rows.width, records.rows.width))
    lost = np.zeros_like(total)
    for start in range(0, len(weights), PIECE):
        part = slice(start, start + PIECE)
        rows = records.rows.take(part).to_dense()
        add(total, lost, rows.T @ (rows * weights[part, None]))
    return np.asarray(total + lost)


def triangle(width: int) -> tuple[tuple[Array, Array], Array]:
    """Return the indices of the upper triangle, and the weights that keep the norm."""
    upper = np.triu_indices(width)
    return upper, np.where(upper[0] == upper[1], 1.0, math.sqrt(2.0))


# The weight of a squared target, beside a row's outer square and its product with the target. The largest that is free
# where a record is replaced; where one comes or goes, one that costs 1.6 % of noise.
_SQUARE = {True: math.sqrt(1.5), False: 0.25}


@dataclass(frozen=True, eq=False, kw_only=True)
class JointMoments(Additive):
    """Sums over records of row times row transposed, row times target and squared target, plus Gaussian noise.

    With t a row beside its target, the answer is a noisy sum of ``t t'``: a symmetric matrix whose last row and column
    belong to the target, not always positive definite. A replaced record moves the three together by 2.12 squared
    norms, far less than their sensitivities add up to: where two products with targets are far apart, two outer squares
    are not.

    See Also
    --------
    SecondMoment : Of rows alone.

    Examples
    --------
    >>> from skdp.mechanisms import JointMoments, Public
    >>> public = Public(n=1000, n_features=2, intercept=0.25, neighbors="replace_one")
    >>> round(JointMoments(multiplier=10.0).sensitivity(public), 6)  # 3 / sqrt(2) squared norms
    2.253903
    """

    proof: ClassVar[str] = "joint_moments"
    covers_units: ClassVar[bool] = True

    def weights(self, public: Public) -> tuple[float, float]:
        """Return the factors of products with targets and of squared targets: units of a squared row."""
        ratio = public.row_bound / public.target_bound
        return ratio, _SQUARE[public.replace_one] * ratio**2

    def bound(self, public: Public) -> float:
        """Norm of one record's contribution."""
        return public.row_bound**2 * math.sqrt(2.0 + _SQUARE[public.replace_one] ** 2)

    def size(self, public: Public) -> int:
        """The upper triangle, the products, and the square."""
        return public.width * (public.width + 1) // 2 + public.width + 1

    def sensitivity(self, public: Public) -> float:
        """A replaced record moves it by sqrt(9/2) squared norms; see the proof page."""
        if public.replace_one:
            return math.sqrt(4.5) * public.row_bound**2
        return self.bound(public)

    def noises(self, public: Public) -> tuple[float, float, float]:
        """Standard deviations on the diagonal of the rows' part, on products with targets, on the squared target."""
        deviation = self.multiplier * self.bound(public)
        product, square = self.weights(public)
        return deviation, deviation / product, deviation / square

    def sampled_event(self, public: Public, rate: float) -> Event:
        """Refuse: moments are bought once, of all records."""
        return Mechanism.sampled_event(self, public, rate)

    def measure(self, records: Records) -> Array:
        """Upper triangle of the rows' part, off-diagonal entries times sqrt(2), and the weighted rest."""
        rows, alone = records.rows, records.units is None
        product, square = self.weights(records.public)
        targets, left = records.y.astype(np.float64), rows.shrink
        if left is not None:  # a row and its target are scaled down together
            targets *= left
        moment = rows.moment() if alone else mean_moment(records)
        upper, across = triangle(rows.width)
        squares = records.shared(np.square(targets))
        crossed = rows.tdot(records.shared(targets))
        return np.concatenate(
            [moment[upper] * across, product * crossed, [square * float(pairwise_total(squares))]]
        )

    def answer(self, records: Records, noise: Noise) -> Array:
        """The noisy matrix: what is released is the weighted vector, on a lattice, and a function of it."""
        width = records.rows.width
        product, square = self.weights(records.public)
        noisy = super().answer(records, noise)
        upper, across = triangle(width)
        moments = np.zeros((width + 1, width + 1))
        moments[upper] = noisy[: len(across)] / across
        moments[:width, width] = noisy[len(across) : -1] / product
        moments[width, width] = noisy[-1] / square
        return moments + np.triu(moments, 1).T


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
        """Refuse: scales are bought of all records."""
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
