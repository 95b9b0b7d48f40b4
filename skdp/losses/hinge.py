"""Hinge loss: the support vector machine."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ._loss import Array, MarginLoss

__all__ = ["Hinge"]


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
