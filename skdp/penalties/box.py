"""Bounds on each coefficient: an interval, or no negative coefficients, alone and with an elastic net."""

from dataclasses import dataclass

import numpy as np

from ._penalty import Array, Penalty, check_at_least
from .norms import ElasticNet

__all__ = ["Box", "NonNegative"]


@dataclass(frozen=True)
class Box(Penalty):
    """Bounds [low, high] on each coefficient; ``Box(0, inf)`` keeps them from being negative.

    Parameters
    ----------
    low, high : float
        Bounds; either may be infinite.

    See Also
    --------
    L2Ball : A bound of the norm.
    L1Ball : A bound that gives zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.penalties import Box
    >>> Box(0.0, np.inf).prox(np.array([-2.0, 3.0]), step=1.0)
    array([0., 3.])
    >>> Box(-1.0, 1.0).vertex(np.array([2.0, -1.0]))
    array([-1.,  1.])
    """

    separable = True
    low: float = -1.0
    high: float = 1.0

    def __post_init__(self) -> None:
        if not self.low <= self.high or not (self.low < np.inf and self.high > -np.inf):
            raise ValueError(
                f"low must be at most high, got low={self.low!r} and high={self.high!r}; "
                "give the smaller one first."
            )

    @property
    def bounded(self) -> bool:
        """True if both bounds are finite."""
        return bool(np.isfinite(self.low) and np.isfinite(self.high))

    def value(self, w: Array) -> float:
        """0 inside, infinity outside, where outside means more than rounding can explain."""
        w = np.asarray(w)
        slack = np.sqrt(np.finfo(w.dtype if w.dtype.kind == "f" else float).eps)
        low, high = (0.0 if np.isinf(end) else slack * abs(end) for end in (self.low, self.high))
        inside = np.all(w >= self.low - low) and np.all(w <= self.high + high)
        return 0.0 if inside else np.inf

    def prox(self, w: Array, step: float) -> Array:
        """Projection."""
        return np.clip(w, float(self.low), float(self.high))

    def vertex(self, direction: Array) -> Array:
        """Minimiser of ``<direction, u>`` over the box, if it is bounded."""
        if not self.bounded:
            return super().vertex(direction)
        corner = np.where(direction > 0, float(self.low), float(self.high))
        return corner.astype(direction.dtype)


@dataclass(frozen=True)
class NonNegative(Penalty):
    """An elastic net of coefficients that are 0 or more, and infinity for others.

    Parameters
    ----------
    strength : float >= 0
        Weight against the sum of the losses: 1/C of scikit-learn; 0 leaves the signs alone.
    l1_ratio : float in [0, 1]
        Share of the L1 norm: 1 is the lasso, 0 is ridge.

    See Also
    --------
    ElasticNet : For coefficients of either sign.
    Box : For bounds of other sizes.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.penalties import NonNegative
    >>> NonNegative(strength=2.0, l1_ratio=0.5).prox(np.array([3.0, -0.5]), step=1.0)
    array([1., 0.])
    >>> NonNegative().value(np.array([1.0, -1.0]))
    inf
    """

    separable = True
    strength: float = 0.0
    l1_ratio: float = 0.0

    def __post_init__(self) -> None:
        check_at_least("strength", self.strength, 0.0)
        self._net()  # refuses a share that is none

    def _net(self) -> ElasticNet:
        return ElasticNet(self.strength, self.l1_ratio)

    @property
    def convexity(self) -> float:
        """Modulus of strong convexity: the weight of the squared norm."""
        return self._net().convexity

    def value(self, w: Array) -> float:
        """Penalty at ``w``; infinite where a coefficient is negative."""
        return self._net().value(w) if np.all(np.asarray(w) >= 0.0) else np.inf

    def prox(self, w: Array, step: float) -> Array:
        """Return the prox of the elastic net at the coefficients with negative ones set to 0."""
        return self._net().prox(np.maximum(w, 0.0), step)
