"""Linearised ADMM step of the splitting solvers, and rules for its two constants.

Everything is on the scale of the mean of the losses, as in the papers: a penalty h on the scale of the sum is h / n
here, so its prox at 1/rho is the penalty's own at 1 / (rho n).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..mechanisms import Public
from ._ranges import clip_bound, count, flag, positive
from ._solver import Array, Solver, Task

__all__ = [
    "Splitting",
    "SplittingSolver",
    "curvature_bound",
    "equal_steps",
    "inverse_steps",
    "noise_norm",
    "refuse_small_rho",
    "rho_rule",
]


@dataclass(frozen=True)
class SplittingSolver(Solver):
    """A solver that splits, on full gradients.

    Parameters
    ----------
    steps, averaging : object
        As in `SSADMM`.
    rho : float or None
        Penalty of the splitting, on the mean objective; None: a quarter of the curvature, more for SCAD and MCP.
    eta : float or None
        Step size; None: half of the curvature and the noise decide (see `equal_steps`).
    clip : float or None
        Bound on the norm of one record's gradient, rows having norm at most 1; None: by the noise level.
    radius : float
        Norm of coefficients that noise may carry the iterate to, for the default step.
    """

    steps: int = count(200)
    rho: float | None = positive(None)
    eta: float | None = positive(None)
    averaging: bool = flag(True)
    clip: float | None = clip_bound()
    radius: float = positive(8.0)


class Splitting:
    """Minimise f(x) + h(z) subject to x = z, with f known by its gradients.

    x moves by the linearised step, z is the prox of h at x + u, u collects what they disagree on (u is y / rho, and
    y the paper's multiplier). z is the iterate to release: it alone is sparse, or inside the constraint.

    Parameters
    ----------
    task : Task
        Penalty and shape.
    rho : float
        Penalty of the constraint x = z.
    n : float
        Number of records, public or bought.
    """

    def __init__(self, task: Task, rho: float, n: float) -> None:
        self.penalty, self.rho, self.step = task.penalty, rho, 1.0 / (rho * n)
        self.x, self.z, self.u = (np.zeros(task.shape) for _ in range(3))
        self._anchor, self._sum, self._count = self.z, np.zeros(task.shape), 0

    @property
    def y(self) -> Array:
        """The multiplier of x = z."""
        return self.rho * self.u

    def advance(self, gradient: Array, inverse: float) -> None:
        """Take a step on a gradient of f at x; ``inverse`` is one over eta."""
        pull = self.z - self.u
        pull -= self.x
        pull *= self.rho
        pull -= gradient
        pull *= 1.0 / (self.rho + inverse)
        self.move(self.x + pull)

    def move(self, x: Array) -> None:
        """z and u that follow from a new x."""
        self.x, self._anchor = x, x + self.u
        self.z = self.penalty.prox(self._anchor, self.step)
        self.u = self._anchor - self.z

    def adopt(self, x: Array, z: Array, y: Array) -> None:
        """Iterates that were stepped, and made noisy, elsewhere."""
        self._anchor = x + self.u
        self.x, self.z, self.u = x, z, y / self.rho

    def remember(self) -> None:
        """Take the last argument of the prox into the mean."""
        self._count += 1
        self._sum += self._anchor

    def average(self) -> Array:
        """The prox of the mean argument: as smooth as a mean of z, and still sparse or feasible."""
        return self.penalty.prox(self._sum / self._count, self.step)


def curvature_bound(task: Task, public: Public) -> float:
    """Bound on the curvature of the mean loss along any direction; 1 stands in where a loss has none."""
    return (task.loss.curvature or 1.0) * public.row_bound**2


def rho_rule(task: Task, public: Public, n: float, rho: float | None) -> float:
    """The given rho; None: a quarter of the curvature, and at least twice what a non-convex penalty's prox needs.

    SCAD and MCP have a prox at 1 / (rho n) only for rho above their weak convexity over n (0.37 and 0.34 at the usual
    shapes, written for the mean). A given rho that is smaller is refused by the penalty itself; where n is private it
    is raised instead, since a refusal would depend on the noisy n.
    """
    needed = 1.0 / (n * task.penalty.largest_step)
    if rho is None:
        return max(0.25 * curvature_bound(task, public), 2.0 * needed)
    return float(rho) if public.n is not None else max(float(rho), 2.0 * needed)


def refuse_small_rho(task: Task, public: Public, rho: float | None) -> None:
    """Refuse a given rho at which the penalty has no prox; where n is private it is raised instead."""
    if rho is not None and public.n is not None:
        task.penalty.prox(np.zeros(task.shape), 1.0 / (rho * public.n))


def noise_norm(task: Task, clip: float, spread: float, expected: float, rate: float) -> float:
    """Root mean square error of one mean gradient: the noise on all coordinates and the choice of the batch."""
    return math.sqrt(task.size * spread**2 + clip**2 * (1.0 - rate) / expected)


def equal_steps(solver: Any, task: Task, public: Public, rho: float, error: float) -> Array:
    """Return 1 / eta for each round: the solver's own, or by the rule."""
    growth = np.ones(solver.steps)
    if solver.eta is not None:
        return np.asarray(growth / solver.eta)
    return inverse_steps(task, public, rho, growth, error, solver.radius)


def inverse_steps(
    task: Task, public: Public, rho: float, growth: Array, error: float, radius: float
) -> Array:
    """Return 1 / eta for each step: half of the curvature, plus a multiple of `growth` that the noise decides.

    Errors of size ``error`` in each gradient carry x a random walk of step 1 / (rho + 1/eta); the multiple is the least
    that keeps the walk's root mean square within the radius. The form is that of stochastic ADMM (Ouyang et al. 2013,
    1/eta_k = L + sigma sqrt(2 k) / D); rho adds a quarter of the curvature, so that steps stay below 2 / L.

    Parameters
    ----------
    growth : ndarray of shape (steps,)
        How one over eta grows: ones for a step fixed over the run, the root of the step's number, ...
    """
    steady = 0.5 * curvature_bound(task, public)

    def walk(multiple: float) -> float:
        return error * math.sqrt(np.sum((rho + steady + multiple * growth) ** -2.0))

    low, high = 0.0, error * math.sqrt(np.sum(growth**-2.0)) / radius
    if walk(low) <= radius:
        return np.full(len(growth), steady)
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if walk(middle) > radius else (low, middle)
    return steady + high * growth
