"""Hinge loss with its kink rounded (Chaudhuri, Monteleoni and Sarwate 2011)."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from ._loss import Array, MarginLoss

__all__ = ["HuberisedHinge"]


@dataclass(frozen=True)
class HuberisedHinge(MarginLoss):
    """0 beyond margin 1 + h, ``1 - y z`` below 1 - h, and the parabola that joins them between.

    Parameters
    ----------
    h : float > 0
        Half the width of the parabola; the hinge loss is its limit at 0.

    See Also
    --------
    Hinge : Its limit for ``h`` to 0.
    Logistic : Smooth everywhere.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import Hinge, HuberisedHinge
    >>> z, y = np.array([0.0, 1.0, 2.0]), np.ones(3)
    >>> HuberisedHinge(h=0.5).value(z, y)  # the hinge but for the parabola around margin 1
    array([1.   , 0.125, 0.   ])
    >>> HuberisedHinge(h=0.5).curvature, Hinge().curvature
    (1.0, None)
    """

    slope = 1.0
    h: float = 0.5

    def __post_init__(self) -> None:
        if not 0.0 < self.h < np.inf:
            raise ValueError(f"h must be positive and finite, got {self.h!r}; the usual is 0.5.")

    @property
    def curvature(self) -> float:
        """Supremum of the second derivative."""
        return 1.0 / (2.0 * self.h)

    def blunter(self, times: float) -> Self:
        """Return the loss with its corner rounded over so many times as much."""
        return replace(self, h=self.h * times)

    def of_margin(self, margin: Array) -> Array:
        """Loss at the margin."""
        slope = self.slope_at(margin.copy())
        # s (m - 1 - h) - h s^2 with the slope s is all three pieces in one.
        margin -= 1.0 + self.h
        margin -= self.h * slope
        margin *= slope
        return margin

    def slope_at(self, margin: Array) -> Array:
        """Derivative in the margin: at most 0."""
        margin -= 1.0 + self.h
        margin *= self.curvature
        return np.clip(margin, -1.0, 0.0, out=margin)

    def curvature_at(self, margin: Array) -> Array:
        """Second derivative in the margin."""
        return (np.abs(margin - 1.0) < self.h) * margin.dtype.type(self.curvature)
