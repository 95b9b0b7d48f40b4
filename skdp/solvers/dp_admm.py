"""Consensus ADMM over parties that hold disjoint records (Huang et al. 2019, "DP-ADMM").

Privacy: post-processing of `steps` answers to `PartyGradients`; parties are disjoint, so each answer costs one Gaussian
(parallel composition). The script is fixed beforehand, so its price is exact. Replace-one neighbours only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..exceptions import NotSupported
from ..mechanisms import PartyGradients, Public
from ._admm import Splitting, SplittingSolver, equal_steps, noise_norm, refuse_small_rho, rho_rule
from ._mean_gradient import gradient_asked
from ._ranges import count
from ._rules import clip_rule
from ._solver import Array, Asked, Budget, OracleLike, Task

__all__ = ["DPADMM"]


@dataclass(frozen=True)
class DPADMM(SplittingSolver):
    """Each party moves its own copy of the model on a noisy gradient of its records; a centre averages and shrinks.

    Each party's noise hides its own records, so K parties together add sqrt(K) times the noise of one data holder: a
    baseline where one holder has all the data, a method where nobody has.

    Parameters
    ----------
    parties : int
        Number of parties: consecutive blocks of the rows, as equal as can be.
    steps : int
        Number of rounds.
    rho : float or None
        Penalty of the consensus, on the mean objective and for all parties together; None: as in `SSADMM`.
    eta : float or None
        Step size; None: half of the curvature and the noise decide (see `equal_steps`).
    averaging : bool
        Return the prox of the mean of the second half's arguments; without noise, always the last.
    clip : float or None
        Bound on the norm of one record's gradient, rows having norm at most 1; None: by the noise level.
    radius : float
        Norm of coefficients that noise may carry the iterate to, for the default step.
    """

    name: ClassVar[str] = "dp-admm"

    parties: int = count(2, 10**4)

    def asks(self, public: Public, task: Task, budget: Budget) -> Asked:
        """The gradients of all parties."""
        self._divided(public)
        refuse_small_rho(task, public, self.rho)
        everybody = np.zeros((self.parties, *task.shape))
        one = gradient_asked(self, public, task, self._multiplier(budget))
        question = PartyGradients(
            at=everybody, loss=task.loss, clip=one.clip, multiplier=one.multiplier
        )
        yield question, self.steps

    def _divided(self, public: Public) -> int:
        """Return the number of records that the parties share."""
        if public.n is None or not public.replace_one:
            raise NotSupported(
                f"solver={self.name!r} divides the records by position, which moves under neighbors='add_remove'; "
                "use neighbors='replace_one', or 'mpadmm'."
            )
        return public.n

    def _multiplier(self, budget: Budget) -> float:
        return budget.noise * math.sqrt(self.steps)

    def solve(self, oracle: OracleLike, task: Task, budget: Budget) -> Array:
        """Return z: the prox of the averaged argument, or the last one."""
        public, multiplier = oracle.public, self._multiplier(budget)
        n = self._divided(public)
        crowd = math.sqrt(self.parties)
        clip = self.clip or clip_rule(task, public, crowd * budget.noise * math.sqrt(task.size) / n)
        error = noise_norm(task, clip, crowd * multiplier * clip / n, n, 1.0)
        rho = rho_rule(task, public, n, self.rho)
        agreed = Consensus(task, rho, n, self.parties)
        for k, inverse in enumerate(equal_steps(self, task, public, rho, error)):
            question = PartyGradients(at=agreed.x, loss=task.loss, clip=clip, multiplier=multiplier)
            agreed.advance(oracle.ask(question) / n, inverse / self.parties)
            if 2 * k >= self.steps - 1:
                agreed.remember()
        return agreed.average() if self.averaging and budget.noise > 0 else agreed.z


class Consensus(Splitting):
    """`Splitting` with an x and a u for each party, and one z for all.

    A party holds 1 / K of the mean objective, hence 1 / K of its curvature, of rho and of one over eta.
    """

    def __init__(self, task: Task, rho: float, n: float, parties: int) -> None:
        super().__init__(task, rho / parties, n)
        self.step = 1.0 / (rho * n)
        self.x, self.u = (np.zeros((parties, *task.shape)) for _ in range(2))

    def move(self, x: Array) -> None:
        """z and each u that follow from new x."""
        arguments = x + self.u
        self.x, self._anchor = x, arguments.mean(axis=0)
        self.z = self.penalty.prox(self._anchor, self.step)
        self.u = arguments - self.z
