"""The curvature of log-odds where rows are elliptical, of what a whitening solver has bought of them.

Rows vary around their mean as ``r S^{1/2} e``: e on a sphere, alike in all directions, and r of a law that the moment
and the mean norm give. Of normal rows that is exact. Long rows have extreme scores: what shrinking takes from them is
little of the curvature along the scores, and more of that beside. Whether rows are skewed no second moment tells.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.linalg import eigh_tridiagonal
from scipy.optimize import brentq
from scipy.special import expit, gammaincinv

from ..mechanisms import Public
from ._solver import Array
from ._spread import LENGTHS, NODES, Seen, counted

__all__ = ["Elliptical", "bend_of"]

_AT = (np.arange(LENGTHS) + 0.5) / LENGTHS
_SHAPES = math.log(0.05), math.log(1e4)  # of squared lengths: from single long rows to equal ones


def bend_of(seen: Seen, w: Array, public: Public) -> Array:
    """Mean second derivative of a record's loss in the new coordinates.

    Parameters
    ----------
    seen : Seen
        What was bought.
    w : ndarray of shape (d,)
        Parameters of the given rows.
    public : Public
        Facts about these.
    """
    return Elliptical(seen, w, public).bend()


class Elliptical:
    """Rows in new coordinates, and their scores.

    Parameters
    ----------
    seen, w, public : object
        As for `bend_of`.

    Attributes
    ----------
    center, beside : ndarray
        Mean of the rows, and covariance.
    line : ndarray of shape (d,)
        Covariance with the score, over its deviation.
    mean, deviation : float
        Of scores.
    """

    def __init__(self, seen: Seen, w: Array, public: Public) -> None:
        self.seen, matrix = seen, seen.matrix
        mapped = matrix @ seen.moment @ matrix.T
        self.first = np.zeros(len(w))  # what the moment makes the center of
        if public.intercept:
            self.first[-1] = 1.0 / public.intercept
        self.center = matrix @ seen.moment @ self.first
        self.u = np.linalg.solve(matrix.T, w)
        self.beside = mapped - np.outer(self.center, self.center)
        along = self.beside @ self.u
        self.mean = float(self.center @ self.u)
        self.deviation = math.sqrt(max(float(self.u @ along), 1e-12))
        self.line = along / self.deviation
        self._directions = max(len(w) - (public.intercept > 0.0), 1)
        square, spread = float(self.center @ self.center), float(np.trace(self.beside))
        self.sizes = np.array([square, max(spread, 1e-300)])
        self.lay(self.sizes)

    def lay(self, sizes: Array) -> None:
        """Rows at the nodes of a height along the line, and of lengths of this squared center and this spread."""
        height, self._nodes = _sphere(self._directions)
        square, spread = map(float, sizes)
        radii = _squared_radii(square, spread, self.seen.typical / self.seen.asked.scale)
        self._counted = counted(np.sqrt(square + spread * radii), self.seen.asked)
        self.at = height[:, None] * np.sqrt(radii)
        self._aside = np.outer(self._directions - height**2, radii) / max(self._directions - 1, 1)

    def bend(self) -> Array:
        """Mean second derivative of a record's loss."""
        scores = self.mean + self.deviation * self.at
        true, p = expit(scores), expit(scores * self._counted.short)
        cap = self._counted.cap
        curved = true * (1.0 - p <= cap) + (1.0 - true) * (p <= cap)
        return self._moment(p * (1.0 - p) * curved * self._counted.left**2)

    def slopes(self) -> Array:
        """Mean square of a record's gradient, where no slope is clipped."""
        return self._moment(self._unclipped()[0] * (self._counted.left / self._counted.short) ** 2)

    def means(self) -> tuple[Array, Array, Array]:
        """Return the means that make a curvature without clips, and their derivatives by the scores' two moments."""
        bent, change = self._unclipped()
        return self._means(bent), self._means(change), self._means(change * self.at)

    def _unclipped(self) -> tuple[Array, Array]:
        """Second and third derivatives of losses of whole scores."""
        p = expit(self.mean + self.deviation * self.at)
        bent = p * (1.0 - p) * self._counted.left**2
        return bent, bent * (1.0 - 2.0 * p)

    def _means(self, values: Array) -> Array:
        """Return means of values: with the center's square, beside the line, with both, with the line's square."""
        parts = np.stack([np.ones_like(values), self._aside, self.at, self.at**2])
        return np.asarray((parts * values).mean(axis=2) @ self._nodes)

    def _moment(self, values: Array) -> Array:
        """Mean of rows' squares times values."""
        own, aside, cross, square = self._means(values)
        both, straight = np.outer(self.center, self.line), np.outer(self.line, self.line)
        out = own * np.outer(self.center, self.center) + aside * (self.beside - straight)
        return np.asarray(out + cross * (both + both.T) + square * straight)


@lru_cache(maxsize=64)
def _sphere(size: int) -> tuple[Array, Array]:
    """Gauss's nodes and weights of one coordinate of what is uniform on a sphere of radius ``sqrt(size)``."""
    n = np.arange(2.0, NODES)
    steps = n * (n + size - 3.0) / ((2.0 * n + size - 2.0) * (2.0 * n + size - 4.0))
    steps = np.concatenate([[1.0 / size], steps])
    nodes, vectors = eigh_tridiagonal(np.zeros(NODES), np.sqrt(steps))
    return nodes * math.sqrt(size), vectors[0] ** 2


@lru_cache(maxsize=64)
def _squared_radii(center: float, spread: float, mean: float) -> Array:
    """Quantiles of a gamma law of mean 1, of which the mean norm of rows with this center and spread is `mean`."""

    def of(shape: float) -> Array:
        drawn = gammaincinv(math.exp(shape), _AT)
        return np.asarray(drawn / drawn.mean())

    def over(shape: float) -> float:
        return float(np.sqrt(center + spread * of(shape)).mean()) - mean

    least, most = _SHAPES
    # Where noise makes the mean none of these rows': their nearest, and so where numbers are beyond double precision.
    if not over(least) < 0.0:
        return of(least)
    return of(float(brentq(over, least, most, xtol=1e-9)) if over(most) > 0.0 else most)
