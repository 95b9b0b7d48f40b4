"""Multinomial logistic loss: many classes, one score each."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ._loss import Array, Loss, floating

__all__ = ["Multinomial"]


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
