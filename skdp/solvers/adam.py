"""Adam on noisy gradients of Poisson batches, its second moment corrected for the noise.

Privacy: post-processing of clipped gradients of fresh batches, and of one noisy count where n is private. The script is
fixed beforehand; the noise variance that is subtracted is public.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ._mean_gradient import BatchSolver, on_batches
from ._ranges import count, pair_of_decays, positive
from ._rules import start
from ._solver import Array, Budget, OracleLike, Task

__all__ = ["Adam"]


@dataclass(frozen=True)
class Adam(BatchSolver):
    """Adam (Kingma and Ba 2015) with the private correction of Tang, Shpilevskiy and Lecuyer (2024).

    The second moment of a noisy gradient is that of the gradient plus the variance of the noise, which drowns it and
    turns plain Adam into momentum with a small step. Its floor, a share of that variance, is about what averaging
    leaves of it.

    Parameters
    ----------
    steps : int
        Number of batches.
    step_size : float or None
        Length of the first step in each coordinate, which falls to 0 over the run; None: so that steps of pure noise
        end within the radius.
    memory : tuple of two floats
        Decay of the running mean and of the running second moment.
    floor : float
        Least second moment, as a share of the noise's variance.
    batch_size, rate, clip, radius, sampling : object
        As in `SGD`.
    """

    name: ClassVar[str] = "adam"
    takes_start: ClassVar[bool] = True
    takes_lists: ClassVar[bool] = True
    for_any_model: ClassVar[bool] = True
    needs: ClassVar[frozenset[str]] = frozenset({"smooth_penalty"})

    steps: int = count(400)
    step_size: float | None = positive(None)
    memory: tuple[float, float] = pair_of_decays((0.9, 0.999))
    floor: float = positive(0.1)

    def solve(self, oracle: OracleLike, task: Task, budget: Budget) -> Array:
        """Return the last iterate."""
        gradient, draw = on_batches(self, oracle, task, budget)
        variance = gradient.noise**2
        base = self.step_size or self.radius * math.sqrt(self.floor / (self.steps * task.size))
        least = max(self.floor * variance, 1e-16)
        w, mean, square = start(task, oracle.public), *np.zeros((2, *task.shape))
        slow, slower = self.memory
        for k in range(self.steps):
            noisy = gradient(w)
            noisy += task.penalty.gradient(w) / draw.n
            mean += (1.0 - slow) * (noisy - mean)
            noisy *= noisy
            square += (1.0 - slower) * (noisy - square)
            signal = square / (1.0 - slower ** (k + 1))
            signal -= variance
            np.sqrt(np.maximum(signal, least, out=signal), out=signal)
            step = base * (1.0 - k / self.steps) / (1.0 - slow ** (k + 1))
            w -= step * mean / signal
        return w
