"""Random-round private stochastic gradient descent (Zhang et al. 2017, Algorithm 2, "RRPSGD").

Privacy: post-processing of clipped gradients of fresh Poisson batches, and of one noisy count where n is private. The
script is fixed beforehand: all rounds are run and paid, whichever iterate is returned.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..mechanisms import Gradient
from ._rules import clip_rule, step_rule
from ._sampling import sampler
from ._solver import Solver

__all__ = ["RRPSGD"]


@dataclass(frozen=True)
class RRPSGD(Solver):
    """Plain stochastic gradients and the iterate of one round: a baseline.

    The paper runs up to n^2 rounds of single records with 4 to 6 times the noise that a modern accountant asks for;
    here a public number of Poisson batches is priced exactly.

    Parameters
    ----------
    batch_size : int or None
        Expected records in a batch; None: `rate` times n.
    rate : float
        Probability with which a record enters a batch, without a `batch_size`; the only way where n is private.
    steps : int
        Number of rounds, public.
    stopping : {"fixed", "random"}
        Return the last iterate, or that of a random round: with a constant step the paper's law is uniform.
    clip, step_size : float or None
        As in `GD`.
    radius : float
        How far the noise may carry the iterate, for the default step.
    sampling : {"poisson", "without_replacement"}
        How batches are drawn.
    """

    name: ClassVar[str] = "rrpsgd"

    batch_size: int | None = None
    rate: float = 0.05
    steps: int = 200
    stopping: str = "fixed"
    clip: float | None = None
    step_size: float | None = None
    radius: float = 8.0
    sampling: str = "poisson"

    def solve(self, oracle, task, budget):
        """Return the iterate of the stopping round."""
        if self.stopping not in ("fixed", "random"):
            raise ValueError(f"stopping={self.stopping!r} is not known; use 'fixed' or 'random'.")
        draw = sampler(self, oracle, budget)
        level = budget.noise / (draw.expected * math.sqrt(self.steps))
        clip = self.clip or clip_rule(task, oracle.public, level * math.sqrt(task.size))
        spread = budget.noise * clip / draw.expected
        step = self.step_size or step_rule(
            task, oracle.public, draw.n, 0.0, spread, self.steps, self.radius
        )
        w, stop = np.zeros(task.shape), self.steps
        for k in range(self.steps):
            question = Gradient(at=w, loss=task.loss, clip=clip, multiplier=budget.noise)
            noisy = oracle.ask(draw.batch(question)) / draw.expected
            if k == 0 and self.stopping == "random":
                stop = self._round(noisy, spread)
            w = task.penalty.prox(w - step * noisy, step / draw.n)
            if k + 1 == stop:
                released = w
        return released

    def _round(self, noisy, spread):
        """A round uniform on 1, ..., steps, read off the first answer's digits far below its noise.

        Modulo spread / 2^20 a Gaussian of that spread is uniform and independent of the digits above, to within any
        double; so the round is random, tells nothing, and needs no second generator. Without noise it is the last.
        """
        if spread == 0:
            return self.steps
        digits = math.fmod(abs(float(noisy.ravel()[0])), spread * 2.0**-20) / (spread * 2.0**-20)
        return 1 + min(int(digits * self.steps), self.steps - 1)
