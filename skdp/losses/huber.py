"""Huber loss: least squares for small residuals, least absolute deviations for large ones."""

from dataclasses import dataclass

import numpy as np

from ._loss import Array, ResidualLoss

__all__ = ["Huber"]


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
