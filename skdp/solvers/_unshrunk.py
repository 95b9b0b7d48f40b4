"""Coefficients without what shrinks them, and how far they may be off: of what a perturbed objective has released.

A minimiser of n mean losses, a ridge and a random linear term is off the losses' own by the inverse curvature times
both. The ridge is known, so what it takes can be given back; the rest is sampling and noise. That holds where losses
are those of the model: clipped ones have another minimiser. Nothing here costs anything, and no promise rests on it.
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

# Of what is given back, by which a curvature of normal scores may be off: in simulations with uniform, exponential and
# binary columns about so much.
_UNSURE = 0.1
_ROUNDS = 3


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
    """With G the moment's noise, v what is given back, H v blurred by G: H^-1 (slopes + noise^2 + blur) H^-1, and v v'.

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
    # A shrunk row weighs less in a slope's square than in the curvature: by Mallows' weight once more.
    # Where the parameters err, the curvature at the middle follows them by half.
    inverse = np.linalg.inv(seen.n * (rows.bend() + 0.5 * followed(rows, back)))
    middle = seen.n * slopes + noise**2 * np.eye(size) + seen.n**2 * blurred(rows, back)
    spread = matrix.T @ (inverse @ middle @ inverse.T) @ matrix
    variance = np.diagonal(spread) + np.square(_UNSURE * moved)
    return Unshrunk(w + moved, np.sqrt(variance), moved, ratio)
