"""DP-AGD (Lee and Kifer 2018): noisy gradients, a noisy choice among step sizes, precision bought where it is needed.

Privacy: post-processing of clipped gradients and of noisy selections whose prices depend on earlier answers, under a
zCDP filter. It is asked before anything is begun that could not be finished; only the last committed iterate leaves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..mechanisms import BestCandidate, Gradient
from ._ladder import ladder_rule, start
from ._purse import Purse
from ._rules import clip_rule
from ._solver import Solver

__all__ = ["AGD"]


@dataclass(frozen=True)
class AGD(Solver):
    """Gradient descent with adaptive step sizes and an adaptive price per gradient.

    A round buys a noisy gradient, then the noisily best of several step sizes, none among them. If none wins, the
    gradient is too noisy: more of it is bought and averaged in by precision, and later rounds start from the precision
    that was reached. The ladder of step sizes follows the ones that were chosen.

    Parameters
    ----------
    splits : int
        Rounds that the allowance would last if no gradient had to be bought again.
    selection_share : float
        Part of a round's price that goes to the choice of the step size.
    growth : float
        Part of itself by which the precision of a rejected gradient is raised.
    momentum : float
        Weight of earlier directions in a direction, in [0, 1); they are dropped when no step wins.
    candidates : int
        Step sizes to choose from, each half of the one before.
    prior : float
        Handicap of a step size, per halving or doubling of the default and in units of the selection's own noise: where
        the budget is too small for the comparison to say anything, the default decides.
    refresh : int
        Committed steps after which the ladder moves to start at twice the largest of them.
    clip : float or None
        Bound on the norm of one record's gradient, rows having norm at most 1; None: by the noise level. A record's
        losses range over no more than this times the longest step.
    step_size : float or None
        Largest step on the mean objective; None: by curvature and noise.
    radius : float
        How far the noise may carry the iterate at the largest step, for the default ladder.
    max_rounds : int
        Limit where nothing else ends the loop.
    """

    name: ClassVar[str] = "agd"
    adaptive: ClassVar[bool] = True
    filter: ClassVar[str] = "zcdp"

    splits: int = 60
    selection_share: float = 0.2
    growth: float = 0.5
    momentum: float = 0.5
    candidates: int = 5
    prior: float = 1.0
    refresh: int = 5
    clip: float | None = None
    step_size: float | None = None
    radius: float = 32.0
    max_rounds: int = 500

    def solve(self, oracle, task, budget):
        """Return the last committed iterate."""
        descent = _Descent(self, oracle, task)
        w = start(task)
        for _ in range(self.max_rounds):
            committed = descent.round(w)
            if committed is None:
                break
            w = committed
        return w


class _Descent:
    """One run: its public constants, and what it has learnt from answers so far."""

    def __init__(self, solver, oracle, task):
        self.solver, self.oracle, self.task = solver, oracle, task
        self.purse = purse = Purse(oracle, task)
        self.n = purse.count()
        level = purse.gaussian(1.0) * math.sqrt(task.size) / self.n
        self.clip = solver.clip or clip_rule(task, oracle.public, level)
        self.share = (1.0 - solver.selection_share) / solver.splits
        self.epsilon = purse.range(solver.selection_share / solver.splits)
        noise = purse.gaussian(self.share) * self.clip / self.n
        self.longest = self.top = solver.step_size or ladder_rule(
            task, oracle.public, self.n, noise, solver.splits, solver.radius
        )
        self.default = 0.5 * self.top
        self.mean = None
        self.chosen = []

    def round(self, w):
        """The next iterate, or None where it cannot be paid for or nothing is left to gain."""
        more, bought, gradient = self.share, 0.0, np.zeros_like(w)
        while self._affords(w, more):
            fresh = self.oracle.ask(self._gradient(w, more)) / self.n
            gradient, bought = (bought * gradient + more * fresh) / (bought + more), bought + more
            committed = self._select(w, gradient)
            if committed is not None:
                self.share = bought
                return committed
            self.mean = None
            if self.purse.unlimited:
                return self._shorten(w)
            more = self.solver.growth * bought
        return None

    def _select(self, w, gradient):
        """The noisily best point along the direction, or None if that is where we are."""
        old = self.solver.momentum
        direction = gradient if self.mean is None else old * self.mean + (1.0 - old) * gradient
        steps = self.top * 0.5 ** np.arange(self.solver.candidates)
        prox = self.task.penalty.prox
        points = np.stack([w, *(prox(w - step * direction, step / self.n) for step in steps)])
        best = self.oracle.ask(self._comparison(points, self._handicaps(steps)))
        if best == 0:
            return None
        self.mean = direction
        self.chosen.append(steps[best - 1])
        if len(self.chosen) == self.solver.refresh:
            self.top = min(2.0 * max(self.chosen), self.longest)
            self.chosen.clear()
        return points[best]

    def _comparison(self, points, handicaps=0.0):
        """The paid comparison of points by loss, penalty and handicap; the first one is where we are."""
        farthest = max(float(np.linalg.norm(point - points[0])) for point in points)
        cap = max(self.clip * farthest, 1e-100)
        # Scale of the Gumbel noise: the spread over epsilon.
        unit = self.oracle.public.swing * cap / self.epsilon
        penalties = np.array([self.task.penalty.value(point) for point in points])
        return BestCandidate(
            epsilon=self.epsilon,
            candidates=points,
            offsets=penalties + unit * handicaps,
            loss=self.task.loss,
            cap=cap,
        )

    def _handicaps(self, steps):
        away = np.abs(np.log2(steps / self.default))
        return self.solver.prior * np.concatenate([[1.0], away])

    def _gradient(self, w, share):
        multiplier = self.purse.gaussian(share)
        return Gradient(at=w, loss=self.task.loss, clip=self.clip, multiplier=multiplier)

    def _affords(self, w, share):
        """Whether a gradient and the comparison that it is for can both be paid: nothing is begun in vain."""
        return self.oracle.affords(self._gradient(w, share), self._comparison(w[None]))

    def _shorten(self, w):
        """Exact answers say that the whole ladder is too long."""
        if self.top < 1e-9 * self.longest:
            return None
        self.top *= 0.5**self.solver.candidates
        return w
