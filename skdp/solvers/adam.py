"""Adam on noisy gradients of Poisson batches, its second moment corrected for the noise.

Privacy: post-processing of clipped gradients of fresh batches, and of one noisy count where n is private. The script is
fixed beforehand; the noise variance that is subtracted is public.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..mechanisms import Gradient
from ._rules import clip_rule
from ._sampling import sampler
from ._solver import Solver

__all__ = ["Adam"]


@dataclass(frozen=True)
class Adam(Solver):
    """Adam (Kingma and Ba 2015) with the private correction of Tang, Shpilevskiy and Lecuyer (2024).

    The second moment of a noisy gradient is that of the gradient plus the variance of the noise, which drowns it and
    turns plain Adam into momentum with a small step. Its floor, a share of that variance, is about what averaging
    leaves of it.

    Parameters
    ----------
    batch_size : int or None
        Expected records in a batch; None: `rate` times n.
    rate : float
        Probability with which a record enters a batch, without a `batch_size`; the only way where n is private.
    steps : int
        Number of batches.
    step_size : float or None
        Length of the first step in each coordinate, which falls to 0 over the run; None: so that steps of pure noise
        end within the radius.
    memory : tuple of two floats
        Decay of the running mean and of the running second moment.
    floor : float
        Least second moment, as a share of the noise's variance.
    clip : float or None
        Bound on the norm of one record's gradient, rows having norm at most 1; None: by the noise level.
    radius : float
        Norm of coefficients that noise may carry the iterate to, for the default step.
    sampling : {"poisson", "without_replacement"}
        How batches are drawn.
    """

    name: ClassVar[str] = "adam"
    needs: ClassVar[frozenset] = frozenset({"smooth_penalty"})

    batch_size: int | None = None
    rate: float = 0.05
    steps: int = 400
    step_size: float | None = None
    memory: tuple = (0.9, 0.999)
    floor: float = 0.1
    clip: float | None = None
    radius: float = 8.0
    sampling: str = "poisson"

    def solve(self, oracle, task, budget):
        """Return the last iterate."""
        draw = sampler(self, oracle, budget)
        level = budget.noise / (draw.expected * math.sqrt(self.steps))
        clip = self.clip or clip_rule(task, oracle.public, level * math.sqrt(task.size))
        variance = (budget.noise * clip / draw.expected) ** 2
        base = self.step_size or self.radius * math.sqrt(self.floor / (self.steps * task.size))
        least = max(self.floor * variance, 1e-16)
        w, mean, square = (np.zeros(task.shape) for _ in range(3))
        slow, slower = self.memory
        for k in range(self.steps):
            question = Gradient(at=w, loss=task.loss, clip=clip, multiplier=budget.noise)
            noisy = oracle.ask(draw.batch(question))
            noisy /= draw.expected
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
