"""Logistic loss whose slope is capped: what clipping the gradient of a linear model minimises."""

from dataclasses import dataclass

import numpy as np
from scipy.special import logit

from ._loss import Array, MarginLoss, log_one_plus_exp_minus, minus_sigmoid_minus

__all__ = ["ClippedLogistic"]


@dataclass(frozen=True)
class ClippedLogistic(MarginLoss):
    """Logistic loss continued as a straight line where its slope would pass ``cap``.

    Clipping the gradients of a generalised linear model is minimising such a loss (Song, Steinke,
    Thakkar and Thakurta 2021), so it stays convex and continuously differentiable.

    Parameters
    ----------
    cap : float in (0, 1]
        Largest absolute slope; 1 is the logistic loss.

    See Also
    --------
    Logistic : The loss that it continues.
    skdp.mechanisms.Gradient : The clipping that minimises this loss.

    Notes
    -----
    ``predict`` is the calibrated link of this loss, not the logistic function: with cap 1/2 the
    minimiser's scores are larger than log odds, and reading them as log odds would be
    over-confident. Below cap 1/2 an interval of scores around 0 stands for p = 1/2.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import ClippedLogistic, Logistic
    >>> z, y = np.array([-2.0, 0.5]), np.ones(2)
    >>> Logistic().dz(z, y).round(3)
    array([-0.881, -0.378])
    >>> ClippedLogistic(cap=0.5).dz(z, y).round(3)  # as the clip would leave it
    array([-0.5  , -0.378])
    """

    cap: float = 0.5

    def __post_init__(self) -> None:
        if not 0.0 < self.cap <= 1.0:
            raise ValueError(f"cap must be in (0, 1], got {self.cap!r}; 1 is the logistic loss.")

    @property
    def slope(self) -> float:
        """Supremum of the absolute derivative."""
        return float(self.cap)

    @property
    def curvature(self) -> float:
        """Supremum of the second derivative."""
        return 0.25 if self.cap >= 0.5 else float(self.cap * (1.0 - self.cap))

    @property
    def knot(self) -> float:
        """Margin below which the loss is a straight line."""
        return -float(logit(self.cap))

    def of_margin(self, margin: Array) -> Array:
        """Loss at the margin."""
        loss = log_one_plus_exp_minus(np.maximum(margin, self.knot))
        beyond = np.subtract(self.knot, margin, out=margin)
        np.maximum(beyond, 0, out=beyond)
        beyond *= self.cap
        loss += beyond
        return loss

    def slope_at(self, margin: Array) -> Array:
        """Derivative in the margin: at most 0."""
        slope = minus_sigmoid_minus(margin)
        return np.maximum(slope, -self.cap, out=slope)

    def curvature_at(self, margin: Array) -> Array:
        """Second derivative in the margin."""
        curved = margin >= self.knot
        p = minus_sigmoid_minus(np.abs(margin, out=margin))
        np.subtract(-p, p * p, out=p)
        p *= curved
        return p
