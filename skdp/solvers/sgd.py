"""Stochastic proximal gradient descent on Poisson batches (Abadi et al. 2016; prox step of Chen and Lee 2020).

Privacy: post-processing of clipped gradients of fresh Poisson batches, or of fresh batches of fixed size
(``sampling="without_replacement"``, replace-one neighbours only, costlier: hardly at high noise, several times at low),
or of the batches of epochs in which each record is in exactly one (``sampling="allocation"``).
The script is fixed beforehand. Sums are divided by the expected batch size, which is public or bought, never by the
realised one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ._mean_gradient import SteppedBatches, decay, on_batches
from ._ranges import flag, one_of
from ._rules import start
from ._solver import Array, Budget, OracleLike, Task

__all__ = ["SGD"]


@dataclass(frozen=True)
class SGD(SteppedBatches):
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
    clip : float or None
        Bound on the norm of one record's gradient, rows having norm at most 1; None: by the noise level.
    step_size : float or None
        As in `GD`.
    radius : float
        How far the noise may carry the iterate, for the default step.
    sampling : {"poisson", "without_replacement", "allocation"}
        How batches are drawn. ``"allocation"``: each record is in one random batch of each epoch of 1 / `rate` steps;
        an epoch is paid for as a whole, also a last one that is not finished.
    """

    name: ClassVar[str] = "sgd"
    takes_start: ClassVar[bool] = True
    takes_lists: ClassVar[bool] = True
    for_any_model: ClassVar[bool] = True

    schedule: str = one_of("constant", "sqrt", "epoch")
    averaging: bool = flag(True)

    def solve(self, oracle: OracleLike, task: Task, budget: Budget) -> Array:
        """Return the averaged (or last) iterate."""
        gradient, draw = on_batches(self, oracle, task, budget)
        base = self.step(task, oracle.public, draw, gradient.noise)
        w, mean, mean_step = start(task, oracle.public), np.zeros(task.shape), 0.0
        tail = self.steps - self.steps // 2
        for k in range(self.steps):
            step = base * decay(self.schedule, k, draw.rate)
            noisy = gradient(w)
            noisy *= -step
            noisy += w
            w = task.penalty.prox(noisy, step / draw.n)
            if k >= self.steps - tail:
                mean += noisy / tail
                mean_step += step / tail
        # The prox of a mean is as smooth as a mean of proxes, and still sparse or feasible.
        return task.penalty.prox(mean, mean_step / draw.n) if self.averaging else w
