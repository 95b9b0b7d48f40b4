"""Squared loss of support vector regression: nothing for small residuals, then the square of what exceeds them."""

from dataclasses import dataclass

import numpy as np

from ._loss import Array, ResidualLoss

__all__ = ["SquaredEpsilonInsensitive"]


@dataclass(frozen=True)
class SquaredEpsilonInsensitive(ResidualLoss):
    """``max(|r| - width, 0)^2`` of residuals r: not halved, as in liblinear and scikit-learn's LinearSVR.

    It is smooth, so that no corner is rounded, and its slope grows without end, so that a mechanism must clip it.

    Parameters
    ----------
    width : float >= 0
        Residual, in units of the target, that costs nothing: what is called epsilon where that is no privacy loss.

    See Also
    --------
    EpsilonInsensitive : Straight lines in the place of squares, with a bounded slope.
    Squared : Half of it, for no width.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import SquaredEpsilonInsensitive
    >>> loss = SquaredEpsilonInsensitive(width=0.5)
    >>> loss.value(np.array([0.25, 1.0, -2.5]), np.zeros(3))
    array([0.  , 0.25, 4.  ])
    >>> loss.dz(np.array([0.25, 1.0, -2.5]), np.zeros(3))
    array([ 0.,  1., -4.])
    """

    curvature = 2.0
    width: float = 0.1

    def __post_init__(self) -> None:
        if not 0.0 <= self.width < np.inf:
            raise ValueError(f"width must be 0 or more and finite, got {self.width!r}; try 0.1.")

    def of_residual(self, residual: Array) -> Array:
        """Loss at the residual."""
        slope = self.slope_at(residual)
        slope *= slope
        slope *= 0.25
        return slope

    def slope_at(self, residual: Array) -> Array:
        """Derivative in the residual."""
        residual -= np.clip(residual, -self.width, self.width)
        residual *= 2.0
        return residual

    def curvature_at(self, residual: Array) -> Array:
        """Second derivative in the residual."""
        return np.multiply(np.abs(residual) > self.width, 2.0, dtype=residual.dtype)
