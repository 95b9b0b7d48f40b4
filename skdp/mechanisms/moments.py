"""The second moment of the rows: the shape of the data, for whitening and for preconditioning."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ._kernels import PIECE, add
from ._mechanism import Additive, Array
from ._noise import Noise
from ._public import Public
from ._records import Records

__all__ = ["SecondMoment", "mean_moment", "triangle"]


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
