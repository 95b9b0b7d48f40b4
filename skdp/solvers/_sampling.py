"""Sampling of batches by stochastic solvers, and their decreasing step sizes.

Sums over a batch are divided by its expected size, which is public or bought, never by the realised one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..exceptions import NotSupported
from ..mechanisms import AllocatedBatch, PoissonBatch, Public, RandomBatch
from ..mechanisms._mechanism import Additive
from ._solver import Asked

__all__ = ["Sampler", "decay", "sampler"]


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
