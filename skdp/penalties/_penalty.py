"""Base class of penalties: formulas of the coefficients with their prox. They never see a record."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

__all__ = ["Array", "Penalty"]

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Penalty:
    """Formula of the coefficients, on the scale of a SUM of losses over records.

    Attributes
    ----------
    convexity : float
        Largest m such that ``value(w) - m/2 |w|^2`` is convex: strong convexity if positive, weak
        convexity if negative.
    smooth : bool
        Whether ``gradient`` exists everywhere.
    separable : bool
        Whether it is a sum over single coefficients.
    bounded : bool
        Whether it is the indicator of a bounded set, which has a ``vertex`` in each direction.

    See Also
    --------
    skdp.penalties.make : A penalty from a name.
    ScaledPenalty : How a solver sees it: beside a free intercept.

    Notes
    -----
    Coefficients are (d,), or (d, K) with a column an output. The intercept is not among them: see
    ``ScaledPenalty``.

    Examples
    --------
    >>> from skdp.penalties import L1, L2, SCAD
    >>> [(type(p).__name__, p.smooth, p.convexity) for p in (L2(2.0), L1(2.0), SCAD(2.0, a=3.0))]
    [('L2', True, 2.0), ('L1', False, 0.0), ('SCAD', False, -0.5)]
    >>> SCAD(2.0, a=3.0).largest_step  # beyond it the prox has no one minimiser
    2.0
    """

    if TYPE_CHECKING:  # read only: a subclass gives a number, a field or a property

        @property
        def convexity(self) -> float: ...
        @property
        def smooth(self) -> bool: ...
        @property
        def separable(self) -> bool: ...
        @property
        def bounded(self) -> bool: ...
    else:
        convexity = 0.0
        smooth = separable = bounded = False

    @property
    def convex(self) -> bool:
        """True if the penalty is a convex function."""
        return self.convexity >= 0.0

    @property
    def largest_step(self) -> float:
        """Steps below this have a prox: the problem it solves is then strongly convex."""
        return np.inf if self.convex else -1.0 / self.convexity

    def check_step(self, step: float) -> None:
        """Refuse a step at which the formula of a non-convex prox is not the minimiser."""
        if not 0.0 <= step < self.largest_step:
            raise ValueError(
                f"{self} has a prox for steps between 0 and {self.largest_step:g} only, got "
                f"{step:g}; take a smaller step (a larger rho in ADMM) or a less bent penalty."
            )

    def value(self, w: Array) -> float:
        """Penalty at ``w``; infinite outside a constraint."""
        raise NotImplementedError

    def prox(self, w: Array, step: float) -> Array:
        """Minimiser over u of ``value(u) + |u - w|^2 / (2 step)``: a fresh array like ``w``."""
        raise NotImplementedError

    def gradient(self, w: Array) -> Array:
        """Gradient; only of a ``smooth`` penalty."""
        raise NotImplementedError(f"{type(self).__name__} has no gradient: use its prox.")

    def vertex(self, direction: Array) -> Array:
        """Minimiser of ``<direction, u>`` over the set; only of a ``bounded`` one."""
        raise NotImplementedError(
            f"{type(self).__name__} has no vertices: use a bounded set such as L1Ball(radius)."
        )


def check_at_least(name: str, number: float, low: float, strictly: bool = False) -> float:
    """Return ``number`` as a float, or refuse it: NaN, infinite or too small."""
    number = float(number)
    if not np.isfinite(number) or number < low or (strictly and number == low):
        relation = "greater than" if strictly else "at least"
        raise ValueError(f"{name} must be finite and {relation} {low:g}, got {number!r}.")
    return number


def soft_threshold(w: Array, threshold: float) -> Array:
    """Shrink each entry by ``threshold`` and stop at 0: w minus its projection on a box."""
    return w - np.clip(w, -float(threshold), float(threshold))


def indicator(size: float, bound: float, dtype: DTypeLike) -> float:
    """0 within the bound and infinity beyond, where beyond means more than rounding can explain."""
    return 0.0 if size <= bound * (1.0 + np.sqrt(np.finfo(dtype).eps)) else np.inf
