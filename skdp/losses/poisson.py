"""Poisson loss of a bounded count: the logarithm of its mean is the score."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ._loss import Array, Loss, floating

__all__ = ["Poisson"]


@dataclass(frozen=True)
class Poisson(Loss):
    """``exp(z) - u z`` for counts u, in units of the largest, up to the score ``top``; a straight line beyond.

    A target of -1 stands for no count and +1 for the largest: ``u = (1 + y) / 2``. Means beyond e^top of the largest
    count do not occur, so the line takes nothing away; without it neither slope nor curvature had a bound.

    Parameters
    ----------
    top : float >= 0
        Score from which the loss is a straight line.

    See Also
    --------
    Squared : For numbers without a sign.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import Poisson
    >>> Poisson().dz(np.log([0.1, 0.5]), np.array([-0.8, -0.8])).round(12)  # a tenth of the largest count
    array([0. , 0.4])
    """

    kind = "regression"
    top: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.top <= 100.0:
            raise ValueError(f"top must lie in [0, 100], got {self.top!r}; 1.0 is far enough.")

    @property
    def slope(self) -> float:
        """Supremum of the absolute derivative: of no count at a high score."""
        return math.exp(self.top)

    @property
    def curvature(self) -> float:
        """Supremum of the second derivative."""
        return math.exp(self.top)

    def value(self, z: ArrayLike, y: ArrayLike) -> Array:
        """Loss of each record, shape (n,)."""
        z = floating(z)
        low = np.minimum(z, self.top)
        mean = np.exp(low)
        return np.asarray(mean * (1.0 + (z - low)) - _counts(z, y) * z)

    def dz(self, z: ArrayLike, y: ArrayLike) -> Array:
        """Derivative in the score: a fresh array of the shape and dtype of ``z``."""
        z = floating(z)
        mean = np.exp(np.minimum(z, self.top))
        mean -= _counts(z, y)
        return mean

    def d2z(self, z: ArrayLike, y: ArrayLike) -> Array:
        """Second derivative in the score: an array of the shape and dtype of ``z``."""
        z = floating(z)
        return np.asarray(np.where(z < self.top, np.exp(np.minimum(z, self.top)), z.dtype.type(0)))

    def predict(self, z: ArrayLike) -> Array:
        """Score itself: its exponential is the mean, in units of the largest count."""
        return floating(z)

    def value_bound(self, radius: float, target_bound: float = 1.0) -> float:
        """Supremum of ``value`` over scores in [-radius, radius] and targets in their bound."""
        # Convex in the score and linear in the target: largest at a corner.
        z = np.array([-radius, -radius, radius, radius], dtype=np.float64)
        y = target_bound * np.array([-1.0, 1.0, -1.0, 1.0])
        return float(self.value(z, y).max())


def _counts(z: Array, y: ArrayLike) -> Array:
    """Counts in units of the largest, in the precision of the scores."""
    half = z.dtype.type(0.5)
    return np.asarray(half + half * np.asarray(y, dtype=z.dtype))
