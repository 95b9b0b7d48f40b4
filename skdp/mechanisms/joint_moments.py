"""Second moments of rows and targets together: all that least squares needs, for less noise than one by one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..privacy.events import Event
from ._kernels import pairwise_total
from ._mechanism import Additive, Array, Mechanism
from ._noise import Noise
from ._public import Public
from ._records import Records
from .moments import mean_moment, triangle

__all__ = ["JointMoments"]

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
        """Refused: moments are bought once, of all records."""
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
