"""Clean a noisy second moment of known noise: for coordinates, and for bounds on their error."""

from __future__ import annotations

import math

import numpy as np

from ._solver import Array

__all__ = ["denoised"]


def denoised(moment: Array, noise: float) -> Array:
    """The diagonal as it is, and beside it what stands out of the noise on either side, less what that adds to it.

    A column's own length is known far better than how columns go together. Where these are measured from, no bulk of
    directions is taken for signal because it is long, and directions that columns of indicators leave empty are found
    below the bulk as others are above it.
    """
    own = np.diag(np.maximum(np.diagonal(moment), 0.0))
    values, vectors = np.linalg.eigh(moment - own)
    sizes, edge = np.abs(values), noise * math.sqrt(2.0 * len(values))
    left = np.sqrt(np.maximum(sizes**2 - edge**2, 0.0))
    kept = np.where(sizes > edge, 0.5 * np.copysign(sizes + left, values), 0.0)
    together = (vectors * kept) @ vectors.T
    beside = np.diag(np.maximum(np.diagonal(moment - together), 0.0))
    values, vectors = np.linalg.eigh(together + beside)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)
