"""DP-BLGD (Chen 2020, chapter 5): full-batch gradient descent with a noisy backtracking line search.

Privacy: post-processing of clipped gradients and of private line searches whose prices depend on earlier answers, under
a Renyi filter at one order, fixed beforehand. It allows Gaussians as much as a zCDP filter does, and prices a Laplace
search without noise on its threshold, which has no zCDP bound. Only the last committed iterate leaves.

DP-BLSGD and DP-BLSGD-AC (Chen 2020, chapter 5): line search on Poisson batches, and budgets that grow where needed.

Privacy: post-processing of clipped gradients and of line searches, each on a fresh Poisson batch, whose prices depend
on earlier answers, under a Renyi filter at one order, fixed beforehand. Only the last committed iterate leaves.

The source searches on the gradient's own batch and amplifies both alone, which adds up only for fresh batches; divides
by the realised batch size, which is private; and lets every order survive that still can, which is no filter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..mechanisms import FirstDecrease, GaussianFirstDecrease, Gradient, PoissonBatch, Public
from ..mechanisms._mechanism import LEAST_BOUND, Mechanism
from ..penalties import ScaledPenalty
from ._descent import RETRIES, Descent, PriceList, descend, first_round
from ._ranges import (
    clip_bound,
    count,
    decay_factor,
    decay_of_steps,
    nonnegative,
    one_of,
    positive,
    sampling_rate,
    share_of_budget,
)
from ._solver import Answering, Array, Asked, Budget, OracleLike, Solver, Task

__all__ = ["BLGD", "BLSGD", "BLSGDAC", "LAWS", "LineSearch", "armijo", "search"]


LAWS = ("laplace", "gaussian")


@dataclass(frozen=True)
class LineSearch(Solver):
    """A solver that goes back from a long step until one passes.

    Parameters
    ----------
    splits, selection_share, growth, momentum, decrease, candidates, backtrack, refresh, slack : object
        As in `BLGD`.
    clip, objective_clip, step_size, radius, max_rounds : object
        As in `BLGD`.
    """

    splits: int = count(60)
    selection_share: float = share_of_budget(0.1)
    growth: float = positive(0.3)
    momentum: float = decay_factor(0.5)
    decrease: float = nonnegative(0.1)
    candidates: int = count(5, 60)
    backtrack: float = decay_of_steps(0.5)
    refresh: int = count(5)
    slack: float = positive(2.0)
    clip: float | None = clip_bound()
    objective_clip: float | None = clip_bound()
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
        Steps to test.
    backtrack : float
        Each step over the one before; the source takes 0.8.
    search_noise : {"laplace", "gaussian"}
        Noise of the line search. The price of the Gaussian one grows with `candidates`.
    refresh : int
        Committed steps after which the ladder moves.
    slack : float
        Where it then starts, over the largest of these steps; the source takes 1.2.
    clip : float or None
        Bound on the norm of one record's gradient, rows having norm at most 1; None: by the noise level. A record's
        loss may change by no more than this times a step.
    objective_clip : float or None
        Bound on the change of one record's loss over a step, where that is less; None: none.
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


@dataclass(frozen=True)
class BLSGD(LineSearch):
    """Stochastic gradient descent whose steps pass a private test of sufficient decrease.

    Where no step passes, a second gradient is bought and compared with the first (CHEB): a wide angle between them says
    that gradients are too noisy, a narrow one that the search is, and the one at fault gets a larger budget from then
    on. Both gradients are averaged and tried again.

    Parameters
    ----------
    rate : float
        Probability with which a record enters a batch.
    splits : int
        Rounds that the allowance would last if no budget grew.
    selection_share : float
        Part of a round's price that goes to the line search.
    growth : float
        By how much of itself a budget grows that was found too small.
    momentum : float
        Weight of earlier directions in a direction, in [0, 1); they are dropped when no step passes.
    decrease : float
        Armijo's constant, as in `BLGD`.
    candidates : int
        Steps to test.
    backtrack : float
        Each step over the one before; the source takes 0.8.
    search_noise : {"gaussian", "laplace"}
        Noise of the line search. On a batch, a few Gaussian queries are amplified exactly, a Laplace search only as a
        pure answer, which needs more than twice the noise.
    refresh : int
        Committed steps after which the ladder moves.
    slack : float
        Where it then starts, over the largest of these steps; the source takes 1.2.
    angle_decay : float
        Weight of the past in the running mean of angles between the gradients of successive rounds.
    widest, narrowest : float
        In units of that mean: the angle beyond which gradients, and below which searches, get more.
    clip, objective_clip, step_size, radius, max_rounds
        As in `BLGD`.
    """

    name: ClassVar[str] = "blsgd"
    for_any_model: ClassVar[bool] = True
    adaptive: ClassVar[bool] = True
    filter: ClassVar[str] = "rdp"

    rate: float = sampling_rate(0.1)
    search_noise: str = one_of("gaussian", "laplace")
    angle_decay: float = decay_factor(0.8)
    widest: float = positive(1.1)
    narrowest: float = positive(0.5)

    @property
    def clip_decay(self) -> float:
        """Part of itself by which the clip shrinks where gradients are too noisy: none, it stays."""
        return 0.0

    def asks(self, public: Public, task: Task, budget: Budget) -> Asked:
        """A count where n is private, and one round: what later ones ask depends on answers."""
        run = _Batches(self, PriceList(public, budget), task)
        yield from run.oracle.asked
        yield run.gradient(run.start(), run.precision), 1
        yield run.probe, 1

    def solve(self, oracle: OracleLike, task: Task, budget: Budget) -> Array:
        """Return the last committed iterate."""
        return descend(_Batches(self, oracle, task), self.max_rounds)


@dataclass(frozen=True)
class BLSGDAC(BLSGD):
    """BLSGD with an adaptive clip: it shrinks after each round in which gradients were found too noisy.

    That finding is made on released gradients, so the new clip costs nothing.

    Parameters
    ----------
    clip_decay : float
        By how much of itself the clip shrinks; the rest is as in `BLSGD`.
    """

    name: ClassVar[str] = "blsgd-ac"

    clip_decay: float = decay_factor(0.05)


class _Batches(Descent):
    """Descent of one fit on batches, with what it has learnt about its budgets."""

    def __init__(self, solver: BLSGD, oracle: Answering, task: Task) -> None:
        super().__init__(solver, oracle, task)
        self.top *= 0.5
        self.precision = 1.0
        self.angle = 0.5 * math.pi
        self.last: Array | None = None

    def price(self) -> None:
        w, share = np.zeros(self.task.shape), self.solver.selection_share / self.solver.splits
        self.multiplier = 1.0
        self.multiplier = self.allowance.noise(
            self.share, lambda scale: self.gradient(w, scale**-2)
        )
        self.scale = self.allowance.noise(share, self._search_at)
        self.probe = self._search_at(self.scale)

    def noise(self) -> float:
        """Return the noise level of one batch."""
        return self.multiplier / (self.n * self.solver.rate)

    def gradient(self, w: Array, precision: float) -> PoissonBatch:
        """The gradient of a fresh batch, at this precision relative to the first one's."""
        multiplier = self.multiplier / math.sqrt(precision)
        question = Gradient(at=w, loss=self.task.loss, clip=self.clip, multiplier=multiplier)
        return PoissonBatch(question, self.solver.rate)

    def comparison(self, w: Array, points: Array, steps: Array) -> Mechanism:
        """A search on a fresh batch, which sees its share of the demanded decrease."""
        demands = armijo(self.task.penalty, self.n, w, points, steps, self.solver.decrease)
        return self._search(
            self.scale,
            at=w,
            candidates=points,
            demands=self.solver.rate * demands,
            bounds=self.reach(w, points),
        )

    def _search_at(self, scale: float) -> PoissonBatch:
        ones = np.ones(self.solver.candidates)
        points = np.zeros((len(ones), *self.task.shape))
        return self._search(scale, at=points[0], candidates=points, demands=ones, bounds=ones)

    def _search(self, scale: float, **test: Any) -> PoissonBatch:
        question = search(self.solver.search_noise, scale, pure=True, loss=self.task.loss, **test)
        return PoissonBatch(question, self.solver.rate)

    def index_of(self, index: int) -> int | None:
        """The first point that passed."""
        return index if index < self.solver.candidates else None

    def round(self, w: Array) -> Array | None:
        """The next iterate, or None where it cannot be paid for or nothing is left to gain."""
        mean, bought, too_noisy = np.zeros_like(w), 0.0, False
        for _ in range(RETRIES):
            precision = self.precision
            question = self.gradient(w, precision)
            if not self.affords(question):
                return None
            fresh = self.oracle.ask(question) / (self.n * self.solver.rate)
            if bought:
                too_noisy |= self._enlarge(angle_between(mean, fresh))
            mean = (bought * mean + precision * fresh) / (bought + precision)
            bought += precision
            committed = self.step(w, mean)
            if committed is not None:
                self._learn(mean, too_noisy)
                return committed
            self.mean = None
        return None

    def _enlarge(self, angle: float) -> bool:
        """Raise the budget that the angle between two gradients at one point blames; whether it is the gradients'."""
        if angle > min(0.5 * math.pi, self.solver.widest * self.angle):
            self.precision *= 1.0 + self.solver.growth
            return True
        if angle < self.solver.narrowest * self.angle:
            finer = self.scale / (1.0 + self.solver.growth)
            probe = self._search_at(finer)
            # The gradient has been bought: a search that could not follow would waste it.
            if self.oracle.affords(probe):
                self.scale, self.probe = finer, probe
        return False

    def _learn(self, gradient: Array, too_noisy: bool) -> None:
        """Remember the angle that successive gradients make; shrink the clip at most once a round."""
        if self.last is not None:
            old = self.solver.angle_decay
            angle = angle_between(gradient, self.last)
            self.angle = old * self.angle + (1.0 - old) * angle
        self.last = gradient
        # Without noise only the choice of the batch is left to blame, which no clip mends.
        if too_noisy and not self.allowance.unlimited:
            self.clip = max(self.clip * (1.0 - self.solver.clip_decay), LEAST_BOUND)


def angle_between(one: Array, other: Array) -> float:
    """Angle in [0, pi]; a right one where either is zero."""
    norms = np.linalg.norm(one) * np.linalg.norm(other)
    cosine = np.vdot(one, other) / norms if norms > 0.0 else 0.0
    return math.acos(min(max(cosine, -1.0), 1.0))
