"""Variance-reduced proximal gradients (Wang, Ye and Xu 2017, "DP-SVRG").

Privacy: post-processing of one clipped gradient of all records an epoch and of clipped gradient differences of fresh
Poisson batches: two kinds of priced release. The script is fixed beforehand; the bound on a difference follows from
answers and changes noise and contribution alike, never the price.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..exceptions import NotSupported
from ..mechanisms import GradientDifference, PoissonBatch, Public
from ._admm import curvature_bound
from ._mean_gradient import full_batch, gradient_asked
from ._ranges import clip_bound, count, positive, sampling_rate, share_of_budget
from ._rules import longest_prox, refuse_long_step
from ._solver import Array, Asked, Budget, OracleLike, Solver, Task, count_asked

__all__ = ["SVRG"]

_MOST_BATCHES = 10**7
_LEAST_REACH = 1e-9  # bound on a difference, where the iterate has not left the anchor


@dataclass(frozen=True)
class SVRG(Solver):
    """Stochastic variance-reduced gradients with noise: a baseline.

    The paper prices one release an epoch; there are two kinds, and the anchor's full gradient takes `share` of the
    budget. A smooth loss's gradient moves by at most its curvature times the distance from the anchor, which bounds
    the differences.

    Parameters
    ----------
    epochs : int
        Number of anchors.
    rate : float
        Probability with which a record enters a batch; an epoch has 1 / rate batches.
    share : float
        About which share of the budget the anchors take, in (0, 1).
    clip, step_size : float or None
        As in `GD`.
    radius : float
        How far the noise of the anchors may carry the iterate, for the default step.
    """

    name: ClassVar[str] = "svrg"
    needs: ClassVar[frozenset[str]] = frozenset({"smooth_loss"})

    epochs: int = count(10)
    rate: float = sampling_rate(0.05)
    share: float = share_of_budget(0.5)
    clip: float | None = clip_bound()
    step_size: float | None = positive(None)
    radius: float = positive(8.0)

    @property
    def _inner(self) -> int:
        """Batches in an epoch."""
        return round(1.0 / self.rate)

    def asks(self, public: Public, task: Task, budget: Budget) -> Asked:
        """A count where n is private; in each epoch a gradient, and differences on batches."""
        refuse_long_step(task, public, self.step_size)
        if self.epochs * self._inner > _MOST_BATCHES:
            raise NotSupported(
                f"solver={self.name!r} would draw {self.epochs * self._inner:.3g} batches (1 / rate in each of "
                f"{self.epochs} epochs) but at most {_MOST_BATCHES:g} are allowed; raise rate, or lower epochs."
            )
        full, batch = self._multipliers(budget)
        anchor = gradient_asked(self, public, task, full)
        w, clip = anchor.at, anchor.clip
        change = GradientDifference(
            at=w, anchor=w, loss=task.loss, clip=clip, reach=_LEAST_REACH, multiplier=batch
        )
        yield from count_asked(public, budget)
        for _ in range(self.epochs):
            yield anchor, 1
            yield PoissonBatch(change, self.rate), self._inner

    def _multipliers(self, budget: Budget) -> tuple[float, float]:
        """Return the noise of an anchor's gradient and of a difference's.

        At much noise a batch costs as much as a full gradient with noise multiplier / rate.
        """
        inner = self.epochs * self._inner / (1.0 - self.share)
        full = budget.noise * math.sqrt(self.epochs / self.share)
        return full, budget.noise * self.rate * math.sqrt(inner)

    def solve(self, oracle: OracleLike, task: Task, budget: Budget) -> Array:
        """Return the last iterate."""
        full, batch = self._multipliers(budget)
        gradient = full_batch(self, oracle, task, budget, full)
        n, clip, inner = gradient.n, gradient.clip, self._inner
        bend = curvature_bound(task, oracle.public)
        step = self.step_size or self._step(
            task, n, bend, gradient.noise, batch / (self.rate * n), inner
        )
        w = np.zeros(task.shape)
        for _ in range(self.epochs):
            anchor = w
            known = gradient(w)
            for _ in range(inner):
                reach = min(max(bend * float(np.linalg.norm(w - anchor)), _LEAST_REACH), 2.0 * clip)
                change = GradientDifference(
                    at=w, anchor=anchor, loss=task.loss, clip=clip, reach=reach, multiplier=batch
                )
                noisy = known + oracle.ask(PoissonBatch(change, self.rate)) / (self.rate * n)
                w = task.penalty.prox(w - step * noisy, step / n)
        return w

    def _step(
        self,
        task: Task,
        n: float,
        bend: float,
        anchor_noise: float,
        relative_noise: float,
        inner: int,
    ) -> float:
        """Half of the inverse curvature, less where an anchor's noise or the differences' would carry the iterate off.

        A difference's noise is a multiple of the distance from the anchor: over an epoch it may double it.
        """
        steady = 0.5 / bend
        wander = anchor_noise * inner * math.sqrt(self.epochs * task.size)
        growth = bend * relative_noise * math.sqrt(inner * task.size)
        return min(
            steady,
            self.radius / max(wander, 1e-300),
            1.0 / max(growth, 1e-300),
            longest_prox(task, n),
        )
