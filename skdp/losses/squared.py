"""Squared loss: least squares."""

from dataclasses import dataclass

import numpy as np

from ._loss import Array, ResidualLoss

__all__ = ["Squared"]


@dataclass(frozen=True)
class Squared(ResidualLoss):
    """``(z - y)^2 / 2``. Its slope is unbounded: a mechanism must clip it.

    See Also
    --------
    Huber : With a bounded slope.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import Squared
    >>> Squared().dz(np.array([3.0, -1.0]), np.ones(2))
    array([ 2., -2.])
    >>> Squared().slope is None  # a mechanism must clip it
    True
    """

    curvature = 1.0

    def of_residual(self, residual: Array) -> Array:
        """Loss at the residual."""
        residual *= residual
        residual *= 0.5
        return residual

    def slope_at(self, residual: Array) -> Array:
        """Derivative in the residual."""
        return residual

    def curvature_at(self, residual: Array) -> Array:
        """Second derivative in the residual."""
        return np.ones_like(residual)
