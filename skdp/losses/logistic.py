"""Logistic loss."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ._loss import Array, MarginLoss, log_one_plus_exp_minus, minus_sigmoid_minus

__all__ = ["Logistic"]


@dataclass(frozen=True)
class Logistic(MarginLoss):
    """log(1 + exp(-y z)).

    See Also
    --------
    ClippedLogistic : With a smaller slope.
    Multinomial : For more than two classes.
    skdp.DPLogisticRegression : The estimator that fits it.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import Logistic
    >>> loss, z, y = Logistic(), np.array([0.0, np.log(3.0)]), np.array([1.0, -1.0])
    >>> loss.value(z, y).round(3)  # log 2 and log 4
    array([0.693, 1.386])
    >>> loss.dz(z, y)
    array([-0.5 ,  0.75])
    >>> loss.predict(z)
    array([0.5 , 0.75])
    """

    slope = 1.0
    curvature = 0.25

    def of_margin(self, margin: Array) -> Array:
        """Loss at the margin."""
        return log_one_plus_exp_minus(margin)

    def slope_at(self, margin: Array) -> Array:
        """Derivative in the margin: at most 0."""
        return minus_sigmoid_minus(margin)

    def curvature_at(self, margin: Array) -> Array:
        """Second derivative in the margin."""
        np.abs(margin, out=margin)  # even in the margin, and p^2 <= p loses nothing in this tail
        p = minus_sigmoid_minus(margin)
        return np.subtract(-p, p * p, out=p)

    def predict(self, z: ArrayLike) -> Array:
        """Probability of y = +1."""
        p = minus_sigmoid_minus(np.negative(z, dtype=np.result_type(z, np.float32)))
        return np.negative(p, out=p)
