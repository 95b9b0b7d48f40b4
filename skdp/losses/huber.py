"""Huber's loss (small residuals squared, large ones as they are), and the rounded pinball loss of quantiles."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from ._loss import Array, ResidualLoss

__all__ = ["Huber", "QuantileHuber"]


@dataclass(frozen=True)
class Huber(ResidualLoss):
    """``r^2/2`` for residuals r up to ``delta``, ``delta |r| - delta^2/2`` beyond.

    Parameters
    ----------
    delta : float > 0
        Residual, in units of the target, from which the loss is a straight line.

    See Also
    --------
    Squared : Its limit for large ``delta``.
    QuantileHuber : For other quantiles than the median.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import Huber
    >>> z, y = np.array([0.5, 3.0]), np.zeros(2)
    >>> Huber(delta=1.0).value(z, y)
    array([0.125, 2.5  ])
    >>> Huber(delta=1.0).slope  # what one record can pull, without clipping
    1.0
    """

    curvature = 1.0
    scales_targets = (
        True  # symmetric errors stay so, and fewer of a long row's fall on the straight line
    )
    delta: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 < self.delta < np.inf:
            raise ValueError(
                f"delta must be positive and finite, got {self.delta!r}; "
                "use the squared loss for an infinite one."
            )

    @property
    def slope(self) -> float:
        """Supremum of the absolute derivative."""
        return float(self.delta)

    def of_residual(self, residual: Array) -> Array:
        """Loss at the residual."""
        slope = self.slope_at(residual.copy())
        # s r - s^2/2 with the slope s is both pieces in one.
        residual -= 0.5 * slope
        residual *= slope
        return residual

    def slope_at(self, residual: Array) -> Array:
        """Derivative in the residual."""
        return np.clip(residual, -self.delta, self.delta, out=residual)

    def curvature_at(self, residual: Array) -> Array:
        """Second derivative in the residual."""
        return (np.abs(residual) < self.delta).astype(residual.dtype)


@dataclass(frozen=True)
class QuantileHuber(ResidualLoss):
    """Moreau envelope of the pinball loss.

    Parameters
    ----------
    tau : float in (0, 1)
        Quantile to estimate.
    k : float > 0
        Smoothing, in units of the target: the parabola reaches from residual ``-k tau`` to
        ``k (1 - tau)``; the pinball loss is the limit at 0.

    See Also
    --------
    Huber : For the mean with bounded slopes.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import QuantileHuber
    >>> loss = QuantileHuber(tau=0.9, k=0.2)
    >>> loss.dz(np.array([-1.0, 1.0]), np.zeros(2))  # too low costs nine times too high
    array([-0.9,  0.1])
    >>> loss.slope
    0.9
    """

    tau: float = 0.5
    k: float = 0.2

    def __post_init__(self) -> None:
        if not 0.0 < self.tau < 1.0:
            raise ValueError(f"tau must be in (0, 1), got {self.tau!r}; the median is 0.5.")
        if not 0.0 < self.k < np.inf:
            raise ValueError(f"k must be positive and finite, got {self.k!r}; try 0.2.")

    @property
    def slope(self) -> float:
        """Supremum of the absolute derivative."""
        return float(max(self.tau, 1.0 - self.tau))

    @property
    def curvature(self) -> float:
        """Supremum of the second derivative."""
        return 1.0 / float(self.k)

    def blunter(self, times: float) -> Self:
        """Return the loss with its corner rounded over so many times as much."""
        return replace(self, k=self.k * times)

    def of_residual(self, residual: Array) -> Array:
        """Loss at the residual."""
        slope = self.slope_at(residual.copy())
        # s r - k s^2/2 with the slope s: an envelope is the conjugate of the smoothed conjugate.
        residual -= 0.5 * self.k * slope
        residual *= slope
        return residual

    def slope_at(self, residual: Array) -> Array:
        """Derivative in the residual."""
        residual /= self.k
        return np.clip(residual, -self.tau, 1.0 - self.tau, out=residual)

    def curvature_at(self, residual: Array) -> Array:
        """Second derivative in the residual."""
        inside = (residual > -self.k * self.tau) & (residual < self.k * (1.0 - self.tau))
        return inside * residual.dtype.type(self.curvature)
