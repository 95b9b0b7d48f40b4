"""Logistic losses: of two classes, of two classes with a capped slope, and of many classes (multinomial).

The capped slope is what clipping the gradient of a linear model minimises.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logit

from ._loss import Array, Loss, MarginLoss, floating, log_one_plus_exp_minus, minus_sigmoid_minus

__all__ = ["ClippedLogistic", "Logistic", "Multinomial"]


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


@dataclass(frozen=True)
class Multinomial(Loss):
    """``log(sum_k exp(z_k)) - z_y`` of scores (n, K) and class codes (n,).

    Parameters
    ----------
    outputs : int >= 2
        Number K of classes.

    See Also
    --------
    Logistic : Two classes with one score.

    Notes
    -----
    The gradient p - e_y of one record has norm below sqrt(2), attained as a wrong class takes all
    of p. The Hessian diag(p) - p p' has eigenvalues up to 1/2, attained at p = (1/2, 1/2, 0, ...).

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import Multinomial
    >>> loss, z = Multinomial(outputs=3), np.log([[1.0, 2.0, 1.0]])
    >>> loss.predict(z)
    array([[0.25, 0.5 , 0.25]])
    >>> loss.dz(z, np.array([1]))  # one slope for each class
    array([[ 0.25, -0.5 ,  0.25]])
    """

    kind = "multiclass"
    slope = float(np.sqrt(2.0))
    curvature = 0.5
    outputs: int = 3

    def __post_init__(self) -> None:
        if int(self.outputs) != self.outputs or self.outputs < 2:
            raise ValueError(
                f"outputs must be an integer of 2 or more, the number of classes, "
                f"got {self.outputs!r}."
            )

    def value(self, z: ArrayLike, y: ArrayLike) -> Array:
        """Loss of each record, shape (n,)."""
        shifted = _below_largest(z)
        of_target = shifted[np.asarray(y, dtype=np.intp), np.arange(shifted.shape[1])]
        np.exp(shifted, out=shifted)
        return np.log(_sum_over_classes(shifted)) - of_target

    def dz(self, z: ArrayLike, y: ArrayLike) -> Array:
        """Gradient in the scores: a fresh array of the shape and dtype of ``z``."""
        p = self.predict(z)
        p[np.arange(len(p)), np.asarray(y, dtype=np.intp)] -= 1
        return p

    def d2z(self, z: ArrayLike, y: ArrayLike) -> Array:
        """Hessian in the scores of each record, shape (n, K, K)."""
        p = self.predict(z)
        hessian = -p[:, :, None] * p[:, None, :]
        diagonal = np.arange(p.shape[1])
        hessian[:, diagonal, diagonal] += p
        return hessian

    def d2z_product(self, z: ArrayLike, y: ArrayLike) -> Callable[[Array], Array]:
        """The map s -> d2z s of each record, which keeps n x K numbers and makes no n x K x K."""
        p = self.predict(z)

        def product(s: Array) -> Array:
            out = p * s
            out -= p * out.sum(axis=1)[:, None]
            return out

        return product

    def predict(self, z: ArrayLike) -> Array:
        """Probability of each class, shape (n, K)."""
        p = _below_largest(z)
        np.exp(p, out=p)
        p /= _sum_over_classes(p)
        return p.T

    def value_bound(self, radius: float, target_bound: float = 1.0) -> float:
        """Supremum of ``value`` over scores each in [-radius, radius]."""
        return float(np.logaddexp(0.0, np.log(self.outputs - 1.0) + 2.0 * radius))


def _sum_over_classes(p: Array) -> Array:
    """Sum of each record, class by class: numpy sums a lone record's in another order than many records'."""
    total = p[0].copy()
    for row in p[1:]:
        total += row
    return total


def _below_largest(z: ArrayLike) -> Array:
    """Scores below the record's largest one, shape (K, n): sums over a short last axis are slow."""
    z = np.array(floating(z).T, order="C")
    z -= z.max(axis=0)
    return z
