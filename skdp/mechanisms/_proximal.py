"""Inner optimisation with a convex penalty that has a prox: Newton models solved by FISTA.

A prox step u = prox(v - s g) yields (v - u)/s - g, a subgradient of the penalty at u for whatever g was; with the
gradient of the smooth part at u that is the certificate c, and F(w) - F(u) >= <c, w - u> by convexity. A point is gone
to only where that, less its rounding, is a fixed amount, as it is for a short prox step while the certificate is not
met: so this ends for every data set (docs/proofs/sums.md). Newton models only speed the way there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._kernels import UNIT
from ._limits import Limits, norm
from ._narrowing import has_corners, narrowed
from ._objective import Array, Curvature, Objective

__all__ = ["minimise_composite"]

DECREASE = 0.1
INNER_CAP = 5000  # only delays: an unfinished model still gives a point


@dataclass(frozen=True)
class _Point:
    """A point, a subgradient of the penalty there, and the certificate's bound, which meets the tolerance or does not.

    Parameters
    ----------
    u, certificate : ndarray
        The point; gradient of the smooth part plus the subgradient.
    error : float
        How far rounding may have moved the certificate.
    """

    u: Array
    certificate: Array
    error: float

    def meets(self, tolerance: float) -> bool:
        """Return whether a true subgradient of the whole is small enough."""
        return norm(self.certificate) + self.error <= tolerance

    def below(self, w: Array) -> float:
        """Return a provable decrease of the objective from w to this point."""
        return float(np.vdot(self.certificate, w - self.u)) - self.error * norm(w - self.u)


def minimise_composite(
    objective: Objective, penalty: Any, limits: Limits, tolerance: float
) -> Array:
    """Return w at which gradient plus some subgradient has norm at most ``tolerance``."""
    search = _Search(objective, penalty, limits, tolerance)
    w, found = search.beginning()
    if found:
        return w
    for _ in limits.rounds():
        z = objective.rows.dot(w)
        g = objective.gradient(w, objective.slopes(z))
        curvature = objective.curvature(w, z, 0.1)
        size = 1.0 / max(curvature.largest(), limits.convexity)
        near = search.prox_step(w, g, size)
        if near.meets(limits.enough(tolerance, near.error)):
            return near.u
        residual = norm(near.certificate)
        goal = residual * min(0.1, math.sqrt(residual / (1.0 + residual)) / 10)
        model = search.at(*_model(curvature, penalty, w, g, size, max(goal, tolerance / 10)))
        if model.meets(limits.enough(tolerance, model.error)):
            return model.u
        w, found = search.onwards(w, z, g, (model, near))
        if found:
            break
    return w


@dataclass(frozen=True)
class _Search:
    """Constants of a search.

    Parameters
    ----------
    objective : Objective
        The smooth part.
    penalty : Penalty
        The rest.
    limits : Limits
        What rounding can do.
    tolerance : float
        Of the certificate.
    """

    objective: Objective
    penalty: Any
    limits: Limits
    tolerance: float

    def beginning(self) -> tuple[Array, bool]:
        """The prox of 0, or a point that is provably no higher; and whether it meets the tolerance."""
        objective, limits = self.objective, self.limits
        w = self.penalty.prox(np.zeros_like(objective.linear), 1.0)
        if not has_corners(objective, self.penalty):
            return w, False
        guess = narrowed(objective, self.penalty)
        if not norm(guess) <= limits.furthest():
            return w, False
        z = objective.rows.dot(guess)
        size = 1.0 / max(objective.curvature(guess, z, 0.1).largest(), limits.convexity)
        near = self.prox_step(guess, objective.gradient(guess, objective.slopes(z)), size)
        if near.meets(limits.enough(self.tolerance, near.error)):
            return near.u, True
        return (near.u if near.below(w) >= 0.0 else w), False

    def at(self, u: Array, subgradient: Array) -> _Point:
        """The certificate at a point; in twofold precision where it is near enough to matter."""
        away, pull = norm(u), self.objective.pull(u)
        split = self.limits.prox(self.limits.furthest())
        slopes = self.objective.slopes(self.objective.rows.dot(u))
        gradient = self.objective.gradient(u, slopes)
        error = self.limits.quick(self.objective.rows, slopes, u, pull) + split
        if not norm(gradient + subgradient) > 2.0 * error + self.tolerance:
            gradient = self.objective.careful_gradient(u)
            error = self.limits.careful(away, pull) + split
        return _Point(u, gradient + subgradient, error)

    def prox_step(self, w: Array, g: Array, size: float) -> _Point:
        """Return the point that a prox step leads to."""
        u = self.penalty.prox(w - size * g, size)
        return self.at(u, (w - u) / size - g)

    def onwards(
        self, w: Array, z: Array, g: Array, ends: tuple[_Point, _Point]
    ) -> tuple[Array, bool]:
        """A point that is provably lower by a fixed amount, or one that meets the tolerance, and which of them."""
        steepness = self.limits.steepness()
        least = self.tolerance**2 / (64.0 * steepness)
        model, near = ends
        if model.below(w) >= least:
            return model.u, False
        size = 0.5 / steepness
        short = norm(self.penalty.prox(w - size * g, size) - w)
        t = self._towards(w, z, g, model.u, (least, short))
        if t:
            return w + t * (model.u - w), False
        if near.below(w) >= least:
            return near.u, False
        # In careful arithmetic: the promise of this step is what the proof rests on.
        last = self.prox_step(w, self.objective.careful_gradient(w), size)
        return last.u, last.meets(self.limits.enough(self.tolerance, last.error))

    def _towards(
        self, w: Array, z: Array, g: Array, end: Array, wanted: tuple[float, float]
    ) -> float:
        """Step towards a point that provably lowers the objective, the smooth part bounded as in `_minimise`.

        `wanted` has what it must be lowered by, and how long a short prox step is: no shorter one is looked for.
        """
        least, short = wanted
        p, before = end - w, self.penalty.value(w)
        promised = float(np.vdot(g, p)) + self.penalty.value(end) - before
        slope, t = self.objective.along(w, z, p), 1.0
        rows, slopes = self.objective.rows, self.objective.slopes(z)
        error = self.limits.quick(rows, slopes, w, self.objective.pull(w)) * norm(p)
        while promised < 0.0 and t * norm(p) > 0.1 * short:
            after = self.penalty.value(w + t * p)
            fall = t / 2 * (slope(t / 2) + slope(t)) + after - before
            doubt = t * error + 64.0 * UNIT * len(w) * (abs(before) + abs(after))
            if fall <= DECREASE * t * promised and fall + doubt <= -least:
                return t
            t /= 2
        return 0.0


def _model(
    curvature: Curvature, penalty: Any, w: Array, g: Array, size: float, goal: float
) -> tuple[Array, Array]:
    """Minimise <g, v - w> + (v - w)' H (v - w)/2 + penalty(v) by FISTA with restarts: the end, a subgradient there."""
    v, ahead, pace = w, w, 1.0
    slope = g
    for _ in range(INNER_CAP):
        fresh = penalty.prox(ahead - size * slope, size)
        subgradient = (ahead - fresh) / size - slope
        if norm(ahead - fresh) <= goal * size:
            break
        if float(np.vdot(ahead - fresh, fresh - v)) > 0:  # O'Donoghue and Candes 2015
            pace = 1.0
        faster = (1 + math.sqrt(1 + 4 * pace * pace)) / 2
        ahead = fresh + (pace - 1) / faster * (fresh - v)
        v, pace = fresh, faster
        slope = g + curvature.times(ahead - w)
    return fresh, subgradient
