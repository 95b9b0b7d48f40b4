"""Gradient descent after private whitening.

Privacy: post-processing of one noisy second moment, of one noisy sum of row norms, of `steps` clipped gradients in the
coordinates that they give, and of one noisy count where n is private. The coordinates follow from answers, the prices
do not: it is a composition of Gaussians, so its price is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..mechanisms import Gradient
from ._rules import clip_rule, step_rule
from ._solver import Solver, record_count
from ._whitening import refuse_other_penalties, share_left, whitened
from .gd import heavy_ball

__all__ = ["WhiteGD"]


@dataclass(frozen=True)
class WhiteGD(Solver):
    """Gradient descent on rows whose second moment is about the same in all directions.

    Parameters
    ----------
    steps : int
        Number of gradients.
    momentum : float
        Heavy ball, in [0, 1).
    moment_share, norm_share : float
        Shares of the budget for the second moment and for the typical norm of a whitened row.
    clip : float or None
        Bound on the norm of one record's gradient, whitened rows having norm at most 1; None: by the noise level.
    step_size : float or None
        Step on the mean objective; None: by curvature and noise.
    radius : float
        How far the noise may carry the iterate, for the default step.
    """

    name: ClassVar[str] = "white-gd"
    needs: ClassVar[frozenset] = frozenset({"smooth_loss", "one_output"})

    steps: int = 100
    momentum: float = 0.9
    moment_share: float = 0.1
    norm_share: float = 0.02
    clip: float | None = None
    step_size: float | None = None
    radius: float = 8.0

    def solve(self, oracle, task, budget):
        """Return the last iterate, in the given coordinates."""
        refuse_other_penalties(self, task)
        rest = share_left(self)
        n = record_count(oracle, budget)
        white = whitened(oracle, task, n, budget, self.moment_share, self.norm_share)
        multiplier = budget.noise * math.sqrt(self.steps / rest)
        clip = self.clip or clip_rule(task, white.public, budget.noise * math.sqrt(task.size) / n)
        step = self.step_size or step_rule(
            task, white.public, n, self.momentum, multiplier * clip / n, self.steps, self.radius
        )
        ridge = white.ridge(task.penalty) / n

        def gradient(u):
            question = Gradient(at=u, loss=task.loss, clip=clip, multiplier=multiplier)
            return oracle.ask(white.question(question)) / n

        def prox(u, step):
            return u / (1.0 + step * ridge)

        start = np.zeros(task.shape)
        return white.back(heavy_ball(gradient, prox, start, self.steps, step, self.momentum))
