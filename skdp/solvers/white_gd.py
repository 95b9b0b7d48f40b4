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

from ..mechanisms import Public
from ._mean_gradient import MeanGradient, gradient_asked
from ._ranges import clip_bound, count, decay_factor, positive, share_of_budget
from ._rules import clip_rule, step_rule
from ._solver import Array, Asked, Budget, OracleLike, Solver, Task, count_asked, record_count
from ._whitening import (
    along_outputs,
    buy_whitening,
    opening,
    refuse_other_penalties,
    share_left,
    stand_in,
    whitening_asked,
)
from .gd import heavy_ball

__all__ = ["WhiteGD"]


@dataclass(frozen=True)
class WhiteGD(Solver):
    """Gradient descent on rows whose second moment is about the same in all directions.

    Parameters
    ----------
    moment_share, norm_share : float
        Shares of the budget for the second moment and for the typical norm of a whitened row.
    clip : float or None
        Bound on the norm of one record's gradient, whitened rows having norm at most 1; None: by the noise level.
    steps, momentum, step_size, radius : object
        As in `GD`.
    """

    name: ClassVar[str] = "white-gd"
    needs: ClassVar[frozenset[str]] = frozenset({"smooth_loss"})

    steps: int = count(100)
    momentum: float = decay_factor(0.9)
    moment_share: float = share_of_budget(0.1)
    norm_share: float = share_of_budget(0.02)
    clip: float | None = clip_bound()
    step_size: float | None = positive(None)
    radius: float = positive(8.0)

    def asks(self, public: Public, task: Task, budget: Budget) -> Asked:
        """A count where n is private, the coordinates, and the gradients in them."""
        refuse_other_penalties(self, task)
        multiplier = self._multiplier(budget)
        yield from count_asked(public, budget)
        yield from whitening_asked(self, public, budget)
        yield stand_in(public).question(gradient_asked(self, public, task, multiplier)), self.steps

    def _multiplier(self, budget: Budget) -> float:
        return budget.noise * math.sqrt(self.steps / share_left(self))

    def solve(self, oracle: OracleLike, task: Task, budget: Budget) -> Array:
        """Return the last iterate, in the given coordinates."""
        n = record_count(oracle, budget)
        white = buy_whitening(self, oracle, task, n, budget)
        clip = self.clip or clip_rule(task, white.public, budget.noise * math.sqrt(task.size) / n)
        gradient = MeanGradient(
            oracle, task, n, n, clip, self._multiplier(budget), ask_as=white.question
        )
        # Rows are as much shorter as the cut is open: at least as much where none is cut.
        shorter = min(opening(oracle.public, budget), white.scale)
        step = self.step_size or shorter**2 * step_rule(
            task,
            white.public,
            n,
            self.momentum,
            shorter * gradient.noise,
            self.steps,
            self.radius,
        )
        ridge = along_outputs(white.ridge(task.penalty), task) / n

        def prox(u: Array, step: float) -> Array:
            return u / (1.0 + step * ridge)

        start = np.zeros(task.shape)
        return white.back(heavy_ball(gradient, prox, start, self.steps, step, self.momentum))
