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

from ..mechanisms import Gradient, GradientDifference, PoissonBatch
from ._admm import curvature_bound
from ._rules import clip_rule, longest_prox
from ._solver import Solver, record_count

__all__ = ["SVRG"]


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
    needs: ClassVar[frozenset] = frozenset({"smooth_loss"})

    epochs: int = 10
    rate: float = 0.05
    share: float = 0.5
    clip: float | None = None
    step_size: float | None = None
    radius: float = 8.0

    def solve(self, oracle, task, budget):
        """Return the last iterate."""
        n, inner = record_count(oracle, budget), round(1.0 / self.rate)
        # For much noise a batch costs like a full gradient of noise multiplier / rate.
        full = budget.noise * math.sqrt(self.epochs / self.share)
        batch = budget.noise * self.rate * math.sqrt(self.epochs * inner / (1.0 - self.share))
        clip = self.clip or clip_rule(task, oracle.public, budget.noise * math.sqrt(task.size) / n)
        bend = curvature_bound(task, oracle.public)
        step = self.step_size or self._step(
            task, n, bend, full * clip / n, batch / (self.rate * n), inner
        )
        w = np.zeros(task.shape)
        for _ in range(self.epochs):
            anchor = w
            known = oracle.ask(Gradient(at=w, loss=task.loss, clip=clip, multiplier=full)) / n
            for _ in range(inner):
                reach = min(max(bend * float(np.linalg.norm(w - anchor)), 1e-9), 2.0 * clip)
                change = GradientDifference(
                    at=w, anchor=anchor, loss=task.loss, clip=clip, reach=reach, multiplier=batch
                )
                noisy = known + oracle.ask(PoissonBatch(change, self.rate)) / (self.rate * n)
                w = task.penalty.prox(w - step * noisy, step / n)
        return w

    def _step(self, task, n, bend, anchor_noise, relative_noise, inner):
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
