"""Hinge loss of the support vector machine, its square, and the hinge with its kink rounded (Chaudhuri et al. 2011)."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from ._loss import Array, MarginLoss

__all__ = ["Hinge", "HuberisedHinge", "SquaredHinge"]


@dataclass(frozen=True)
class Hinge(MarginLoss):
    """``max(0, 1 - y z)``; at its kink ``dz`` is the subgradient 0.

    See Also
    --------
    HuberisedHinge : Its smooth neighbour, for solvers that need a curvature.
    SquaredHinge : Smooth, with an unbounded slope.
    skdp.DPLinearSVC : The estimator that takes it.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import Hinge
    >>> z, y = np.array([-1.0, 0.5, 1.0]), np.ones(3)
    >>> Hinge().value(z, y)
    array([2. , 0.5, 0. ])
    >>> Hinge().dz(z, y)
    array([-1., -1., -0.])
    """

    slope = 1.0
    d2z: ClassVar[Any] = None

    def of_margin(self, margin: Array) -> Array:
        """Loss at the margin."""
        np.subtract(1, margin, out=margin)
        return np.maximum(margin, 0, out=margin)

    def slope_at(self, margin: Array) -> Array:
        """Subgradient in the margin: -1 or 0."""
        return np.negative(margin < 1.0, dtype=margin.dtype, out=margin)


@dataclass(frozen=True)
class SquaredHinge(MarginLoss):
    """``max(0, 1 - y z)^2``: the default loss of scikit-learn's LinearSVC.

    Its slope grows without end, so a mechanism must clip it; a bound of the minimiser's norm is no
    substitute, since objective perturbation does not enforce one.

    See Also
    --------
    Hinge : With a bounded slope, but not smooth.
    HuberisedHinge : Smooth, with a bounded slope.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import SquaredHinge
    >>> SquaredHinge().value(np.array([-1.0, 0.5, 2.0]), np.ones(3))
    array([4.  , 0.25, 0.  ])
    """

    curvature = 2.0

    def of_margin(self, margin: Array) -> Array:
        """Loss at the margin."""
        slope = self.slope_at(margin)
        slope *= slope
        slope *= 0.25
        return slope

    def slope_at(self, margin: Array) -> Array:
        """Derivative in the margin: at most 0."""
        margin -= 1.0
        np.minimum(margin, 0.0, out=margin)
        margin *= 2.0
        return margin

    def curvature_at(self, margin: Array) -> Array:
        """Second derivative in the margin."""
        return np.multiply(margin < 1.0, 2.0, dtype=margin.dtype)


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
