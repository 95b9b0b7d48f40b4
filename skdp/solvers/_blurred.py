"""How the noise of a bought moment moves the curvature that is made of it.

Noise G of the moment moves the rows' covariance, their center, line and lengths, and the scores' mean and deviation: the
curvature times v moves, to first order, by a linear map of G times three vectors and of one trace. Where v lies along
the scores it moves little: what is longer is further out, too, where losses bend less.
"""

from __future__ import annotations

import numpy as np

from ._elliptical import Elliptical
from ._solver import Array

__all__ = ["blurred"]

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
    whole, each = matrix.T @ matrix, 3 * size
    # Of a symmetric G with deviation 1 on its diagonal, twice: E[G a b' G] in blocks, and with the trace of new rows'.
    blocks = np.zeros((each + 1, each + 1))
    ends = matrix @ held
    blocks[:each, :each] = np.einsum("ak,bj->jakb", ends, ends).reshape(each, each)
    blocks[:each, :each] += np.kron(held.T @ held, matrix @ matrix.T)
    blocks[:each, each] = blocks[each, :each] = 2.0 * (matrix @ whole @ held).T.ravel()
    blocks[each, each] = 2.0 * np.square(whole).sum()
    moves = _moves(rows, v)
    return np.asarray(0.5 * rows.seen.noise**2 * (moves @ blocks @ moves.T))


def _moves(rows: Elliptical, v: Array) -> Array:
    """The derivative of ``bend @ v`` in G times v, times u, times what makes the center, and in the trace."""
    center, line, size = rows.center, rows.line, len(v)
    row, score, first, trace = np.split(np.eye(3 * size + 1), [size, 2 * size, 3 * size])
    mean = rows.u @ first
    deviation = (0.5 * (rows.u @ score) - rows.mean * mean) / rows.deviation
    turn = score - rows.mean * first - np.outer(center, mean) - np.outer(line, deviation)
    turn /= rows.deviation
    square = 2.0 * (center @ first)
    changes = np.stack([mean, deviation, square, trace[0] - square])
    (own, aside, cross, straight), slopes = _means(rows)
    own_by, aside_by, cross_by, straight_by = slopes @ changes
    near, far = float(line @ v), float(center @ v)
    out = aside * row + np.outer(rows.beside @ v - near * line, aside_by)
    out += (own - aside) * (far * first + np.outer(center, v @ first))
    out += np.outer(far * center, own_by) + np.outer(near * line, straight_by)
    out += np.outer(near * center + far * line, cross_by)
    out += (straight - aside) * (near * turn + np.outer(line, v @ turn))
    out += cross * (near * first + far * turn)
    out += cross * (np.outer(center, v @ turn) + np.outer(line, v @ first))
    return np.asarray(out)


def _means(rows: Elliptical) -> tuple[Array, Array]:
    """Four means, and their derivatives in mean and deviation of scores, in the center's square and in the spread."""
    means, by_mean, by_deviation = rows.means()
    by_sizes = []
    for step in np.diag(_STEP * rows.sizes.sum() * np.ones(2)):
        ends = []
        for sign in (1.0, -1.0):
            rows.lay(np.maximum(rows.sizes + sign * step, 1e-300))
            ends.append(rows.means()[0])
        by_sizes.append((ends[0] - ends[1]) / (2.0 * step.sum()))
    rows.lay(rows.sizes)
    return means, np.stack([by_mean, by_deviation, *by_sizes], axis=1)
