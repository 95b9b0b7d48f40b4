"""Changes of the curvature of elliptical rows, times a vector: with the noise of a moment, and with parameters.

Noise G of the moment moves the rows' covariance, their center, line and lengths, and the scores' mean and deviation: to
first order by a linear map of G times three vectors, and of one trace. Parameters move the line and the scores. Along
these the curvature moves little with G: what is longer is further out, too, where losses bend less.
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass

import numpy as np

from ..mechanisms import Public
from ._elliptical import Elliptical
from ._solver import Array
from ._spread import Seen

__all__ = ["Unshrunk", "blurred", "followed", "unshrunk"]


_STEP = 1e-3  # of a squared length, for derivatives of what lengths make: they have no formula


def blurred(rows: Elliptical, v: Array) -> Array:
    """Covariance that the moment's noise gives ``bend @ v``, where no slope is clipped.

    Parameters
    ----------
    rows : Elliptical
        Of a moment as it was released.
    v : ndarray of shape (d,)
        A direction in the new coordinates.
    """
    matrix, size = rows.seen.matrix, len(v)
    held = np.stack([matrix.T @ v, matrix.T @ rows.u, rows.first], axis=1)
    moves = _with_moment(rows, v)
    vectors, trace = moves[:, :-1].reshape(size, 3, size), moves[:, -1]
    # Of a symmetric G with deviation 1 on its diagonal, 2 E[G a b' G] = (a'b) I + b a', and with traces alike.
    ends, whole = vectors @ (matrix @ held), matrix.T @ matrix
    across = vectors @ matrix
    mixed = np.einsum("jk,ckb->cjb", held.T @ held, across)
    total = across.reshape(size, -1) @ mixed.reshape(size, -1).T
    total += ends.reshape(size, -1) @ ends.transpose(0, 2, 1).reshape(size, -1).T
    with_trace = np.outer(np.einsum("ajb,bj->a", vectors, matrix @ whole @ held), trace)
    total += 2.0 * (with_trace + with_trace.T + np.square(whole).sum() * np.outer(trace, trace))
    return np.asarray(0.5 * rows.seen.noise**2 * total)


def followed(rows: Elliptical, v: Array) -> Array:
    """The derivative of ``bend @ v`` in the parameters of the new rows, where no slope is clipped.

    Parameters
    ----------
    rows, v : object
        As for `blurred`.
    """
    turn = (rows.beside - np.outer(rows.line, rows.line)) / rows.deviation
    still = np.zeros(len(v))
    means = _means(rows, np.stack([rows.center, rows.line, still, still]))
    return _turned(rows, v, means, turn)


def _with_moment(rows: Elliptical, v: Array) -> Array:
    """The derivative of ``bend @ v`` in G times v, times u, times what makes the center, and in the trace."""
    center, line, size = rows.center, rows.line, len(v)
    row, score, first = (np.eye(size, 3 * size + 1, k * size) for k in range(3))
    trace = np.eye(1, 3 * size + 1, 3 * size)[0]
    mean = rows.u @ first
    deviation = (0.5 * (rows.u @ score) - rows.mean * mean) / rows.deviation
    turn = score - rows.mean * first - np.outer(center, mean) - np.outer(line, deviation)
    square = 2.0 * (center @ first)
    means = _means(rows, np.stack([mean, deviation, square, trace - square]))
    (own, aside, cross, _), _ = means
    out = _turned(rows, v, means, turn / rows.deviation)
    out += aside * row + (own - aside) * (float(center @ v) * first + np.outer(center, v @ first))
    return out + cross * (float(line @ v) * first + np.outer(line, v @ first))


def _turned(rows: Elliptical, v: Array, means: tuple[Array, Array], turn: Array) -> Array:
    """Return the effect of the means' derivatives, and of the line's."""
    center, line = rows.center, rows.line
    near, far = float(line @ v), float(center @ v)
    (_, aside, cross, straight), by = means
    kinds = far * center, rows.beside @ v - near * line, near * center + far * line, near * line
    out = np.stack(kinds, axis=1) @ by
    out += (straight - aside) * (near * turn + np.outer(line, v @ turn))
    return np.asarray(out + cross * (far * turn + np.outer(center, v @ turn)))


def _means(rows: Elliptical, changes: Array) -> tuple[Array, Array]:
    """Four means, and how they change with the scores' mean and deviation, the center's square and the spread."""
    means, by_mean, by_deviation = rows.means()
    by_sizes = []
    for step in np.diag(np.full(2, _STEP * rows.sizes.sum())):
        other, ends = copy(rows), []
        for sign in (1.0, -1.0):
            other.lay(np.maximum(rows.sizes + sign * step, 1e-300))
            ends.append(other.means()[0])
        by_sizes.append((ends[0] - ends[1]) / (2.0 * step.sum()))
    return means, np.stack([by_mean, by_deviation, *by_sizes], axis=1) @ changes


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
