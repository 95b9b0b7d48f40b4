"""The loop that agd and blgd share: buy a gradient, compare steps along it, buy more of it where none is chosen."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from ..exceptions import NotSupported
from ..mechanisms import Count, Gradient, Public
from ..mechanisms._mechanism import Mechanism
from ._rules import clip_rule, longest_prox, nearest
from ._rules import start as start_of
from ._solver import Answering, Array, Asked, Budget, Task

__all__ = ["RETRIES", "Allowance", "Descent", "PriceList", "descend", "first_round", "longest_step"]


_CLOSE = 1e-9  # how near to the allowed price a scale is good enough
_SHORT, _LONG = -30.0, 30.0  # logarithms between which a noise scale is looked for


class Allowance:
    """The allowance of a filter that nothing has been spent of.

    Parameters
    ----------
    oracle : Oracle
        Tells what things cost.
    task : Task
        Whose gradients are the measure.
    """

    def __init__(self, oracle: Answering, task: Task) -> None:
        self._oracle = oracle
        unit = Gradient(at=np.zeros(task.shape), loss=task.loss, clip=1.0, multiplier=1.0)
        # Gaussian answers cost as 1/multiplier^2 in every filter's currency.
        self.whole = math.sqrt(oracle.share(unit))
        # Shares that add up to the whole are affordable together, whatever has been rounded.
        self._rounded_up = 1.0 + 1e-7

    @property
    def unlimited(self) -> bool:
        """True if nothing is promised, so that nothing costs."""
        return self.whole == 0.0

    def gaussian(self, share: float) -> float:
        """Multiplier of a Gaussian answer about all records that takes this share."""
        return self.whole * self._rounded_up / math.sqrt(share)

    def range(self, share: float) -> float:
        """Bounded range of a selection about all records that takes this share: b^2/8 against mu^2/2."""
        if self.unlimited:
            return math.inf
        return 2.0 * self._oracle.public.sensitivity_factor / self.gaussian(share)

    def noise(self, share: float, question: Callable[[float], Mechanism]) -> float:
        """Smallest scale s at which ``question(s)`` takes no more than this share."""
        scale = _least(lambda scale: self._oracle.share(question(scale)), share)
        return scale * self._rounded_up

    def count(self, share: float = 0.01) -> float:
        """The public number of records, or a noisy one that takes this share; never below 1."""
        if self._oracle.public.n is not None:
            return float(self._oracle.public.n)
        multiplier = self.gaussian(share) / self._oracle.public.sensitivity_factor
        return max(1.0, float(self._oracle.ask(Count(multiplier=multiplier))))


def _least(price: Callable[[float], float], allowed: float) -> float:
    """Smallest noise scale whose price, which falls with it, is at most what is allowed; 0 where all are.

    Secant steps on logarithms, of which prices are nearly linear functions, and bisection where they leave the bracket
    or the price jumps.
    """
    if price(math.exp(_SHORT)) <= allowed:
        return 0.0
    aim = math.log(allowed) - 0.5 * _CLOSE

    def excess(t: float) -> float:
        at = price(math.exp(t))
        return math.log(at) - aim if at > 0.0 else -math.inf

    if not price(math.exp(_LONG)) <= allowed:
        raise NotSupported(
            "epsilon is too small for a line search; raise epsilon or delta, or use solver='gd'."
        )

    low, high, above, below = _bracket(excess)
    for k in range(100):
        if below >= -_CLOSE or high - low < 1e-12:
            break
        middle = low + (high - low) * above / (above - below) if k % 3 < 2 else math.nan
        if not low < middle < high:
            middle = 0.5 * (low + high)
        at = excess(middle)
        # Half a tolerance too costly is still within what is allowed.
        low, high, above, below = (
            (middle, high, at, below) if at > 0.5 * _CLOSE else (low, middle, above, at)
        )
    return math.exp(high)


def _bracket(excess: Callable[[float], float]) -> tuple[float, float, float, float]:
    """Two logarithms of scales, too costly and affordable, with their excesses."""
    t, step, at = 0.0, 0.5, excess(0.0)
    towards = 1.0 if at > 0.0 else -1.0
    while True:
        beyond = min(max(t + towards * step, _SHORT), _LONG)
        there = excess(beyond)
        if (there > 0.0) != (at > 0.0) or beyond in (_SHORT, _LONG):
            break
        t, at, step = beyond, there, 2.0 * step
    return (t, beyond, at, there) if towards > 0.0 else (beyond, t, there, at)


RETRIES = 50  # gradients in one round: by the usual growth no budget lasts so long


class PriceList:
    """An oracle that only knows prices: questions are written down, and answered by 0.

    Parameters
    ----------
    public : Public
        What may be known of the records.
    budget : Budget
        Its `share`.
    """

    def __init__(self, public: Public, budget: Budget) -> None:
        self.public: Public = public
        self.share: Any = budget.share  # which the budget of an adaptive solver has
        self.asked: list[tuple[Mechanism, int]] = []

    def ask(self, question: Mechanism) -> Any:
        """Record a query and return 0: nothing is known of the answer."""
        self.asked.append((question, 1))
        return 0.0


def first_round(run: Descent) -> Asked:
    """Yield what a run on a price list has asked, and one round of it: all later ones depend on answers."""
    yield from run.oracle.asked
    yield run.gradient(run.start(), run.share), 1
    yield run.probe, 1


def descend(run: Descent, max_rounds: int) -> Array:
    """The last iterate that a run commits."""
    w = run.start()
    for _ in range(max_rounds):
        committed = run.round(w)
        if committed is None:
            break
        w = committed
    return w


class Descent:
    """Descent of one fit: its public constants, and what it has learnt from answers so far.

    A subclass says what is asked about the points of a ladder of steps (`comparison`), and reads the
    answer (`index_of`).

    Parameters
    ----------
    solver : Solver
        Its hyper-parameters.
    oracle : Oracle
        Whose filter nothing has been charged to.
    task : Task
        Loss, penalty and shape.
    """

    def __init__(self, solver: Any, oracle: Answering, task: Task) -> None:
        self.solver, self.task = solver, task
        self.oracle: Any = oracle  # which a price list need not be in all
        self.allowance = allowance = Allowance(oracle, task)
        self.clip = solver.clip or 1.0  # no price depends on it
        self.share = (1.0 - solver.selection_share) / solver.splits
        self.price()
        self.n = allowance.count()
        level = allowance.gaussian(1.0) * math.sqrt(task.size) / self.n
        self.clip = solver.clip or clip_rule(task, oracle.public, level)
        noise = self.clip * self.noise()
        self.longest = self.top = self.given_step() or longest_step(
            task, oracle.public, self.n, noise, solver.splits, solver.radius
        )
        self.mean: Array | None = None
        self.steps_taken: list[float] = []

    def start(self) -> Array:
        """The model's own, or the point of a constraint that is nearest to it: compared penalties are finite."""
        return nearest(self.task.penalty, start_of(self.task, self.oracle.public))

    def given_step(self) -> float | None:
        """The user's step, or None; a bought n shortens it to a prox that exists, lest a refusal depend on n."""
        step = self.solver.step_size
        if step is None or math.isinf(self.task.penalty.largest_step):
            return step
        if self.oracle.public.n is None:
            return min(step, longest_prox(self.task, self.n))
        self.task.penalty.check_step(step / self.n)
        return step

    def price(self) -> None:
        """Find the scales of noise that shares buy: what cannot be bought is said before a count is.

        No gradient is ever bought for less than the first addition to one.
        """
        self.oracle.share(self.gradient(self.start(), min(self.solver.growth, 1.0) * self.share))

    def comparison(self, w: Array, points: Array, steps: Array) -> Mechanism:
        """The question that chooses among points, each reached from w by one of the steps."""
        raise NotImplementedError

    def index_of(self, index: int) -> int | None:
        """Return the point that the answered index means, or None."""
        raise NotImplementedError

    def noise(self) -> float:
        """Standard deviation of one coordinate of one mean gradient of clip 1."""
        return self.allowance.gaussian(self.share) / self.n

    def gradient(self, w: Array, share: float) -> Mechanism:
        """The gradient at w that takes this share of the allowance."""
        multiplier = self.allowance.gaussian(share)
        return Gradient(at=w, loss=self.task.loss, clip=self.clip, multiplier=multiplier)

    def round(self, w: Array) -> Array | None:
        """The next iterate, or None where it cannot be paid for or nothing is left to gain."""
        more, bought, mean = self.share, 0.0, np.zeros_like(w)
        for _ in range(RETRIES):
            question = self.gradient(w, more)
            if not self.affords(question):
                return None
            fresh = self.oracle.ask(question) / self.n
            mean, bought = (bought * mean + more * fresh) / (bought + more), bought + more
            committed = self.step(w, mean)
            if committed is not None:
                self.share = bought
                return committed
            self.mean = None
            if self.allowance.unlimited:
                return self.shorten(w)
            more = self.solver.growth * bought
        return None

    def affords(self, *questions: Mechanism) -> bool:
        """Return whether these and the comparison that follows can be paid: nothing is begun in vain."""
        return self.oracle.affords(*questions, self.probe)

    @cached_property
    def probe(self) -> Mechanism:
        """A comparison at the price of all others."""
        count = self.solver.candidates
        w = self.start()
        return self.comparison(w, np.stack([w] * count), np.ones(count))

    def step(self, w: Array, gradient: Array) -> Array | None:
        """The chosen point along the gradient and earlier directions, or None."""
        old = self.solver.momentum
        direction = gradient if self.mean is None else old * self.mean + (1.0 - old) * gradient
        steps = self.ladder()
        prox, lengths = self.task.penalty.prox, steps / self.unit(direction)
        points = np.stack([prox(w - t * direction, t / self.n) for t in lengths])
        best = self.index_of(self.oracle.ask(self.comparison(w, points, steps)))
        if best is None:
            return None
        self.mean = direction
        self._follow(steps[best])
        return points[best]

    def ladder(self) -> Array:
        """Steps to compare, longest first: each a fixed part of the one before."""
        return self.top * self.solver.backtrack ** np.arange(self.solver.candidates)

    def unit(self, direction: Array) -> float:
        """What steps are counted in, along this direction."""
        return 1.0

    def _follow(self, step: float) -> None:
        """Move the ladder, now and then, to start above the longest step that was taken."""
        self.steps_taken.append(step)
        if len(self.steps_taken) == self.solver.refresh:
            self.top = min(self.solver.slack * max(self.steps_taken), self.longest)
            self.steps_taken.clear()

    def shorten(self, w: Array) -> Array | None:
        """Exact answers say that the whole ladder is too long."""
        if self.top < 1e-9 * self.longest:
            return None
        self.top *= self.solver.backtrack**self.solver.candidates
        return w

    def reach(self, w: Array, points: Array) -> Array:
        """Bound on the change of one record's loss between w and each point, were its slope at most the clip."""
        moves = (points - w).reshape(len(points), -1)
        bounds = self.clip * np.sqrt(np.einsum("ij,ij->i", moves, moves))
        # A point may coincide with w; bounds must be positive.
        return np.clip(bounds, 1e-30, self.solver.objective_clip)


def longest_step(
    task: Task, public: Public, n: float, noise: float, rounds: int, radius: float
) -> float:
    """Longest step on the mean objective that is worth trying.

    The bound on the curvature counts every row as if all pointed one way; along a descent direction the curvature is
    far below it, so the ladder starts at sixteen times the inverse bound, eight times what would be safe; a comparison
    finds out. Shorter where noise alone would carry the iterate past ``radius``, and within the prox of a weakly convex
    penalty. ``noise`` is the standard deviation of one coordinate of one noisy mean gradient.
    """
    curvature = (task.loss.curvature or 1.0) * public.row_bound**2
    longest = min(16.0 / curvature, longest_prox(task, n))
    wander = noise * math.sqrt(rounds * task.size)
    return min(longest, radius / wander) if wander > 0 else longest
