"""Gradient descent after private whitening.

Privacy: post-processing of one noisy second moment, of one noisy sum of row norms, of `steps` clipped gradients in the
coordinates that they give, and of one noisy count where n is private. The coordinates follow from answers, the prices
do not: it is a composition of Gaussians, so its price is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..mechanisms import Public
from ..mechanisms._mechanism import Mechanism
from ._mean_gradient import MeanGradient, gradient_asked
from ._ranges import clip_bound, count, decay_factor, positive, share_of_budget
from ._rules import LOOSELY_BENT, clip_rule, step_by_noise, step_rule
from ._solver import Array, Asked, Budget, OracleLike, Solver, Task, count_asked, record_count
from ._spread import HEARD, Heard, Seen, bend_of, expected, over_directions, typical_bend, wandered
from ._whitening import (
    Whitened,
    along_outputs,
    buy_whitening,
    opening,
    refuse_other_penalties,
    share_left,
    stand_in,
    whitening_asked,
    wholeness,
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
    tells: ClassVar[tuple[type[Mechanism], ...]] = HEARD

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

    def _clip(self, task: Task, seen: Public, budget: Budget, n: float) -> float:
        return clip_rule(task, seen, budget.noise * math.sqrt(task.size) / n)

    def _multiplier(self, budget: Budget) -> float:
        return budget.noise * math.sqrt(self.steps / share_left(self))

    def solve(self, oracle: OracleLike, task: Task, budget: Budget) -> Array:
        """Return the last iterate, in the given coordinates."""
        n = record_count(oracle, budget)
        white = buy_whitening(self, oracle, task, n, budget)
        clip = self.clip or self._clip(task, white.public, budget, n)
        gradient = MeanGradient(
            oracle, task, n, n, clip, self._multiplier(budget), ask_as=white.question
        )
        # Rows are as much shorter as the cut is open: at least as much where none is cut.
        shorter = min(opening(oracle.public, budget), white.scale)
        step = self._step(task, white.public, n, shorter, gradient.noise)
        ridge = along_outputs(white.ridge(task.penalty), task) / n

        def prox(u: Array, step: float) -> Array:
            return u / (1.0 + step * ridge)

        start = np.zeros(task.shape)
        return white.back(heavy_ball(gradient, prox, start, self.steps, step, self.momentum))

    def _step(self, task: Task, seen: Public, n: float, shorter: float, noise: float) -> float:
        """The user's step, or the one that suits rows that are so much shorter, and the noise of a mean gradient."""
        if type(task.loss) in LOOSELY_BENT:
            return self.step_size or shorter**2 * step_by_noise(task, noise, self.steps)
        return self.step_size or shorter**2 * step_rule(
            task, seen, n, self.momentum, shorter * noise, self.steps, self.radius
        )

    def nominal_error(
        self, public: Public, task: Task, budget: Budget, base_rate: float = 0.5
    ) -> float | None:
        """Return the error by the curvature that a nominal table would have."""
        if not expected(task, public) or public.n is None:
            return None
        white = stand_in(public, wholeness(task, public, budget))
        widest = opening(public, budget)
        inner = gradient_asked(self, white.public, task, self._multiplier(budget))
        clip = self.clip or self._clip(task, white.public, budget, public.n)
        asked = white.question(replace(inner, clip=clip))
        ridge = task.penalty.convexity_of_coefficients / (public.n * widest**2)
        bend = typical_bend(asked, public.width, widest, base_rate, ridge)
        noise = inner.multiplier * clip / public.n
        step = self._step(task, white.public, public.n, widest, noise)
        variance = wandered(bend, np.full(3, ridge), noise, step, self.momentum, self.steps)
        return over_directions(variance, public.width) / widest

    def spread(
        self, heard: Heard, w: Array, public: Public, task: Task, budget: Budget
    ) -> Array | None:
        """Return the covariance of the result under the gradients' noise, by the curvature's directions."""
        if not expected(task, public):
            return None
        seen = Seen.of(heard, public)
        question: Any = seen.asked.question
        noise = question.multiplier * question.clip / seen.n
        white = Whitened(seen.asked.coordinates, seen.asked.scale, public)
        shorter = min(opening(public, budget), white.scale)
        step = self._step(task, white.public, seen.n, shorter, noise)
        values, vectors = np.linalg.eigh(bend_of(seen, w, public))
        own = np.square(vectors.T) @ white.ridge(task.penalty) / seen.n
        variance = wandered(values, own, noise, step, self.momentum, self.steps)
        moved = np.sqrt(variance)[:, None] * (vectors.T @ seen.matrix)
        return np.asarray(moved.T @ moved)
