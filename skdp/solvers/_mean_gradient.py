"""Noisy mean gradient, the query of most solvers: of all records or of batches, in given or other coordinates.

`asked` states the questions of it, which is all that a price depends on; `full_batch` and `on_batches` make it, with
the defaults that all solvers share.

Sampling of batches by stochastic solvers, and their decreasing step sizes.

Sums over a batch are divided by its expected size, which is public or bought, never by the realised one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..exceptions import NotSupported
from ..losses import BayesRank, ListLoss
from ..mechanisms import AllocatedBatch, Gradient, PoissonBatch, Public, RandomBatch
from ..mechanisms._mechanism import Additive
from ._ranges import batch, clip_bound, count, one_of, positive, sampling_rate
from ._rules import clip_rule, refuse_long_step, step_rule
from ._solver import Array, Asked, Budget, OracleLike, Solver, Task, count_asked, record_count

__all__ = [
    "BatchSolver",
    "MeanGradient",
    "Sampler",
    "any_gradient_asked",
    "decay",
    "full_batch",
    "gradient_asked",
    "on_batches",
    "sampler",
]


@dataclass(frozen=True)
class Sampler:
    """Sampling scheme of batches, and the divisor of their sums."""

    n: float
    rate: float
    sampling: str
    _turns: Iterator[int] = field(default_factory=itertools.count, compare=False)

    @property
    def expected(self) -> float:
        """Expected records in a batch."""
        return self.rate * self.n

    def batch(self, question: Additive) -> AllocatedBatch | PoissonBatch | RandomBatch:
        """The question, asked of the next batch."""
        if self.sampling == "poisson":
            return PoissonBatch(question, self.rate)
        if self.sampling == "without_replacement":
            return RandomBatch(question, round(self.rate * self.n))
        batches = round(1.0 / self.rate)
        return AllocatedBatch(question, batches, opens=next(self._turns) % batches == 0)

    def asked(self, question: Additive, steps: int) -> Asked:
        """The question of so many batches in a row."""
        if self.sampling != "allocation":
            yield self.batch(question), steps
            return
        batches = round(1.0 / self.rate)
        for done in range(0, steps, batches):
            yield AllocatedBatch(question, batches, opens=True), 1
            if rest := min(batches, steps - done) - 1:
                yield AllocatedBatch(question, batches, opens=False), rest


def sampler(solver: Any, public: Public, n: float) -> Sampler:
    """Make the sampling scheme of a solver's `batch_size`, `rate` and `sampling` for about n records.

    The rate never depends on a private count.
    """
    if solver.sampling == "without_replacement" and not public.replace_one:
        raise NotSupported(
            "sampling='without_replacement' reveals n, which neighbors='add_remove' keeps private; use 'poisson'."
        )
    if solver.batch_size is not None and public.n is None:
        raise NotSupported(
            f"batch_size={solver.batch_size} is a rate only if n is known; give rate=, or declare n_public."
        )
    rate = solver.rate if solver.batch_size is None else min(1.0, solver.batch_size / n)
    if solver.sampling == "without_replacement":
        rate = max(1, round(rate * n)) / n
    if solver.sampling == "allocation":
        rate = 1.0 / max(1, round(1.0 / rate))
    return Sampler(float(n), rate, solver.sampling)


def decay(schedule: str, k: int, rate: float) -> float:
    """Factor of step number k (from 0) of a schedule: "constant", "epoch" of 1 / rate steps, or "sqrt"."""
    if schedule == "constant":
        return 1.0
    if schedule == "epoch":
        return 1.0 / (1 + math.floor(k * rate))
    return 1.0 / math.sqrt(k + 1)


Ask = Callable[[Any], Any]


def as_it_is(question: Any) -> Any:
    """Return the query as it is: of all records, in the given coordinates."""
    return question


@dataclass(frozen=True)
class MeanGradient:
    """The mean of clipped gradients at a point, with noise; each call is one answer that is paid for.

    Parameters
    ----------
    oracle : Oracle
        Answers.
    task : Task
        Its loss.
    n : float
        Number of records, public or bought.
    expected : float
        What a sum is divided by: the records of a batch that are expected, or n.
    clip : float
        Bound on the norm of one record's gradient.
    multiplier : float
        Standard deviation of the noise of a sum over the clip.
    ask_as : callable
        How the question about a gradient is asked: of a batch, or of rows in other coordinates.
    """

    oracle: OracleLike
    task: Task
    n: float
    expected: float
    clip: float
    multiplier: float
    ask_as: Ask = as_it_is

    def __call__(self, w: Array) -> Array:
        """The answer at w: the caller's own array."""
        whole = self.ask_as is as_it_is
        question = gradient_at(w, self.task, self.oracle.public, self.clip, self.multiplier, whole)
        answer: Array = self.oracle.ask(self.ask_as(question))
        answer /= self.expected
        return answer

    @property
    def noise(self) -> float:
        """Standard deviation of the noise of one coordinate."""
        return self.multiplier * self.clip / self.expected


