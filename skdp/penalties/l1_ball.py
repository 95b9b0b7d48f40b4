"""Bound on the L1 norm: the lasso in its constrained form."""

from dataclasses import dataclass

import numpy as np

from ._penalty import Array, indicator
from ._scaled import Ball

__all__ = ["L1Ball"]


@dataclass(frozen=True)
class L1Ball(Ball):
    """``|w|_1 <= radius``, over all entries.

    Parameters
    ----------
    radius : float > 0
        Bound of the L1 norm.

    See Also
    --------
    L1 : The penalised form.
    skdp.solvers.FrankWolfe : The solver that goes from vertex to vertex.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.penalties import L1Ball
    >>> L1Ball(radius=1.0).prox(np.array([2.0, 1.5, 0.0]), step=1.0)
    array([0.75, 0.25, 0.  ])
    >>> L1Ball(radius=1.0).vertex(np.array([0.5, -2.0]))
    array([0., 1.])
    """

    def value(self, w: Array) -> float:
        """0 inside, infinity outside."""
        return indicator(np.abs(w).sum(), self.radius, w.dtype)

    def prox(self, w: Array, step: float) -> Array:
        """Projection: soft threshold at the level that leaves the norm at the radius.

        Found by sorting, O(d log d) (Duchi, Shalev-Shwartz, Singer and Chandra 2008). It works on
        the gaps below the largest entry, so that a small radius is not lost in large entries.
        """
        size = np.abs(w, dtype=np.float64)
        if size.sum() <= self.radius:
            return np.array(w)
        gaps = size.max() - size
        ordered = np.sort(gaps, axis=None)
        left = (np.cumsum(ordered) + self.radius) / np.arange(1, ordered.size + 1)
        left_of_largest = left[np.flatnonzero(ordered < left)[-1]]
        return np.copysign(np.maximum(left_of_largest - gaps, 0.0), w).astype(w.dtype)

    def vertex(self, direction: Array) -> Array:
        """Corner of the ball against the largest entry of ``direction``."""
        corner = np.zeros_like(direction)
        at = np.argmax(np.abs(direction))
        corner.flat[at] = np.copysign(self.radius, -direction.flat[at])
        return corner
