"""Stochastic ADMM on noisy gradients of random batches (Chen and Lee 2020, Algorithm 1, "ssADMM").

Privacy: post-processing of clipped gradients of fresh Poisson batches, or of fresh batches of fixed size
(``sampling="without_replacement"``, replace-one neighbours only), and of one noisy count where n is private. The
script is fixed beforehand; the penalty and the splitting never see a record.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..mechanisms import Gradient
from ._admm import Splitting, inverse_steps, noise_norm, rho_rule
from ._rules import clip_rule
from ._sampling import decay, sampler
from ._solver import Solver

__all__ = ["SSADMM"]


@dataclass(frozen=True)
class SSADMM(Solver):
    """Subsampled stochastic ADMM: any penalty with a prox, and a sparse or feasible result.

    The paper releases x, which is neither sparse nor feasible, and tunes rho and eta on a data set; here z leaves, and
    both constants follow from curvature and noise.

    Parameters
    ----------
    batch_size : int or None
        Expected records in a batch; None: `rate` times n.
    rate : float
        Probability with which a record enters a batch, without a `batch_size`; the only way where n is private.
    steps : int
        Number of batches. Where noise rules, more of them are shorter and change little; where it does not, 50 epochs
        stop early, so the default is 150.
    rho : float or None
        Penalty of the splitting, on the mean objective; None: a quarter of the curvature, more for SCAD and MCP.
    eta : float or None
        First step size; None: half of the curvature and the noise decide (see `inverse_steps`).
    schedule : {"constant", "sqrt", "epoch"}
        Step size: fixed for the number of steps; falling with the root of the step's number; divided by the epoch's
        number (as in the paper). Where noise is high a falling step keeps the noise of its long first steps.
    averaging : bool
        Return the prox of the mean of the second half's arguments instead of the last z.
    clip : float or None
        Bound on the norm of one record's gradient, rows having norm at most 1; None: by the noise level.
    radius : float
        Norm of coefficients that noise may carry the iterate to, for the default step.
    sampling : {"poisson", "without_replacement"}
        How batches are drawn.
    """

    name: ClassVar[str] = "ssadmm"

    batch_size: int | None = None
    rate: float = 0.05
    steps: int = 3000
    rho: float | None = None
    eta: float | None = None
    schedule: str = "constant"
    averaging: bool = True
    clip: float | None = None
    radius: float = 8.0
    sampling: str = "poisson"

    def solve(self, oracle, task, budget):
        """Return z: the prox of the averaged argument, or the last one."""
        draw = sampler(self, oracle, budget)
        level = budget.noise / (draw.expected * math.sqrt(self.steps))
        clip = self.clip or clip_rule(task, oracle.public, level * math.sqrt(task.size))
        spread = budget.noise * clip / draw.expected
        error = noise_norm(task, clip, spread, draw.expected, draw.rate)
        split = Splitting(task, rho_rule(task, oracle.public, draw.n, self.rho), draw.n)
        inverses = self._inverses(task, oracle.public, split.rho, error, draw.rate)
        for k, inverse in enumerate(inverses):
            question = Gradient(at=split.x, loss=task.loss, clip=clip, multiplier=budget.noise)
            split.advance(oracle.ask(draw.batch(question)) / draw.expected, inverse)
            if 2 * k >= self.steps - 1:
                split.remember()
        return split.average() if self.averaging else split.z

    def _inverses(self, task, public, rho, error, rate):
        growth = np.array([1.0 / decay(self.schedule, k, rate) for k in range(self.steps)])
        if self.eta is not None:
            return growth / self.eta
        return inverse_steps(task, public, rho, growth, error, self.radius)
