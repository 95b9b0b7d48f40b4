"""Private Frank-Wolfe on an L1 ball (Talwar, Thakurta and Zhang 2015).

Privacy: post-processing of noisy selections of a coordinate, and of an intercept, from a script that is fixed
beforehand. Nothing is divided by n, which may be private.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..mechanisms import BestCandidate, SteepestCoordinate
from ..penalties import ScaledPenalty
from ._solver import Solver

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
    needs: ClassVar[frozenset] = frozenset({"l1_ball", "one_output"})

    steps: int = 30
    bound: float | None = None
    intercept_share: float = 0.2
    reach: float = 2.0

    def solve(self, oracle, task, budget):
        """Return the last iterate."""
        column = oracle.public.intercept
        share = self.intercept_share if column > 0.0 else 0.0
        noise = budget.noise * math.sqrt(self.steps)
        slope = (task.loss.slope or 1.0) * (0.5 if budget.private else 1.0)
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
                w[-1] += _shift(
                    oracle,
                    task.loss,
                    w,
                    length=step * self.reach / (2.0 * column),
                    cap=step * self.reach * slope,
                    epsilon=_epsilon(noise, share),
                )
        return w


def _epsilon(noise, share):
    """Bounded range of a selection that takes this share, at noise of the given scale for all of it."""
    return math.inf if noise == 0.0 else math.sqrt(share) / noise


def _vertex(penalty, index, d):
    """Corner of the ball that the index means: those below d lie along a coordinate, the rest against one."""
    against = np.zeros(d)
    against[index % d] = -1.0 if index < d else 1.0
    return ScaledPenalty(penalty.penalty, penalty.scale, intercept=False).vertex(against)


def _shift(oracle, loss, w, length, cap, epsilon):
    """The noisily best of a step down, none, and a step up of the intercept."""
    moves = np.array([0.0, -length, length])
    points = np.tile(w, (3, 1))
    points[:, -1] += moves
    return moves[oracle.ask(BestCandidate(candidates=points, loss=loss, cap=cap, epsilon=epsilon))]
