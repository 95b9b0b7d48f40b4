"""Base classes of losses: formulas of (score, target) with declared constants. They never see a row."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

__all__ = [
    "Array",
    "Loss",
    "MarginLoss",
    "ResidualLoss",
    "log_one_plus_exp_minus",
    "minus_sigmoid_minus",
]


Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Loss:
    """Formula of scores and targets, with the constants that privacy and step sizes rest on.

    Attributes
    ----------
    kind : {"binary", "multiclass", "regression"}
        What the targets are: -1.0 or +1.0, codes 0..K-1, or real numbers.
    slope : float or None
        Supremum of the norm of ``dz`` of one record; None if unbounded, so that a mechanism must
        clip.
    curvature : float or None
        Supremum of the second derivative (its largest eigenvalue when there are several scores);
        None if the loss is not smooth.
    d2z : callable or None
        ``d2z(z, y)``, second derivative in the score: shape (n,), or (n, K, K); None if the loss is
        not smooth.
    one_signed : bool
        Whether the sign of ``dz`` follows from the target alone. Sharper privacy bounds hold then.
    outputs : int
        Scores of one record: 1 for arrays of shape (n,), K for (n, K).
    scales_targets : bool
        Whether a row that has to be scaled down takes its target with it: the loss then counts as it is, of what is
        left of both, and not as that of the whole row, times the square of what is left.

    See Also
    --------
    MarginLoss : Base of losses of two classes.
    ResidualLoss : Base of losses of a number to predict.
    skdp.mechanisms.Gradient : Clips what a loss does not bound.

    Notes
    -----
    All losses are convex and at least 0. The constants are those of one score: a row of norm B
    multiplies ``slope`` by B and ``curvature`` by B^2. Clipping of a record's slope is the
    mechanism's work, not the loss's.

    Examples
    --------
    >>> from skdp.losses import LOSSES
    >>> sorted(name for name, loss in LOSSES.items() if loss.kind == "regression")
    ['epsilon_insensitive', 'huber', 'poisson', 'quantile_huber', 'squared', 'squared_epsilon_insensitive']
    >>> sorted(name for name, loss in LOSSES.items() if loss().slope is None)  # must be clipped
    ['squared', 'squared_epsilon_insensitive', 'squared_hinge']
    """

    kind: ClassVar[str]
    if TYPE_CHECKING:  # read only: a subclass gives a number, a field or a property

        @property
        def slope(self) -> float | None: ...
        @property
        def curvature(self) -> float | None: ...
        @property
        def one_signed(self) -> bool: ...
        @property
        def outputs(self) -> int: ...
        @property
        def scales_targets(self) -> bool: ...
    else:
        slope = curvature = None
        one_signed = scales_targets = False
        outputs = 1
    d2z: ClassVar[Any] = None

    def value(self, z: ArrayLike, y: ArrayLike) -> Array:
        """Loss of each record, shape (n,)."""
        raise NotImplementedError

    def dz(self, z: ArrayLike, y: ArrayLike) -> Array:
        """Derivative in the score: a fresh array of the shape and dtype of ``z``."""
        raise NotImplementedError

    def d2z_product(self, z: ArrayLike, y: ArrayLike) -> Callable[[Array], Array]:
        """Return the map of (n, K) to (n, K) that multiplies by each record's ``d2z``, for several scores."""
        hessians = self.d2z(z, y)
        return lambda s: np.einsum("ikl,il->ik", hessians, s)

    def predict(self, z: ArrayLike) -> Array:
        """Mean response that the scores stand for."""
        raise NotImplementedError

    def value_bound(self, radius: float, target_bound: float = 1.0) -> float:
        """Supremum of ``value`` over scores in [-radius, radius] and targets in their bound."""
        raise NotImplementedError

    def blunter(self, times: float) -> "Loss | None":
        """Return the loss with its corners rounded over so many times as much; None where it has no such corners.

        An inner minimiser goes from blunt corners to sharp ones (`mechanisms/_minimise.py`); no promise counts on it.
        """
        return None