def gradient_at(
    w: Array, task: Task, public: Public, clip: float, multiplier: float, whole: bool
) -> Additive:
    """The question about the gradient of all records (`whole`) or of a batch: of lists where the loss is of lists."""
    given: Any = {"at": w, "loss": task.loss, "multiplier": multiplier}
    if not isinstance(task.loss, ListLoss):
        return Gradient(**given, clip=clip)
    from ..mechanisms import LabelGradient, ListGradient

    if public.lists != "labels" or type(task.loss) is not BayesRank or not task.loss.kept:
        return ListGradient(**given, clip=clip)
    if whole and public.documents is not None:  # no more noise than documents ask for at this point
        clip = min(clip, public.documents.widest_span(w))
    return LabelGradient(**given, clip=clip, paired=whole)


def gradient_asked(solver: Any, public: Public, task: Task, multiplier: float) -> Gradient:
    """A question at the price of all gradients with this multiplier: neither point nor clip changes it."""
    clip = solver.clip or clip_rule(task, public, math.inf)
    return Gradient(at=np.zeros(task.shape), loss=task.loss, clip=clip, multiplier=multiplier)


def any_gradient_asked(
    solver: Any, public: Public, task: Task, multiplier: float, whole: bool
) -> Additive:
    """Return the gradient query for records or for lists, of all (`whole`) or of a batch."""
    clip = solver.clip or clip_rule(task, public, math.inf)
    return gradient_at(np.zeros(task.shape), task, public, clip, multiplier, whole)


def full_batch(
    solver: Any, oracle: OracleLike, task: Task, budget: Budget, multiplier: float
) -> MeanGradient:
    """Make the mean gradient of all records, at the solver's clip or at one chosen by the budget's noise level.

    Parameters
    ----------
    solver : Solver
        Its `clip`.
    oracle : Oracle
        Answers; a private n is bought here.
    task : Task
        Loss and shape.
    budget : Budget
        Its noise is that of one gradient of the whole budget.
    multiplier : float
        Noise of each gradient.
    """
    n = record_count(oracle, budget)
    clip = solver.clip or clip_rule(task, oracle.public, budget.noise * math.sqrt(task.size) / n)
    return MeanGradient(oracle, task, n, n, clip, multiplier)


@dataclass(frozen=True)
class BatchSolver(Solver):
    """A solver whose every step asks for the gradient of one fresh batch, at one noise multiplier for all.

    Parameters
    ----------
    batch_size, rate, steps, clip, radius, sampling : object
        As in `SGD`.
    """

    batch_size: int | None = batch()
    rate: float = sampling_rate(0.05)
    steps: int = count(1000)
    clip: float | None = clip_bound()
    radius: float = positive(8.0)
    sampling: str = one_of("poisson", "without_replacement", "allocation")

    def asks(self, public: Public, task: Task, budget: Budget) -> Asked:
        """A count where n is private, and `steps` gradients."""
        draw = sampler(self, public, public.n or 1.0)
        yield from count_asked(public, budget)
        question = any_gradient_asked(self, public, task, budget.noise, False)
        yield from draw.asked(question, self.steps)


@dataclass(frozen=True)
class SteppedBatches(BatchSolver):
    """Base class of the batch solvers that take a step on each gradient.

    Parameters
    ----------
    step_size : float or None
        As in `GD`.
    """

    step_size: float | None = positive(None)

    def asks(self, public: Public, task: Task, budget: Budget) -> Asked:
        """Yield the queries of a batch solver, if the step is not too long."""
        refuse_long_step(task, public, self.step_size)
        return super().asks(public, task, budget)

    def step(self, task: Task, public: Public, draw: Sampler, noise: float) -> float:
        """The user's step, or the one that suits the noise of a gradient."""
        return self.step_size or step_rule(
            task, public, draw.n, 0.0, noise, self.steps, self.radius
        )


def on_batches(
    solver: BatchSolver, oracle: OracleLike, task: Task, budget: Budget
) -> tuple[MeanGradient, Sampler]:
    """Make the mean gradient of fresh batches, and their sampler; the clip is by the noise of all steps' mean."""
    draw = sampler(solver, oracle.public, record_count(oracle, budget))
    level = budget.noise / (draw.expected * math.sqrt(solver.steps))
    clip = solver.clip or clip_rule(task, oracle.public, level * math.sqrt(task.size), False)
    mean = MeanGradient(oracle, task, draw.n, draw.expected, clip, budget.noise, draw.batch)
    return mean, draw
