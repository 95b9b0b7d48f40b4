"""Preconditioned gradient descent: a noisy second moment bounds the curvature, clipped gradients do the rest.

Privacy: post-processing of one noisy second moment, of `steps` clipped gradients, and of one noisy count where n is
private. The script is fixed beforehand; it is a composition of Gaussians, so its price is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..mechanisms import Gradient, SecondMoment
from ._rules import clip_rule
from ._solver import Solver, record_count

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
    needs: ClassVar[frozenset] = frozenset({"smooth_loss", "smooth_penalty"})

    steps: int = 20
    share: float = 0.1
    averaging: bool = True
    clip: float | None = None
    radius: float = 8.0

    def solve(self, oracle, task, budget):
        """Return the averaged (or last) iterate."""
        n = record_count(oracle, budget)
        moment = budget.noise / math.sqrt(self.share)
        multiplier = budget.noise * math.sqrt(self.steps / (1.0 - self.share))
        clip = self.clip or clip_rule(task, oracle.public, budget.noise * math.sqrt(task.size) / n)
        moments = oracle.ask(SecondMoment(multiplier=moment)) / n
        spread = multiplier * clip * math.sqrt(task.size) / n
        error = moment * oracle.public.row_bound**2 * math.sqrt(2.0 * len(moments)) / n
        hessian = self._hessian(task, moments, spread, error, n)
        w, mean = np.zeros(task.shape), np.zeros(task.shape)
        tail = self.steps - self.steps // 2
        for k in range(self.steps):
            noisy = oracle.ask(Gradient(at=w, loss=task.loss, clip=clip, multiplier=multiplier))
            w = w - np.linalg.solve(hessian, (noisy + task.penalty.gradient(w)) / n)
            if k >= self.steps - tail:
                mean += w / tail
        return mean if self.averaging and budget.noise > 0 else w

    def _hessian(self, task, moments, spread, error, n):
        """Curvature bound times the positive part of the moment, the penalty's own curvature, and the floor.

        ``error`` is about the operator norm of the moment's noise: with half of it in the floor the true curvature is
        below twice the bound, so the steps contract. ``spread`` is the norm of a mean gradient's noise: a step's noise
        then stays within the radius.
        """
        curvature = task.loss.curvature
        values, vectors = np.linalg.eigh(moments)
        floor = 0.5 * curvature * error + spread / self.radius + 1e-6 * curvature
        scaled = curvature * np.maximum(values, 0.0) + floor
        own = np.full(len(values), task.penalty.convexity_of_coefficients / n)
        if task.penalty.intercept:
            own[-1] = 0.0
        return (vectors * scaled) @ vectors.T + np.diag(own)
