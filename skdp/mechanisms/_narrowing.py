"""Starting point for a loss with corners: near the minimiser of the same loss with blunter ones.

Beside a sharp corner a Newton step sees only the few records that lie in it. A blunt one has all of them in sight, and
as it narrows the minimiser moves along a line for as long as the same records stay in it; at the end that is a vertex
of the linear programme whose corners are not rounded at all (Madsen and Nielsen 1993, A finite smoothing algorithm for
linear l1 estimation; Chen 2007, A finite smoothing algorithm for quantile regression). An L1 norm is one more such loss
of each coefficient, and what lies in its corner at the end is zero.

A search ends by its certificate, which is asked of loss and penalty as they are (docs/proofs/sums.md): nothing here
carries a promise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..penalties import L1, ElasticNet
from ._objective import DENSE_WIDTH, Array, Objective, solver_of

__all__ = ["has_corners", "narrowed"]

BLUNT = 4.0  # curvature of a loss whose corners are no trouble
NARROWER = 8.0  # times that a corner is as sharp as the one before
ROUNDS = 40  # for one width
TRIES = 40  # of one step
KEPT = 0.1  # of a slope at the start of a step: where less is left, it is long enough
ENOUGH = 1e-9  # of a gradient for each record, and of the one before
ZERO = 1e-9  # of a coefficient of rows of norm 1: what an L1 norm's corner is narrowed to
FLAT = 1e-12  # of the largest curvature: directions of less are rounding


def has_corners(objective: Objective, penalty: Any = None) -> bool:
    """Return whether narrowing applies: sharp corners, few columns, and no penalty but an L1 norm or elastic net."""
    one_score = objective.linear.ndim == 1 and len(objective.linear) <= DENSE_WIDTH
    sharp = float(objective.loss.curvature or 0.0) > BLUNT
    known = penalty is None or isinstance(penalty.penalty, L1 | ElasticNet)
    return known and one_score and sharp and objective.loss.blunter(1.0) is not None


def narrowed(objective: Objective, penalty: Any = None) -> Array:
    """Approximate the minimiser over widths that fall to the loss's own."""
    w = before = np.zeros_like(objective.linear)
    weights, ridge = _of_coefficients(penalty, len(w))
    objective = replace(objective, strength=objective.strength + ridge)
    bend = float(objective.loss.curvature)
    for times in _widths(bend, None if penalty is None else ZERO * bend):
        # Were the same records in the corner at the last two widths, this is the end already.
        ahead = w + (w - before) / NARROWER
        before = w
        blunt = replace(objective, loss=objective.loss.blunter(max(times, 1.0)))
        w = _Rounded(blunt, weights, times / bend).minimiser(ahead)
    if penalty is None:
        return w
    nearest = np.where((np.abs(w) < times / bend) & (weights > 0.0), 0.0, w)
    return _Rounded(objective, weights, 0.0).minimiser(nearest)


def _of_coefficients(penalty: Any, size: int) -> tuple[Array, Array]:
    """Return the weights of each coefficient's absolute value and of half its square."""
    if penalty is None:
        return np.zeros(size), np.zeros(size)
    one, two = (np.array([penalty.value(far * e) for e in np.eye(size)]) for far in (1.0, 2.0))
    return 2.0 * one - 0.5 * two, two - 2.0 * one


def _widths(bend: float, least: float | None) -> list[float]:
    """Return falling widths in units of the loss's own corners; below 1 where a norm must be narrower."""
    found = [1.0]
    while bend > BLUNT * found[-1]:
        found.append(found[-1] * NARROWER)
    found.reverse()
    while least is not None and found[-1] > least:
        found.append(found[-1] / NARROWER)
    return found


@dataclass(frozen=True)
class _Rounded:
    """An objective beside an L1 norm whose corner is rounded over a width; at 0, of coefficients that stay as they are.

    Parameters
    ----------
    objective : Objective
        All but the norm.
    weights : ndarray
        Of each coefficient's absolute value.
    width : float
        At 0, zeros stay, and no other coefficient's sign is looked at again.
    """

    objective: Objective
    weights: Array
    width: float

    def slopes(self, w: Array) -> Array:
        """Return the gradient of the rounded norm."""
        if not self.width:
            return self.weights * np.sign(w)
        return self.weights * np.clip(w / self.width, -1.0, 1.0)

    def minimiser(self, w: Array) -> Array:
        """Minimise by Newton's method along exact lines: a quadratic in pieces takes finitely many."""
        objective = self.objective
        z = objective.rows.dot(w)
        g = objective.gradient(w, objective.slopes(z)) + self.slopes(w)
        for _ in range(ROUNDS):
            p, size = self._direction(w, z, g), float(np.linalg.norm(g))
            start = float(np.vdot(g, p))
            if not start < 0.0:
                break
            w = w + _length(self._along(w, z, p), start) * p
            z = objective.rows.dot(w)
            g = objective.gradient(w, objective.slopes(z)) + self.slopes(w)
            if not np.linalg.norm(g) > ENOUGH * max(size, len(z)):
                break
        return w

    def _along(self, w: Array, z: Array, p: Array) -> Callable[[float], float]:
        slope = self.objective.along(w, z, p)
        return lambda t: slope(t) + float(np.vdot(self.slopes(w + t * p), p))

    def _direction(self, w: Array, z: Array, g: Array) -> Array:
        """Newton's, from the records that lie in a corner."""
        curved = self.objective.weights(z)
        inside, rows = np.flatnonzero(curved), self.objective.rows
        if 2 * len(inside) < len(curved):
            rows, curved = rows.take(inside), curved[inside]
        matrix = rows.gram(curved)
        diagonal = np.diag_indices_from(matrix)
        matrix[diagonal] += self.objective.strength
        if self.width:
            matrix[diagonal] += self.weights / self.width * (np.abs(w) < self.width)
        matrix[diagonal] += FLAT * float(matrix[diagonal].max())
        free = np.flatnonzero((w != 0.0) | (self.weights == 0.0) if not self.width else w == w)
        p = np.zeros_like(w)
        if len(free):
            p[free] = -solver_of(matrix[np.ix_(free, free)])(g[free])
        return p


def _length(slope: Callable[[float], float], start: float) -> float:
    """A step of at most 1 at which the slope along the line is about 0, or still negative."""
    low, at_low, t = 0.0, start, 1.0
    high, at_high = 1.0, slope(1.0)
    found = at_high
    if found <= 0.0:
        return 1.0
    for _ in range(TRIES):
        if abs(found) <= KEPT * abs(start):
            break
        if found > 0.0:
            high, at_high = t, found
        else:
            low, at_low = t, found
        t = low + (high - low) * min(max(at_low / (at_low - at_high), 0.05), 0.95)
        found = slope(t)
    return t
