"""Bound on the L2 norm."""

from dataclasses import dataclass

import numpy as np

from ._penalty import Array, indicator
from ._scaled import Ball

__all__ = ["L2Ball"]


@dataclass(frozen=True)
class L2Ball(Ball):
    """``|w|_2 <= radius``, over all entries.

    Parameters
    ----------
    radius : float > 0
        Bound of the L2 norm.

    See Also
    --------
    L2 : The penalised form.
    Box : A bound on each coefficient.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.penalties import L2Ball
    >>> L2Ball(radius=1.0).prox(np.array([3.0, 4.0]), step=1.0)
    array([0.6, 0.8])
    """

    def value(self, w: Array) -> float:
        """0 inside, infinity outside."""
        return indicator(float(np.linalg.norm(w)), self.radius, w.dtype)

    def prox(self, w: Array, step: float) -> Array:
        """Projection: scale down to the radius."""
        return w * min(1.0, float(self.radius) / max(float(np.linalg.norm(w)), self.radius))

    def vertex(self, direction: Array) -> Array:
        """Point of the sphere against ``direction``; the centre if that is 0."""
        norm = float(np.linalg.norm(direction))
        return direction * (-float(self.radius) / norm if norm > 0.0 else 0.0)
