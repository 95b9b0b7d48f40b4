"""Private Frank-Wolfe on an L1 ball (Talwar, Thakurta and Zhang 2015).

Privacy: post-processing of noisy selections of a coordinate, and of an intercept, from a script that is fixed
beforehand. Nothing is divided by n, which may be private.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..losses import Loss
from ..mechanisms import BestCandidate, Public, SteepestCoordinate
from ..penalties import ScaledPenalty
from ._ranges import count, positive, share_of_budget
from ._solver import Array, Asked, Budget, OracleLike, Solver, Task

__all__ = ["FrankWolfe"]


@dataclass(frozen=True)
class FrankWolfe(Solver):
    """Frank-Wolfe steps to noisily chosen vertices of ``penalty=L1Ball(radius)``.

    Step t moves a share 2 / (t + 2) of the way to a vertex, so that after few steps few coefficients differ from 0. The
    ball leaves the intercept free, which has no vertex: it takes the noisily best of a step down, none, and a step up,
    of harmonically falling lengths.

    Parameters
    ----------
    steps : int
        Number of vertices.
    bound : float or None
        Bound on the absolute entries of one record's gradient, rows having norm at most 1; None: half of the loss's own
        bound (a logistic slope at 0), or all of it without noise. Where features stay far below 1, declare less.
    intercept_share : float
        Part of the budget that goes to the intercept, where there is one.
    reach : float
        First step of the intercept, in units of the score.
    """

    name: ClassVar[str] = "frank-wolfe"
    needs: ClassVar[frozenset[str]] = frozenset({"l1_ball", "one_output"})

    steps: int = count(30)
    bound: float | None = positive(None)
    intercept_share: float = share_of_budget(0.2)
    reach: float = positive(2.0)

    def asks(self, public: Public, task: Task, budget: Budget) -> Asked:
        """Yield for each step a vertex, and a move of the intercept where there is one."""
        share, noise = self._split(public, budget)
        slope, w = self._slope(task, budget), np.zeros(task.shape)
        vertex = SteepestCoordinate(
            at=w, loss=task.loss, bound=self.bound or slope, epsilon=_epsilon(noise, 1.0 - share)
        )
        if share == 0.0:
            yield vertex, self.steps
            return
        cap = 2.0 / (self.steps + 1.0) * self.reach * slope
        _, shift = _shift(task.loss, w, 1.0, cap, _epsilon(noise, share))
        for _ in range(self.steps):
            yield vertex, 1
            yield shift, 1

    def _split(self, public: Public, budget: Budget) -> tuple[float, float]:
        """The intercept's share of the budget, and the noise of one selection of a step that takes it all."""
        share = self.intercept_share if public.intercept > 0.0 else 0.0
        return share, budget.noise * math.sqrt(self.steps)

    def _slope(self, task: Task, budget: Budget) -> float:
        return (task.loss.slope or 1.0) * (0.5 if budget.private else 1.0)

    def solve(self, oracle: OracleLike, task: Task, budget: Budget) -> Array:
        """Return the last iterate."""
        column, slope = oracle.public.intercept, self._slope(task, budget)
        share, noise = self._split(oracle.public, budget)
        w = np.zeros(task.shape)
        features = w[: oracle.public.n_features]
        for t in range(self.steps):
            step = 2.0 / (t + 2.0)
            epsilon = _epsilon(noise, 1.0 - share)
            best = oracle.ask(
                SteepestCoordinate(at=w, loss=task.loss, bound=self.bound or slope, epsilon=epsilon)
            )
            features += step * (_vertex(task.penalty, best, features.size) - features)
            if share > 0.0:
                length = step * self.reach / (2.0 * column)
                cap = step * self.reach * slope
                moves, question = _shift(task.loss, w, length, cap, _epsilon(noise, share))
                w[-1] += moves[oracle.ask(question)]
        return w


def _epsilon(noise: float, share: float) -> float:
    """Bounded range of a selection that takes this share, at noise of the given scale for all of it."""
    return math.inf if noise == 0.0 else math.sqrt(share) / noise


def _vertex(penalty: ScaledPenalty, index: int, d: int) -> Array:
    """Corner of the ball that the index means: those below d lie along a coordinate, the rest against one."""
    against = np.zeros(d)
    against[index % d] = -1.0 if index < d else 1.0
    return ScaledPenalty(penalty.penalty, penalty.scale, intercept=False).vertex(against)


def _shift(
    loss: Loss, w: Array, length: float, cap: float, epsilon: float
) -> tuple[Array, BestCandidate]:
    """A step down, none, and a step up of the intercept, and which of them is noisily best."""
    moves = np.array([0.0, -length, length])
    points = np.tile(w, (3, 1))
    points[:, -1] += moves
    return moves, BestCandidate(candidates=points, loss=loss, cap=cap, epsilon=epsilon)
