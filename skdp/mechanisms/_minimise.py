"""Inner optimisation to a certificate: w with |gradient of J at w| <= tolerance, rounding included, and no other exit.

It ends for every data set. While the certificate is not met, the computed gradient is at least 7 times its error bound,
so a gradient step of length 1/steepness lowers J by a fixed amount; a Newton step is taken only where it provably
lowers J more than that, or the smallest gradient so far by a part of itself. J is bounded below, so neither can go on
for ever (docs/proofs/sums.md). How many rounds it takes never leaves this file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._directions import LEAST, PER_COLUMN
from ._limits import Limits, norm
from ._narrowing import has_corners, narrowed
from ._objective import DENSE_WIDTH, FEW_COLUMNS, Array, Objective

__all__ = ["beginning", "minimise", "some_of"]


ROUNDS = 12
NEAR = 1e-3  # of the first gradient: what is left is less than what some records know of all
FEWEST = 8  # times the records that are enough: with fewer a round on all is cheap
PASSES = (1.0, 0.5, 0.25, 0.125)  # parts of a step that are tried


def beginning(objective: Objective, limits: Limits) -> Array:
    """A point within the reach of minimisers: zero, where some of the records would save nothing."""
    w = np.zeros_like(objective.linear)
    if has_corners(objective):
        near = narrowed(objective)
        return near if norm(near) <= limits.furthest() else w
    some = max(PER_COLUMN * objective.rows.width, LEAST)
    one_score = w.ndim == 1 and FEW_COLUMNS < len(w) <= DENSE_WIDTH
    if not one_score or len(objective.rows) < FEWEST * some:
        return w
    near = _descended(some_of(objective, some), w)
    return near if norm(near) <= limits.furthest() else w


def some_of(objective: Objective, some: int) -> Objective:
    """The objective of records at equal distances, about so many: each counts as those beside it do together."""
    n = len(objective.rows)
    index = np.arange(0, n, n // some)
    part = len(index) / n
    return Objective(
        objective.rows.take(index),
        objective.y.take(index),
        objective.loss,
        objective.strength * part,
        objective.linear * part,
        objective.clip,
        None if objective.share is None else objective.share.take(index),
    )


def _descended(objective: Objective, w: Array) -> Array:
    """A few Newton steps, as long as the gradient shrinks."""
    z = objective.rows.dot(w)
    g = objective.gradient(w, objective.slopes(z))
    enough = NEAR * norm(g)
    for _ in range(ROUNDS):
        if not norm(g) > enough:
            break
        p = objective.direction(w, z, g, 0.1)
        q, before = objective.rows.dot(p), norm(g)
        for t in PASSES:
            ahead = objective.gradient(w - t * p, objective.slopes(z - t * q))
            if norm(ahead) < before:
                w, z, g = w - t * p, z - t * q, ahead
                break
        else:
            break
    return w


_NEAR = 1e-5  # of a gradient: some products more cost less than another round with its certificate

DECREASE = 0.1  # part of the initial slope that a step must keep on average over its two halves


def minimise(objective: Objective, limits: Limits, tolerance: float, penalty: Any = None) -> Array:
    """Return w with a certificate.

    Parameters
    ----------
    objective : Objective
        The smooth part, strongly convex.
    limits : Limits
        What rounding can do to its gradient.
    tolerance : float
        Bound on the norm of the gradient (of a subgradient, with a penalty) at the answer, from `Limits.tolerance`.
    penalty : Penalty or None
        Convex part that has a prox and perhaps no gradient.

    Returns
    -------
    ndarray
        Within tolerance / (strong convexity) of the minimiser.
    """
    if penalty is not None:
        from ._proximal import minimise_composite

        return minimise_composite(objective, penalty, limits, tolerance)
    w, best = beginning(objective, limits), math.inf
    for _ in limits.rounds():
        z = objective.rows.dot(w)
        slopes = objective.slopes(z)
        g = objective.gradient(w, slopes)
        error = limits.quick(objective.rows, slopes, w, objective.pull(w))
        if not norm(g) > 2.0 * error + tolerance:  # near enough to tell by more digits
            if norm(g) + error <= tolerance:
                return w
            g, error = objective.careful_gradient(w), limits.careful(norm(w), objective.pull(w))
            if norm(g) + error <= limits.enough(tolerance, error):
                return w
        size = norm(g)
        best = min(best, size)
        p = -objective.direction(w, z, g, _forcing(size, tolerance))
        step = _step(objective, w, z, p, _Round(g, error, limits.steepness()))
        if not step:
            step = _calmer(objective, w, p, best)
            # Counted by what was asked, not by what comes out next: so it cannot go on for ever.
            best *= 1.0 - 0.5 * step
        if step:
            w = w + step * p
        else:
            w = w - g / limits.steepness()
    return w


def _calmer(objective: Objective, w: Array, p: Array, best: float) -> float:
    """Longest part of a step after which the smallest gradient so far is less by half of that part; 0 where none is."""
    for t in (1.0, 0.5, 0.25, 0.125, 0.0625):
        if norm(objective.careful_gradient(w + t * p)) <= (1.0 - 0.5 * t) * best:
            return t
    return 0.0


def _forcing(size: float, tolerance: float) -> float:
    """Relative accuracy of an inexact Newton direction: superlinear, and all that is needed once that is near."""
    needed = tolerance / size
    return min(0.1, 0.2 * needed if needed > _NEAR else math.sqrt(size) / 10)


@dataclass(frozen=True)
class _Round:
    """State at the start of a step.

    Parameters
    ----------
    g : ndarray
        The gradient.
    error : float
        How far it may be off, and any other on the way.
    steepness : float
        Bound on the second derivative.
    """

    g: Array
    error: float
    steepness: float

    def least(self) -> float:
        """Return the least decrease of J that a step must bring; a gradient step surely brings more."""
        return norm(self.g) ** 2 / (8.0 * self.steepness)

    def shortest(self, p: Array) -> float:
        """Step along p that is a tenth as long as a gradient step: shorter ones are not worth looking for."""
        return 0.1 * norm(self.g) / (self.steepness * max(norm(p), 1e-300))


def _step(objective: Objective, w: Array, z: Array, p: Array, known: _Round) -> float:
    """Step along a descent direction that provably lowers J enough, from derivatives alone; 0 where none is found.

    The derivative along the line increases, so J(t) - J(0) <= t/2 (J'(t/2) + J'(t)): a step whose two halves keep a
    part of the initial slope satisfies Armijo's condition. Each derivative is off by at most ``error |p|``.
    """
    start, least, doubt = float(np.vdot(known.g, p)), known.least(), known.error * norm(p)
    slope, t, shortest = objective.along(w, z, p), 1.0, known.shortest(p)
    while start < 0.0 and t > shortest:
        middle, end = slope(t / 2), slope(t)
        if middle + end <= DECREASE * start and t * ((middle + end) / 2 + doubt) <= -least:
            return t
        t *= 0.5 if end == start else min(max(start / (start - end), 0.1), 0.5)
    return 0.0
