"""Stochastic ADMM on noisy gradients of random batches (Chen and Lee 2020, Algorithm 1, "ssADMM").

Privacy: post-processing of clipped gradients of fresh Poisson batches, or of fresh batches of fixed size
(``sampling="without_replacement"``, replace-one neighbours only), and of one noisy count where n is private. The
script is fixed beforehand; the penalty and the splitting never see a record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..mechanisms import Public
from ._admm import Splitting, inverse_steps, noise_norm, refuse_small_rho, rho_rule
from ._mean_gradient import BatchSolver, decay, on_batches
from ._ranges import count, flag, one_of, positive
from ._solver import Array, Asked, Budget, OracleLike, Task

__all__ = ["SSADMM"]


@dataclass(frozen=True)
class SSADMM(BatchSolver):
    """Subsampled stochastic ADMM: any penalty with a prox, and a sparse or feasible result.

    The paper releases x, which is neither sparse nor feasible, and tunes rho and eta on a data set; here z leaves, and
    both constants follow from curvature and noise.

    Parameters
    ----------
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
    batch_size, rate, clip, radius, sampling : object
        As in `SGD`.
    """

    name: ClassVar[str] = "ssadmm"

    steps: int = count(3000)
    rho: float | None = positive(None)
    eta: float | None = positive(None)
    schedule: str = one_of("constant", "sqrt", "epoch")
    averaging: bool = flag(True)

    def asks(self, public: Public, task: Task, budget: Budget) -> Asked:
        """Yield the queries of a batch solver; refuse a small rho."""
        refuse_small_rho(task, public, self.rho)
        return super().asks(public, task, budget)

    def solve(self, oracle: OracleLike, task: Task, budget: Budget) -> Array:
        """Return z: the prox of the averaged argument, or the last one."""
        gradient, draw = on_batches(self, oracle, task, budget)
        error = noise_norm(task, gradient.clip, gradient.noise, draw.expected, draw.rate)
        split = Splitting(task, rho_rule(task, oracle.public, draw.n, self.rho), draw.n)
        inverses = self._inverses(task, oracle.public, split.rho, error, draw.rate)
        for k, inverse in enumerate(inverses):
            split.advance(gradient(split.x), inverse)
            if 2 * k >= self.steps - 1:
                split.remember()
        return split.average() if self.averaging else split.z

    def _inverses(self, task: Task, public: Public, rho: float, error: float, rate: float) -> Array:
        growth = np.array([1.0 / decay(self.schedule, k, rate) for k in range(self.steps)])
        if self.eta is not None:
            return growth / self.eta
        return inverse_steps(task, public, rho, growth, error, self.radius)
