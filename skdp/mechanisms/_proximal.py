"""Inner optimisation with a convex penalty that has a prox: Newton models solved by FISTA.

A prox step u = prox(w - s g) yields (w - s g - u)/s, a subgradient of the penalty at u; with the
gradient at u that is the certificate. Newton models only speed the way there.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ._objective import Array, Curvature, Objective

__all__ = ["minimise_composite"]

DECREASE = 0.1
INNER_CAP = 5000  # only delays: an unfinished model still gives a descent direction


def minimise_composite(objective: Objective, penalty: Any, tolerance: float) -> Array:
    """Return w at which gradient plus some subgradient has norm at most ``tolerance``."""
    w = np.zeros_like(objective.linear)
    w = penalty.prox(w, 1.0)
    while True:
        z = objective.rows.dot(w)
        g = objective.gradient(w, z)
        curvature = objective.curvature(w, z, 0.1)
        size = 1.0 / curvature.largest()
        u = penalty.prox(w - size * g, size)
        z_u = objective.rows.dot(u)
        certificate = objective.gradient(u, z_u) - g + (w - u) / size
        if np.linalg.norm(certificate) <= tolerance:
            return u
        residual = float(np.linalg.norm(certificate))
        goal = residual * min(0.1, math.sqrt(residual / (1.0 + residual)) / 10)
        target = _model(curvature, penalty, w, g, size, max(goal, tolerance / 10))
        w = _descend(objective, penalty, w, z, g, (target, u))


def _model(
    curvature: Curvature, penalty: Any, w: Array, g: Array, size: float, goal: float
) -> Array:
    """Minimise <g, v - w> + (v - w)' H (v - w)/2 + penalty(v) by FISTA with restarts."""
    v, ahead, pace = w, w, 1.0
    slope = g
    for _ in range(INNER_CAP):
        fresh = penalty.prox(ahead - size * slope, size)
        if np.linalg.norm(ahead - fresh) <= goal * size:
            return fresh
        if float(np.vdot(ahead - fresh, fresh - v)) > 0:  # O'Donoghue and Candes 2015
            pace = 1.0
        faster = (1 + math.sqrt(1 + 4 * pace * pace)) / 2
        ahead = fresh + (pace - 1) / faster * (fresh - v)
        v, pace = fresh, faster
        slope = g + curvature.times(ahead - w)
    return v


def _descend(
    objective: Objective, penalty: Any, w: Array, z: Array, g: Array, ends: tuple[Array, Array]
) -> Array:
    """Go towards the first of the ends as far as the objective provably falls, else the second.

    The smooth part is bounded from its derivatives as in `_minimise`. The second end is a
    prox-gradient point, always in a direction of descent; the first is the Newton model's.
    """
    before = penalty.value(w)
    for end in ends:
        p = end - w
        promised = float(np.vdot(g, p)) + penalty.value(end) - before
        slope = objective.along(w, z, p)
        t = 1.0
        while promised < 0.0 and t > 1e-12:
            smooth = t / 2 * (slope(t / 2) + slope(t))
            moved = penalty.value(w + t * p) - before
            if smooth + moved <= DECREASE * t * promised:
                return w + t * p
            t /= 2
    return ends[1]
