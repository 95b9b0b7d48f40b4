"""Squared L2 norm: ridge."""

from dataclasses import dataclass

import numpy as np

from ._penalty import Array, Penalty, check_at_least

__all__ = ["L2"]


@dataclass(frozen=True)
class L2(Penalty):
    """``strength/2 * |w|^2``.

    Parameters
    ----------
    strength : float >= 0
        Weight against the sum of the losses: 1/C of scikit-learn.

    See Also
    --------
    L2Ball : The constrained form.
    ElasticNet : With some L1.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.penalties import L2
    >>> L2(strength=3.0).prox(np.array([2.0, -4.0]), step=1.0)
    array([ 0.5, -1. ])
    >>> L2(strength=3.0).convexity
    3.0
    """

    smooth = True
    separable = True
    strength: float = 1.0

    def __post_init__(self) -> None:
        check_at_least("strength", self.strength, 0.0)

    @property
    def convexity(self) -> float:
        """Modulus of strong convexity: the strength."""
        return float(self.strength)

    def value(self, w: Array) -> float:
        """Penalty at ``w``."""
        return float(0.5 * self.strength * np.square(w).sum())

    def prox(self, w: Array, step: float) -> Array:
        """Shrink towards 0."""
        return w / float(1.0 + step * self.strength)

    def gradient(self, w: Array) -> Array:
        """``strength * w``."""
        return w * float(self.strength)
