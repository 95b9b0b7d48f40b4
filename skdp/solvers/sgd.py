"""Stochastic proximal gradient descent on Poisson batches (DP-SGD with a prox step, S4 eq. 29).

Privacy: post-processing of clipped gradients of fresh Poisson batches, or of fresh batches of fixed size
(``sampling="without_replacement"``, replace-one neighbours only, dearer: hardly at high noise, several times at low).
The script is fixed beforehand. Sums are divided by the expected batch size, which is public or bought, never by the
realised one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..mechanisms import Gradient
from ._rules import clip_rule, step_rule
from ._sampling import decay, sampler
from ._solver import Solver

__all__ = ["SGD"]


@dataclass(frozen=True)
class SGD(Solver):
    """Stochastic gradient descent on noisy batch gradients.

    Parameters
    ----------
    batch_size : int or None
        Expected records in a batch; None: `rate` times n.
    rate : float
        Probability with which a record enters a batch, without a `batch_size`; the only way where n is private.
    steps : int
        Number of batches.
    schedule : {"constant", "epoch", "sqrt"}
        Step size: fixed; divided by the epoch's number; divided by the root of the step's number.
    averaging : bool
        Return the prox of the mean of its arguments over the second half instead of the last iterate.
    clip, step_size : float or None
        As in `GD`.
    radius : float
        How far the noise may carry the iterate, for the default step.
    sampling : {"poisson", "without_replacement"}
        How batches are drawn.
    """

    name: ClassVar[str] = "sgd"

    batch_size: int | None = None
    rate: float = 0.05
    steps: int = 1000
    schedule: str = "constant"
    averaging: bool = True
    clip: float | None = None
    step_size: float | None = None
    radius: float = 8.0
    sampling: str = "poisson"

    def solve(self, oracle, task, budget):
        """Return the averaged (or last) iterate."""
        draw = sampler(self, oracle, budget)
        level = budget.noise / (draw.expected * math.sqrt(self.steps))
        clip = self.clip or clip_rule(task, oracle.public, level * math.sqrt(task.size))
        noise = budget.noise * clip / draw.expected
        base = self.step_size or step_rule(
            task, oracle.public, draw.n, 0.0, noise, self.steps, self.radius
        )
        w, mean, mean_step = np.zeros(task.shape), np.zeros(task.shape), 0.0
        tail = self.steps - self.steps // 2
        for k in range(self.steps):
            noisy = oracle.ask(
                draw.batch(Gradient(at=w, loss=task.loss, clip=clip, multiplier=budget.noise))
            )
            step = base * decay(self.schedule, k, draw.rate)
            noisy *= -step / draw.expected
            noisy += w
            w = task.penalty.prox(noisy, step / draw.n)
            if k >= self.steps - tail:
                mean += noisy / tail
                mean_step += step / tail
        # The prox of a mean is as smooth as a mean of proxes, and still sparse or feasible.
        return task.penalty.prox(mean, mean_step / draw.n) if self.averaging else w
