"""Coefficients without what shrinks them, and how far they may be off: of what a perturbed objective has released.

The minimiser u of losses, a ridge R and a random linear term b is off the model's parameters by ``-H^-1 (R u + slopes
+ b)``, H the mean curvature between both. R u is known, so what it takes can be given back; the rest is sampling and
noise. That holds where losses are those of the model: clipped ones have another minimiser. Nothing here costs anything,
and no promise rests on it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..mechanisms import Public
from ._blurred import blurred, followed
from ._elliptical import Elliptical
from ._solver import Array
from ._spread import Seen

__all__ = ["Unshrunk", "unshrunk"]

# Of what is given back, by which a curvature of elliptical rows may be off: in simulations with uniform, exponential
# and binary columns about so much.
_UNSURE = 0.1
_ROUNDS = 3  # until the middle between minimiser and estimate stays where it is


@dataclass(frozen=True)
class Unshrunk:
    """Parameters of given rows, without a penalty.

    Parameters
    ----------
    w : ndarray of shape (d,)
        Their estimate.
    deviation : ndarray of shape (d,)
        Its standard errors: of sampling, of noise, and of what was given back.
    given_back : ndarray of shape (d,)
        What the ridge had taken.
    ratio : float
        Noise of the rows' moment over its shortest direction.
    """

    w: Array
    deviation: Array
    given_back: Array
    ratio: float


def unshrunk(seen: Seen, w: Array, public: Public, ridge: Array, noise: float) -> Unshrunk:
    """``w + H^-1 R w`` and ``K^-1 (S + noise^2 + V) K^-1``, of sampling, of the linear term and of the moment's noise.

    H is taken at the middle of minimiser and estimate, S, the covariance of slopes, at the estimate. A row of which a
    share s is left has s^2 in H and s^4 in S: Mallows' weights. V is the covariance of H v, v what is given back. K is
    H, and what H v moves with the estimate, by way of the middle.

    Parameters
    ----------
    seen : Seen
        What was bought; its moment as it was released.
    w : ndarray of shape (d,)
        The minimiser.
    public : Public
        Facts about the given rows.
    ridge : ndarray of shape (d,)
        What bends the objective beside the losses, in the new coordinates.
    noise : float
        Standard deviation of each coordinate of the linear term.
    """
    least = float(np.linalg.eigvalsh(seen.moment)[0])
    size, matrix = len(w), seen.matrix
    ratio = seen.noise * math.sqrt(2.0 * size) / least if least > 0.0 else math.inf
    pulled, moved = ridge * np.linalg.solve(matrix.T, w), np.zeros(size)
    for _ in range(_ROUNDS):
        rows = Elliptical(seen, w + 0.5 * moved, public)
        inverse = np.linalg.inv(seen.n * rows.bend())
        back = inverse @ pulled
        moved = matrix.T @ back
    slopes = Elliptical(seen, w + moved, public).slopes()
    inverse = np.linalg.inv(seen.n * (rows.bend() + 0.5 * followed(rows, back)))
    middle = seen.n * slopes + noise**2 * np.eye(size) + seen.n**2 * blurred(rows, back)
    spread = matrix.T @ (inverse @ middle @ inverse.T) @ matrix
    variance = np.diagonal(spread) + np.square(_UNSURE * moved)
    return Unshrunk(w + moved, np.sqrt(variance), moved, ratio)
