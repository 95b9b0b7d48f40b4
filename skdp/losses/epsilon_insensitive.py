"""Losses of support vector regression: nothing for small residuals, then a rounded corner and a line, or a square."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from ._loss import Array, ResidualLoss

__all__ = ["EpsilonInsensitive", "SquaredEpsilonInsensitive"]


@dataclass(frozen=True)
class EpsilonInsensitive(ResidualLoss):
    """0 for residuals up to ``width``, a parabola up to ``width + h``, and a line of slope 1 beyond.

    Parameters
    ----------
    width : float >= 0
        Residual, in units of the target, that costs nothing: what is called epsilon where that is no privacy loss.
    h : float > 0
        How far the corner is rounded; ``max(|r| - width, 0)`` is the limit at 0.

    See Also
    --------
    Huber : The same for no width.
    SquaredEpsilonInsensitive : Squares in the place of straight lines.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import EpsilonInsensitive
    >>> EpsilonInsensitive(width=0.5, h=0.2).dz(np.array([0.4, 0.6, -3.0]), np.zeros(3)).round(12)
    array([ 0. ,  0.5, -1. ])
    """

    slope = 1.0
    width: float = 0.1
    h: float = 0.05

    def __post_init__(self) -> None:
        if not 0.0 <= self.width < np.inf:
            raise ValueError(f"width must be 0 or more and finite, got {self.width!r}; try 0.1.")
        if not 0.0 < self.h < np.inf:
            raise ValueError(f"h must be positive and finite, got {self.h!r}; try 0.05.")

    @property
    def curvature(self) -> float:
        """Supremum of the second derivative."""
        return 1.0 / float(self.h)

    def blunter(self, times: float) -> Self:
        """Return the loss with its corners rounded over so many times as much."""
        return replace(self, h=self.h * times)

    def of_residual(self, residual: Array) -> Array:
        """Loss at the residual."""
        slope = np.abs(self.slope_at(residual.copy()))
        beyond = np.abs(residual)
        beyond -= self.width + 0.5 * self.h * slope
        beyond *= slope
        return beyond

    def slope_at(self, residual: Array) -> Array:
        """Derivative in the residual."""
        inside = np.clip(residual, -self.width, self.width)
        residual -= inside
        residual /= self.h
        return np.clip(residual, -1.0, 1.0, out=residual)

    def curvature_at(self, residual: Array) -> Array:
        """Second derivative in the residual."""
        size = np.abs(residual)
        curved = (size > self.width) & (size < self.width + self.h)
        return curved * residual.dtype.type(self.curvature)


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
