"""Random-round private stochastic gradient descent (Zhang et al. 2017, Algorithm 2, "RRPSGD").

Privacy: post-processing of clipped gradients of fresh Poisson batches, and of one noisy count where n is private. The
script is fixed beforehand: all rounds are run and paid, whichever iterate is returned.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ._mean_gradient import SteppedBatches, on_batches
from ._ranges import count, one_of
from ._rules import start
from ._solver import Array, Budget, OracleLike, Task

__all__ = ["RRPSGD"]


@dataclass(frozen=True)
class RRPSGD(SteppedBatches):
    """Plain stochastic gradients and the iterate of one round: a baseline.

    Its paper made it for objectives that are not convex: it takes networks too. The paper runs up to n^2 rounds of
    single records with 4 to 6 times the noise that a modern accountant asks for; here a public number of Poisson
    batches is priced exactly.

    Parameters
    ----------
    steps : int
        Number of rounds, public.
    stopping : {"fixed", "random"}
        Return the last iterate, or that of a random round: with a constant step the paper's law is uniform.
    step_size : float or None
        As in `GD`.
    batch_size, rate, clip, radius, sampling : object
        As in `SGD`.
    """

    name: ClassVar[str] = "rrpsgd"
    for_any_model: ClassVar[bool] = True

    steps: int = count(200)
    stopping: str = one_of("fixed", "random")

    def solve(self, oracle: OracleLike, task: Task, budget: Budget) -> Array:
        """Return the iterate of the stopping round."""
        gradient, draw = on_batches(self, oracle, task, budget)
        step = self.step(task, oracle.public, draw, gradient.noise)
        w, stop = start(task, oracle.public), self.steps
        for k in range(self.steps):
            noisy = gradient(w)
            if k == 0 and self.stopping == "random":
                stop = self._round(noisy, gradient.noise)
            w = task.penalty.prox(w - step * noisy, step / draw.n)
            if k + 1 == stop:
                released = w
        return released

    def _round(self, noisy: Array, spread: float) -> int:
        """A round uniform on 1, ..., steps, read off the first answer's digits far below its noise.

        Modulo spread / 2^20 a Gaussian of that spread is uniform and independent of the digits above, to within any
        double; so the round is random, tells nothing, and needs no second generator. Without noise it is the last.
        """
        if spread == 0:
            return self.steps
        digits = math.fmod(abs(float(noisy.ravel()[0])), spread * 2.0**-20) / (spread * 2.0**-20)
        return 1 + min(int(digits * self.steps), self.steps - 1)
