"""Inner optimisation to a certificate: w with |gradient of J at w| <= tolerance, and nothing else.

J is strongly convex, so damped Newton steps always reach any tolerance above rounding; how many
they take never leaves this file. A failure would be an event outside the proofs, so there is no
iteration limit: `tolerance_for` chooses, from public numbers, a tolerance that float64 can meet.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ._mapped import MappedRows
from ._objective import Array, Objective
from ._public import Public
from ._rows import DenseRows

__all__ = ["in_double", "minimise", "tolerance_for"]

SMALLEST_SCALE = 1e-100
DECREASE = 0.1  # part of the initial slope that a step must keep on average over its two halves


def tolerance_for(public: Public, bound: float) -> float:
    """Return the tolerance on the gradient of the sum, from public numbers alone.

    A sum of n gradients of norm ``bound`` is computed with an error near ``bound sqrt(n) 2^-53``
    and at worst ``bound n^(3/2) 2^-53``; 1e-12 n leaves a factor of thousands below. n is private
    under add/remove: there the constant of a million records is used, and the sum of a thousand
    times as many still meets it.
    """
    n = 1e6 if public.n is None else float(public.n)
    return 1e-12 * (n + 1e4) * bound


def in_double(rows: Any) -> Any:
    """Return the rows in float64: a certificate in float32 would certify nothing.

    Rows far beyond the declared bound are scaled here once and for all: their products with a
    parameter could overflow before the scale brings them back.
    """
    if isinstance(rows, MappedRows):
        return rows.over(in_double)
    x = getattr(rows, "_x", None)
    if x is None or not len(x):
        return rows
    scale = rows._scale.astype(np.float64)
    # A scale in single precision may be rounded up, and slopes are capped by the norms.
    norms = rows.norms * (1.0 + float(np.finfo(x.dtype).eps))
    if scale.min() < SMALLEST_SCALE:
        return DenseRows(x * scale[:, None], np.ones_like(scale), norms, rows.intercept)
    if x.dtype == np.float64:
        return rows
    return DenseRows(x.astype(np.float64), scale, norms, rows.intercept)


def minimise(objective: Objective, tolerance: float, penalty: Any = None) -> Array:
    """Return w with a certificate.

    Parameters
    ----------
    objective : Objective
        The smooth part, strongly convex.
    tolerance : float
        Bound on the norm of the gradient (of a subgradient, with a penalty) at the answer.
    penalty : Penalty or None
        Convex part that has a prox and perhaps no gradient.

    Returns
    -------
    ndarray
        Within tolerance / (strong convexity) of the minimiser.
    """
    if penalty is not None:
        from ._proximal import minimise_composite

        return minimise_composite(objective, penalty, tolerance)
    w = np.zeros_like(objective.linear)
    careful = False
    while True:
        z = objective.rows.dot(w)
        g = objective.careful_gradient(w) if careful else objective.gradient(w, z)
        size = float(np.linalg.norm(g))
        if size <= tolerance:
            return w
        p = -objective.curvature(w, z, _forcing(size, tolerance)).solve(g)
        step = _step(objective, w, z, p)
        if step == 0.0 or np.array_equal(w + step * p, w):
            if careful:
                raise FloatingPointError("float64 cannot meet the tolerance; raise it.")
            careful = True
            continue
        w = w + step * p


def _forcing(size: float, tolerance: float) -> float:
    """Relative accuracy of an inexact Newton direction: superlinear, and never below the need."""
    return max(min(0.1, math.sqrt(size) / 10), 0.5 * min(1.0, tolerance / size))


def _step(objective: Objective, w: Array, z: Array, p: Array) -> float:
    """Step along a descent direction that provably lowers J, from derivatives alone.

    The derivative along the line increases, so J(t) - J(0) <= t/2 (J'(t/2) + J'(t)): a step whose
    two halves keep a part of the initial slope satisfies Armijo's condition.
    """
    slope = objective.along(w, z, p)
    start = slope(0.0)
    t = 1.0
    while start < 0.0 and t > 0.0:
        middle, end = slope(t / 2), slope(t)
        if middle + end <= DECREASE * start:
            return t
        t *= min(max(start / (start - end), 0.1), 0.5)
    return 0.0
