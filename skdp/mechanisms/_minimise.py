"""Inner optimisation to a certificate: w with |gradient of J at w| <= tolerance, rounding included, and no other exit.

It ends for every data set. While the certificate is not met, the computed gradient is at least 7 times its error bound,
so a gradient step of length 1/steepness lowers J by a fixed amount; a Newton step is taken only where it provably
lowers J more than that, or the smallest gradient so far by a part of itself. J is bounded below, so neither can go on
for ever (docs/proofs/sums.md). How many rounds it takes never leaves this file.

Starting point for a loss with corners: near the minimiser of the same loss with blunter ones.

Beside a sharp corner a Newton step sees only the few records that lie in it. A blunt one has all of them in sight, and
as it narrows the minimiser moves along a line for as long as the same records stay in it; at the end that is a vertex
of the linear programme whose corners are not rounded at all (Madsen and Nielsen 1993, A finite smoothing algorithm for
linear l1 estimation; Chen 2007, A finite smoothing algorithm for quantile regression). An L1 norm is one more such loss
of each coefficient, and what lies in its corner at the end is zero.

A search ends by its certificate, which is asked of loss and penalty as they are (docs/proofs/sums.md): nothing here
carries a promise.

Inner optimisation with a convex penalty that has a prox: Newton models solved by FISTA.

A prox step u = prox(v - s g) yields (v - u)/s - g, a subgradient of the penalty at u for whatever g was; with the
gradient of the smooth part at u that is the certificate c, and F(w) - F(u) >= <c, w - u> by convexity. A point is gone
to only where that, less its rounding, is a fixed amount, as it is for a short prox step while the certificate is not
met: so this ends for every data set (docs/proofs/sums.md). Newton models only speed the way there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..penalties import L1, ElasticNet
from ._kernels import UNIT
from ._limits import Limits, norm
from ._objective import (
    DENSE_WIDTH,
    FEW_COLUMNS,
    LEAST,
    PER_COLUMN,
    Array,
    Curvature,
    Objective,
    solver_of,
)

__all__ = ["beginning", "has_corners", "minimise", "minimise_composite", "narrowed", "some_of"]


BLUNT = 4.0  # curvature of a loss whose corners are no trouble
NARROWER = 8.0  # times that a corner is as sharp as the one before
SEARCHES = 40  # for one width
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
        for _ in range(SEARCHES):
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
