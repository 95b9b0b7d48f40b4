"""DP-BLGD (Chen 2020, chapter 5): full-batch gradient descent with a noisy backtracking line search.

Privacy: post-processing of clipped gradients and of private line searches whose prices depend on earlier answers, under
a Renyi filter at one order, fixed beforehand. It allows Gaussians as much as a zCDP filter does, and prices a Laplace
search without noise on its threshold, which has no zCDP bound. Only the last committed iterate leaves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..mechanisms import FirstDecrease, GaussianFirstDecrease, Public
from ..mechanisms._mechanism import Mechanism
from ..penalties import ScaledPenalty
from ._descent import Descent, PriceList, descend, first_round
from ._ranges import clip_bound, count, decay_factor, nonnegative, one_of, positive, share_of_budget
from ._solver import Answering, Array, Asked, Budget, OracleLike, Solver, Task

__all__ = ["BLGD", "LAWS", "LineSearch", "armijo", "search"]

LAWS = ("laplace", "gaussian")


@dataclass(frozen=True)
class LineSearch(Solver):
    """A solver that goes back from a long step until one passes.

    Parameters
    ----------
    splits, selection_share, growth, momentum, decrease, candidates, refresh : object
        As in `BLGD`.
    clip, step_size, radius, max_rounds : object
        As in `BLGD`.
    """

    splits: int = count(60)
    selection_share: float = share_of_budget(0.1)
    growth: float = positive(0.3)
    momentum: float = decay_factor(0.5)
    decrease: float = nonnegative(0.1)
    candidates: int = count(5, 60)
    refresh: int = count(5)
    clip: float | None = clip_bound()
    step_size: float | None = positive(None)
    radius: float = positive(16.0)
    max_rounds: int = count(500)


@dataclass(frozen=True)
class BLGD(LineSearch):
    """Gradient descent whose steps pass a private test of sufficient decrease.

    A round buys a noisy gradient and tests steps along it, longest first, until one lowers the objective enough. If
    none does, more of the gradient is bought and averaged in by precision, and later rounds start from the precision
    that was reached.

    Parameters
    ----------
    splits : int
        Rounds that the allowance would last if no gradient had to be bought again.
    selection_share : float
        Part of a round's price that goes to the line search.
    growth : float
        Part of itself by which the precision of a rejected gradient is raised.
    momentum : float
        Weight of earlier directions in a direction, in [0, 1); they are dropped when no step passes.
    decrease : float
        Armijo's constant. The source takes 0.5 with a noisy gradient, whose own noise then fails most tests; 0.1 asks
        for a decrease and little more.
    candidates : int
        Steps to test, each half of the one before.
    search_noise : {"laplace", "gaussian"}
        Noise of the line search. The price of the Gaussian one grows with `candidates`.
    refresh : int
        Committed steps after which the ladder moves to start at twice the largest of them.
    clip : float or None
        Bound on the norm of one record's gradient, rows having norm at most 1; None: by the noise level. A record's
        loss may change by no more than this times a step.
    step_size : float or None
        Largest step on the mean objective; None: by curvature and noise. The first test is of half of it.
    radius : float
        How far the noise may carry the iterate at the largest step, for the default ladder.
    max_rounds : int
        Limit where nothing else ends the loop.
    """

    name: ClassVar[str] = "blgd"
    adaptive: ClassVar[bool] = True
    filter: ClassVar[str] = "rdp"

    search_noise: str = one_of("laplace", "gaussian")

    def asks(self, public: Public, task: Task, budget: Budget) -> Asked:
        """A count where n is private, and one round: what later ones ask depends on answers."""
        return first_round(_Backtracking(self, PriceList(public, budget), task))

    def solve(self, oracle: OracleLike, task: Task, budget: Budget) -> Array:
        """Return the last committed iterate."""
        return descend(_Backtracking(self, oracle, task), self.max_rounds)


class _Backtracking(Descent):
    """Chooses the first step that passes."""

    def __init__(self, solver: BLGD, oracle: Answering, task: Task) -> None:
        super().__init__(solver, oracle, task)
        self.top *= 0.5

    def price(self) -> None:
        super().price()
        share = self.solver.selection_share / self.solver.splits
        # Of the search's noise, in units of its queries' sensitivity.
        self.scale = self.allowance.noise(share, self._probe_at)

    def _probe_at(self, scale: float) -> FirstDecrease | GaussianFirstDecrease:
        """A search at the price of all others with this noise."""
        ones = np.ones(self.solver.candidates)
        points = np.zeros((len(ones), *self.task.shape))
        return search(
            self.solver.search_noise,
            scale,
            at=points[0],
            candidates=points,
            demands=ones,
            bounds=ones,
            loss=self.task.loss,
        )

    def comparison(self, w: Array, points: Array, steps: Array) -> Mechanism:
        return search(
            self.solver.search_noise,
            self.scale,
            at=w,
            candidates=points,
            demands=armijo(self.task.penalty, self.n, w, points, steps, self.solver.decrease),
            bounds=self.reach(w, points),
            loss=self.task.loss,
        )

    def index_of(self, index: int) -> int | None:
        return index if index < self.solver.candidates else None


def search(
    search_noise: str, scale: float, pure: bool = False, **test: Any
) -> FirstDecrease | GaussianFirstDecrease:
    """A line search whose noise grows with the scale.

    Laplace noise on the queries alone is cheapest under a Renyi filter; a search that must be ``pure`` needs noise on
    its threshold too, and has least of it in all where 1/e1^2 + 1/e2^2 is least at a given e1 + 2 e2.
    """
    if search_noise == "gaussian":
        return GaussianFirstDecrease(**test, threshold_multiplier=0.0, query_multiplier=scale)
    if search_noise != "laplace":
        raise ValueError(f"search_noise={search_noise!r} is not known; use one of {LAWS}.")
    epsilon = math.inf if scale == 0.0 else 1.0 / scale
    if not pure:
        return FirstDecrease(**test, threshold_epsilon=math.inf, query_epsilon=epsilon)
    query = epsilon / (2.0 + 2.0 ** (1 / 3))
    return FirstDecrease(**test, threshold_epsilon=2.0 ** (1 / 3) * query, query_epsilon=query)


def armijo(
    penalty: ScaledPenalty, n: float, w: Array, points: Array, steps: Array, decrease: float
) -> Array:
    """Decrease of the summed loss that each point must show; a proximal step has |move|^2 / step for step |g|^2."""
    moves = np.square(points - w).reshape(len(points), -1).sum(axis=1)
    before = penalty.value(w)
    penalties = np.array([penalty.value(point) - before for point in points])
    return penalties + decrease * n * moves / steps
