"""Squared hinge loss."""

from dataclasses import dataclass

import numpy as np

from ._loss import Array, MarginLoss

__all__ = ["SquaredHinge"]


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
