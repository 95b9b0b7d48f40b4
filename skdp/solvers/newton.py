"""Preconditioned gradient descent: a noisy second moment bounds the curvature, clipped gradients do the rest.

Privacy: post-processing of one noisy second moment, of `steps` clipped gradients, and of one noisy count where n is
private. The script is fixed beforehand; it is a composition of Gaussians, so its price is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..mechanisms import Public, SecondMoment
from ._mean_gradient import full_batch, gradient_asked
from ._ranges import clip_bound, count, flag, positive, share_of_budget
from ._solver import Array, Asked, Budget, OracleLike, Solver, Task, count_asked

__all__ = ["Newton"]


@dataclass(frozen=True)
class Newton(Solver):
    """Newton's method with the quadratic upper bound of the Hessian (after Ganesh, Haghifam, Steinke, Thakurta 2023).

    The Hessian of a smooth loss is at most its curvature times the second moment of the rows, which is released once.
    A floor keeps directions whose signal is below the noise from being amplified.

    Parameters
    ----------
    steps : int
        Number of gradients.
    share : float
        Share of the budget that buys the second moment, in (0, 1).
    averaging : bool
        Return the mean of the second half of the iterates; without noise, always the last.
    clip : float or None
        Bound on the norm of one record's gradient, rows having norm at most 1; None: by the noise level.
    radius : float
        Norm of coefficients that noise may carry the iterate to, for the floor.
    """

    name: ClassVar[str] = "newton"
    needs: ClassVar[frozenset[str]] = frozenset({"smooth_loss", "smooth_penalty"})

    steps: int = count(20)
    share: float = share_of_budget(0.1)
    averaging: bool = flag(True)
    clip: float | None = clip_bound()
    radius: float = positive(8.0)

    def asks(self, public: Public, task: Task, budget: Budget) -> Asked:
        """A count where n is private, the second moment, and the gradients."""
        moment, multiplier = self._multipliers(budget)
        yield from count_asked(public, budget)
        yield SecondMoment(multiplier=moment), 1
        yield gradient_asked(self, public, task, multiplier), self.steps

    def _multipliers(self, budget: Budget) -> tuple[float, float]:
        """Noise of the second moment and of each gradient."""
        gradients = budget.noise * math.sqrt(self.steps / (1.0 - self.share))
        return budget.noise / math.sqrt(self.share), gradients

    def solve(self, oracle: OracleLike, task: Task, budget: Budget) -> Array:
        """Return the averaged (or last) iterate."""
        moment, multiplier = self._multipliers(budget)
        gradient = full_batch(self, oracle, task, budget, multiplier)
        n = gradient.n
        moments = oracle.ask(SecondMoment(multiplier=moment)) / n
        spread = gradient.noise * math.sqrt(task.size)
        error = moment * oracle.public.row_bound**2 * math.sqrt(2.0 * len(moments)) / n
        hessian = self._hessian(task, moments, spread, error, n)
        w, mean = np.zeros(task.shape), np.zeros(task.shape)
        tail = self.steps - self.steps // 2
        for k in range(self.steps):
            w = w - np.linalg.solve(hessian, gradient(w) + task.penalty.gradient(w) / n)
            if k >= self.steps - tail:
                mean += w / tail
        return mean if self.averaging and budget.noise > 0 else w

    def _hessian(self, task: Task, moments: Array, spread: float, error: float, n: float) -> Array:
        """Curvature bound times the positive part of the moment, the penalty's own curvature, and the floor.

        ``error`` is about the operator norm of the moment's noise: with half of it in the floor the true curvature is
        below twice the bound, so the steps contract. ``spread`` is the norm of a mean gradient's noise: a step's noise
        then stays within the radius.
        """
        curvature = task.curvature
        values, vectors = np.linalg.eigh(moments)
        floor = 0.5 * curvature * error + spread / self.radius + 1e-6 * curvature
        scaled = curvature * np.maximum(values, 0.0) + floor
        own = np.full(len(values), task.penalty.convexity_of_coefficients / n)
        if task.penalty.intercept:
            own[-1] = 0.0
        return (vectors * scaled) @ vectors.T + np.diag(own)