class MarginLoss(Loss):
    """Decreasing convex function of the margin ``y z``: two classes, y = -1 or +1.

    A loss of this family writes three functions of the margin, each free to overwrite its argument.

    See Also
    --------
    ResidualLoss : The same for regression.
    Logistic : The usual one.

    Examples
    --------
    The exponential loss of boosting, whose scores stand for half the log odds:

    >>> import numpy as np
    >>> from skdp.losses import MarginLoss
    >>> class Exponential(MarginLoss):
    ...     def of_margin(self, margin):
    ...         return np.exp(-margin)
    ...     def slope_at(self, margin):
    ...         return -np.exp(-margin)
    >>> Exponential().dz(np.array([0.0, 1.0]), np.array([1.0, -1.0])).round(3)
    array([-1.   ,  2.718])
    >>> Exponential().predict(np.array([0.5 * np.log(3.0)]))  # odds of 3 to 1
    array([0.75])
    """

    kind = "binary"
    one_signed = True

    def of_margin(self, margin: Array) -> Array:
        """Loss at the margin."""
        raise NotImplementedError

    def slope_at(self, margin: Array) -> Array:
        """Derivative in the margin: at most 0."""
        raise NotImplementedError

    def curvature_at(self, margin: Array) -> Array:
        """Second derivative in the margin, at least 0; not needed where ``d2z`` is None."""
        raise NotImplementedError

    def value(self, z: ArrayLike, y: ArrayLike) -> Array:
        """Loss of each record, shape (n,)."""
        return self.of_margin(_margin(z, y))

    def dz(self, z: ArrayLike, y: ArrayLike) -> Array:
        """Derivative in the score: a fresh array of the shape and dtype of ``z``."""
        slope = self.slope_at(_margin(z, y))
        return np.multiply(slope, y, out=slope, casting="same_kind")

    def d2z(self, z: ArrayLike, y: ArrayLike) -> Array:
        """Second derivative in the score: an array of the shape and dtype of ``z``."""
        return self.curvature_at(_margin(z, y))

    def predict(self, z: ArrayLike) -> Array:
        """Probability of y = +1 at which ``z`` would minimise the expected loss.

        Where the expected loss p l(z) + (1 - p) l(-z) is stationary, p = l'(-z)/(l'(z) + l'(-z))
        (Reid and Williamson 2010). Hinge-like losses leave a whole interval of scores at p = 1/2:
        rank by the score, not by this.
        """
        z = floating(z)
        against, towards = self.slope_at(z.copy()), self.slope_at(-z)
        against += towards
        np.divide(towards, against, out=towards)
        return np.abs(towards, out=towards)  # 0 rather than -0

    def value_bound(self, radius: float, target_bound: float = 1.0) -> float:
        """Supremum of ``value`` over scores in [-radius, radius] and targets in their bound."""
        return float(self.of_margin(np.array([-float(radius)]))[0])


class ResidualLoss(Loss):
    """Convex function of the residual ``z - y``: regression.

    A loss of this family writes three functions of the residual, each free to overwrite its
    argument.

    See Also
    --------
    MarginLoss : The same for two classes.
    Huber : One with a bounded slope.

    Examples
    --------
    The absolute loss:

    >>> import numpy as np
    >>> from skdp.losses import ResidualLoss
    >>> class Absolute(ResidualLoss):
    ...     slope = 1.0
    ...     def of_residual(self, residual):
    ...         return np.abs(residual)
    ...     def slope_at(self, residual):
    ...         return np.sign(residual)
    >>> Absolute().value(np.array([2.0, -1.0]), np.array([0.5, 0.5]))
    array([1.5, 1.5])
    >>> Absolute().value_bound(radius=2.0, target_bound=1.0)
    3.0
    """

    kind = "regression"

    def of_residual(self, residual: Array) -> Array:
        """Loss at the residual."""
        raise NotImplementedError

    def slope_at(self, residual: Array) -> Array:
        """Derivative in the residual."""
        raise NotImplementedError

    def curvature_at(self, residual: Array) -> Array:
        """Second derivative in the residual, at least 0; not needed where ``d2z`` is None."""
        raise NotImplementedError

    def value(self, z: ArrayLike, y: ArrayLike) -> Array:
        """Loss of each record, shape (n,)."""
        return self.of_residual(_residual(z, y))

    def dz(self, z: ArrayLike, y: ArrayLike) -> Array:
        """Derivative in the score: a fresh array of the shape and dtype of ``z``."""
        return self.slope_at(_residual(z, y))

    def d2z(self, z: ArrayLike, y: ArrayLike) -> Array:
        """Second derivative in the score: an array of the shape and dtype of ``z``."""
        return self.curvature_at(_residual(z, y))

    def predict(self, z: ArrayLike) -> Array:
        """Score itself."""
        return floating(z)

    def value_bound(self, radius: float, target_bound: float = 1.0) -> float:
        """Supremum of ``value`` over scores in [-radius, radius] and targets in their bound."""
        # A convex function on an interval is largest at an end of it.
        furthest = float(radius) + float(target_bound)
        return float(self.of_residual(np.array([-furthest, furthest])).max())


def floating(z: ArrayLike) -> Array:
    """``z`` as an array of floats, of its own precision if it has one."""
    z = np.asarray(z)
    return z if z.dtype.kind == "f" else z.astype(np.float64)


def _margin(z: ArrayLike, y: ArrayLike) -> Array:
    z = floating(z)
    return np.multiply(z, y, dtype=z.dtype, casting="same_kind")


def _residual(z: ArrayLike, y: ArrayLike) -> Array:
    z = floating(z)
    return np.subtract(z, y, dtype=z.dtype, casting="same_kind")


def minus_sigmoid_minus(margin: Array) -> Array:
    """-1/(1 + exp(margin)), written over ``margin``.

    Three times faster than ``scipy.special.expit``, which is not vectorised, and relatively exact
    in both tails, which the form by tanh is not. An overflow of exp is harmless: 1/inf is the 0
    asked for.
    """
    with np.errstate(over="ignore"):
        np.exp(margin, out=margin)
    margin += 1
    return np.divide(-1, margin, out=margin)


def log_one_plus_exp_minus(margin: Array) -> Array:
    """log(1 + exp(-margin)) = log1p(exp(-|margin|)) + max(-margin, 0)."""
    tail = np.abs(margin)
    np.negative(tail, out=tail)
    np.exp(tail, out=tail)
    np.log1p(tail, out=tail)
    tail -= np.minimum(margin, 0)
    return tail
