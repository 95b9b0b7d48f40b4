"""Permutation-free SGD whose last iterate alone is released: NSGD, or bolt-on SGD.

After Wu et al. 2017. Privacy: one Gaussian release (pure epsilon if delta = 0) with the sensitivity
of the whole descent, computed by a recursion for the batches as they are
(docs/proofs/hidden_descent.md). Not adaptive; replace-one only.

RSGD-AR: shuffled passes with averaging and restarts, one release.

Chen (2020), "Adaptive and efficient optimization algorithms for differentially private machine learning", section 3.3,
algorithms 3.2 and 3.3.

Privacy: the records are put into a secret order once, so the changed record's batch is random and
the profile is the average over its position (docs/proofs/hidden_descent.md). The step restarts
with the epoch count since the last averaging (the paper's listing divides by the whole count), and
the same schedule is priced. Not adaptive; replace-one only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from ..exceptions import NotSupported
from ..mechanisms import HiddenDescent, Public, Schedule, distances
from ._one_shot import (
    RADIUS,
    OneQuestion,
    chosen_clip,
    noise_norm,
    replaced_records,
    total_step,
    whole_ridge,
)
from ._ranges import batch, clip_bound, count, nonnegative, positive
from ._solver import Budget, Task

__all__ = ["PSGD", "RSGDAR"]


_MOST_STEPS = 10**6  # of one descent: its sensitivity is found step by step
MEMORY = 10.0  # e-foldings of the start that a strongly convex descent goes through


@dataclass(frozen=True)
class PSGD(OneQuestion):
    """Passes over fixed batches with step eta0/s in the s-th pass, then noise.

    Parameters
    ----------
    epochs : int
        Passes over the records.
    batch_size : int or None
        How many records a batch holds, about; None: so that the steps need not be longer than the inverse
        curvature, with 10 to 1000 batches.
    first_step : float or None
        Step eta0 on the mean objective; None: by noise, at most the inverse curvature.
    convexity : float or None
        Weight of half the squared norm of all coordinates on the MEAN objective; None: the user's
        L2, divided by n.
    clip : float or None
        As in `ObjectivePerturbation`.
    radius : float
        How far the solution may lie, for the default step.
    """

    name: ClassVar[str] = "psgd"
    needs: ClassVar[frozenset[str]] = frozenset({"smooth_loss", "convex_penalty"})
    shuffle: ClassVar[bool] = False

    epochs: int = count(20)
    batch_size: int | None = batch()
    first_step: float | None = positive(None)
    convexity: float | None = nonnegative(None)
    clip: float | None = clip_bound(None, unbounded=True)
    radius: float = positive(RADIUS)

    @property
    def restart(self) -> int | None:
        """Epochs between restarts; None for never."""
        return None

    def _question(self, public: Public, task: Task, budget: Budget) -> HiddenDescent:
        n = replaced_records(self, public)
        ridge, rest = whole_ridge(task.penalty)
        clip = chosen_clip(self.clip, task, public, budget)
        convexity = ridge / n if self.convexity is None else self.convexity
        return HiddenDescent(
            loss=task.loss,
            penalty=rest,
            shape=task.shape,
            schedule=self._schedule(public, task, budget, clip, convexity),
            convexity=convexity,
            multiplier=budget.noise,
            shuffle=self.shuffle and budget.delta > 0,
            clip=clip,
            pure=budget.delta == 0,
        )

    def _schedule(
        self, public: Public, task: Task, budget: Budget, clip: float | None, convexity: float
    ) -> Schedule:
        """Near-equal batches, and steps whose sensitivity balances noise and progress."""
        n, curvature = replaced_records(self, public), task.curvature * public.row_bound**2
        longest = 1.0 / (curvature + convexity)
        slope = min(clip or math.inf, (task.loss.slope or math.inf) * public.row_bound)
        noise = budget.noise * noise_norm(task.size, budget.delta == 0) / math.sqrt(task.size)
        best = total_step(n, curvature, slope, noise, self.radius)
        if convexity > 0:  # what is further away than this has been forgotten
            best = min(best, MEMORY / convexity)
        sizes = self._sizes(n, best / longest)
        unit = Schedule.harmonic(1.0, self.epochs, sizes, self.restart)
        first = self.first_step
        if first is None:
            first = min(best / _travel(self.epochs, sizes, self.restart), longest)
        return Schedule(first * unit.steps, sizes, unit.period)

    def _sizes(self, n: int, wanted: float) -> tuple[int, ...]:
        """Choose batch sizes so that full steps can travel that far: 10 to 1000 batches of 50 records or more."""
        size = self.batch_size
        if size is None:
            ten = _travel(self.epochs, self._near_equal(10, 10), self.restart)
            batches = min(max(10.0 * wanted / ten, 10.0), 1000.0, max(n / 50.0, 1.0))
            size = max(int(n / batches), 1)
        return self._near_equal(n, -(-n // size))

    def _near_equal(self, n: int, batches: int) -> tuple[int, ...]:
        """Sizes of so many batches, which differ by 1 at most."""
        if self.epochs * batches > _MOST_STEPS:
            raise NotSupported(
                f"solver={self.name!r} would take {self.epochs * batches:.3g} steps ({self.epochs} epochs of "
                f"{batches} batches) but at most {_MOST_STEPS:g} are priced; lower epochs, or raise batch_size."
            )
        return tuple(n // batches + (k < n % batches) for k in range(batches))


@lru_cache(maxsize=64)
def _travel(epochs: int, sizes: tuple[int, ...], restart: int | None) -> float:
    """Sum S of harmonic steps from 1 such that 2 slope S / n is the sensitivity without contraction.

    Averaging shortens how far a record pushes the end, and how far the end gets, alike.
    """
    schedule = Schedule.harmonic(1.0, epochs, sizes, restart)
    return float(distances(schedule, 0.5 * sum(sizes), 0.0, 0.0).max())


@dataclass(frozen=True)
class RSGDAR(PSGD):
    """Permuted SGD with averaging and restarts, then noise.

    Parameters
    ----------
    epochs, batch_size, first_step, convexity, clip, radius : object
        As in `PSGD`.
    period : int
        Epochs between averaging with restart; ``epochs`` should be a multiple of it.
    """

    name: ClassVar[str] = "rsgd-ar"
    shuffle: ClassVar[bool] = True

    period: int = count(10)

    @property
    def restart(self) -> int:
        """Epochs between restarts."""
        return self.period
