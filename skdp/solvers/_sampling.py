"""Sampling of batches by stochastic solvers, and their decreasing step sizes.

Sums over a batch are divided by its expected size, which is public or bought, never by the realised one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..exceptions import NotSupported
from ..mechanisms import PoissonBatch, Public, RandomBatch
from ..mechanisms._mechanism import Additive

__all__ = ["Sampler", "decay", "sampler"]


@dataclass(frozen=True)
class Sampler:
    """Sampling scheme of batches, and the divisor of their sums."""

    n: float
    rate: float
    sampling: str

    @property
    def expected(self) -> float:
        """Expected records in a batch."""
        return self.rate * self.n

    def batch(self, question: Additive) -> PoissonBatch | RandomBatch:
        """The question, asked of a fresh batch."""
        if self.sampling == "poisson":
            return PoissonBatch(question, self.rate)
        return RandomBatch(question, round(self.rate * self.n))


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
    return Sampler(float(n), rate, solver.sampling)


def decay(schedule: str, k: int, rate: float) -> float:
    """Factor of step number k (from 0) of a schedule: "constant", "epoch" of 1 / rate steps, or "sqrt"."""
    if schedule == "constant":
        return 1.0
    if schedule == "epoch":
        return 1.0 / (1 + math.floor(k * rate))
    return 1.0 / math.sqrt(k + 1)
