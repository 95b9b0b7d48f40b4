"""Bound on the L1 norm: the lasso in its constrained form."""

from dataclasses import dataclass

import numpy as np

from skdp.penalties._penalty import Penalty, check_at_least, indicator

__all__ = ["L1Ball"]


@dataclass(frozen=True)
class L1Ball(Penalty):
    """``|w|_1 <= radius``, over all entries.

    Parameters
    ----------
    radius : float > 0
        Bound of the L1 norm.
    """

    bounded = True
    radius: float = 1.0

    def __post_init__(self):
        check_at_least("radius", self.radius, 0.0, strictly=True)

    def value(self, w):
        """0 inside, infinity outside."""
        return indicator(np.abs(w).sum(), self.radius, w.dtype)

    def prox(self, w, step):
        """Projection: soft threshold at the level that leaves the norm at the radius.

        Found by sorting, O(d log d) (Duchi, Shalev-Shwartz, Singer and Chandra 2008).
        """
        size = np.abs(w, dtype=np.float64).ravel()
        if size.sum() <= self.radius:
            return np.array(w)
        largest_first = np.sort(size)[::-1]
        levels = (np.cumsum(largest_first) - self.radius) / np.arange(1, size.size + 1)
        level = levels[np.flatnonzero(largest_first > levels)[-1]]
        shrunk = np.maximum(np.abs(w, dtype=np.float64) - level, 0.0)
        return np.copysign(shrunk, w).astype(w.dtype)

    def vertex(self, direction):
        """Corner of the ball against the largest entry of ``direction``."""
        corner = np.zeros_like(direction)
        at = np.argmax(np.abs(direction))
        corner.flat[at] = np.copysign(self.radius, -direction.flat[at])
        return corner
