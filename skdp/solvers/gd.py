"""Full-batch clipped gradient descent with heavy ball and a prox step.

Privacy: post-processing of `steps` clipped gradients (and of one noisy count where n is private). The script is
fixed beforehand; it is a composition of Gaussians, so its price is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..mechanisms import Public
from ._mean_gradient import any_gradient_asked, full_batch
from ._ranges import clip_bound, count, decay_factor, positive
from ._rules import refuse_long_step, step_rule
from ._solver import Array, Asked, Budget, OracleLike, Solver, Task, count_asked

__all__ = ["GD", "heavy_ball"]


@dataclass(frozen=True)
class GD(Solver):
    """Gradient descent on noisy full-batch gradients.

    Parameters
    ----------
    steps : int
        Number of gradients.
    momentum : float
        Heavy ball, in [0, 1).
    clip : float or None
        Bound on the norm of one record's gradient, rows having norm at most 1; None: by the noise level.
    step_size : float or None
        Step on the mean objective; None: by curvature and noise.
    radius : float
        How far the noise may carry the iterate, for the default step.
    """

    name: ClassVar[str] = "gd"
    takes_start: ClassVar[bool] = True
    takes_lists: ClassVar[bool] = True

    steps: int = count(200)
    momentum: float = decay_factor(0.95)
    clip: float | None = clip_bound()
    step_size: float | None = positive(None)
    radius: float = positive(8.0)

    def asks(self, public: Public, task: Task, budget: Budget) -> Asked:
        """A count where n is private, and the gradients."""
        refuse_long_step(task, public, self.step_size, self.momentum)
        yield from count_asked(public, budget)
        yield any_gradient_asked(self, public, task, self._multiplier(budget), True), self.steps

    def _multiplier(self, budget: Budget) -> float:
        return budget.noise * math.sqrt(self.steps)

    def solve(self, oracle: OracleLike, task: Task, budget: Budget) -> Array:
        """Return the last iterate."""
        gradient = full_batch(self, oracle, task, budget, self._multiplier(budget))
        step = self.step_size or step_rule(
            task, oracle.public, gradient.n, self.momentum, gradient.noise, self.steps, self.radius
        )

        def prox(w: Array, step: float) -> Array:
            return task.penalty.prox(w, step / gradient.n)

        begin = np.zeros(task.shape) if task.start is None else task.start
        given = gradient, prox, begin, self.steps, step, self.momentum
        return heavy_ball(*given, eased=task.start is not None)


def heavy_ball(
    gradient: Callable[[Array], Array],
    prox: Callable[[Array, float], Array],
    w: Array,
    steps: int,
    step: float,
    momentum: float,
    eased: bool = False,
) -> Array:
    """The last of so many proximal steps from w along a running mean of gradients.

    The mean makes a fixed point of the step a minimiser: heavy ball with a step s is this with s / (1 - momentum).

    Parameters
    ----------
    gradient : callable
        Of the mean loss at a point.
    prox : callable
        Of the penalty, at a point and a step.
    w : ndarray
        Where to start.
    steps : int
        Number of gradients.
    step, momentum : float
        As in `GD`.
    eased : bool
        Whether the penalty sets in as the mean does, which begins at 0: then a minimiser that it begins at is a fixed
        point from the first step on.
    """
    step /= 1.0 - momentum
    mean, whole = np.zeros_like(w), 0.0 if eased else 1.0
    for _ in range(steps):
        mean += (1.0 - momentum) * (gradient(w) - mean)
        whole += (1.0 - momentum) * (1.0 - whole)
        w = prox(w - step * mean, step * whole)
    return w
