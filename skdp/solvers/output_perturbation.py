"""Output perturbation: the certified minimiser plus noise (Chaudhuri et al. 2011).

Privacy: one Gaussian release (pure epsilon if delta = 0) with the sensitivity of the minimiser of
a strongly convex sum (docs/proofs/output_perturbation.md). Not adaptive. A reference: objective
perturbation is more accurate at equal cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..mechanisms import NoisyMinimiser, Public
from ._one_shot import FLOOR, RADIUS, UNPROMISED, chosen_clip, whole_ridge
from ._ranges import clip_bound, positive
from ._solver import (
    COUNT_SHARE,
    Array,
    Asked,
    Budget,
    OracleLike,
    Solver,
    Task,
    count_asked,
    record_count,
)

__all__ = ["OutputPerturbation"]


@dataclass(frozen=True)
class OutputPerturbation(Solver):
    """Minimise exactly, then add noise.

    Parameters
    ----------
    strength : float or None
        Weight of half the squared norm of all coordinates; None: where the error from noise and
        the error from shrinking a solution of norm ``radius`` balance. At least the user's L2.
    clip : float or None
        As in `ObjectivePerturbation`.
    radius : float
        How far the solution may lie.
    """

    name: ClassVar[str] = "output-perturbation"
    needs: ClassVar[frozenset[str]] = frozenset({"smooth_loss", "convex_penalty"})

    strength: float | None = positive(None)
    clip: float | None = clip_bound(None, unbounded=True)
    radius: float = positive(RADIUS)

    def asks(self, public: Public, task: Task, budget: Budget) -> Asked:
        """A count where n is private and decides the strength, and one minimiser."""
        if self._counts(public, budget):
            yield from count_asked(public, budget)
        yield self._question(public, task, budget, public.n or 1.0), 1

    def solve(self, oracle: OracleLike, task: Task, budget: Budget) -> Array:
        """Return the noisy minimiser."""
        n = 1.0  # which decides nothing
        if self._counts(oracle.public, budget) or oracle.public.n is not None:
            n = record_count(oracle, budget)
        return oracle.ask(self._question(oracle.public, task, budget, n))

    def _counts(self, public: Public, budget: Budget) -> bool:
        return public.n is None and self.strength is None and budget.delta > 0

    def _question(self, public: Public, task: Task, budget: Budget, n: float) -> NoisyMinimiser:
        pure, counts = budget.delta == 0, self._counts(public, budget)
        ridge, rest = whole_ridge(task.penalty)
        clip = chosen_clip(self.clip, task, public, budget)
        strength = self.strength
        if strength is None:
            about = 1e4 if pure and public.n is None else n
            strength = max(self._balanced(about, task, public, budget, clip), ridge)
        return NoisyMinimiser(
            loss=task.loss,
            penalty=rest,
            shape=task.shape,
            multiplier=budget.noise / math.sqrt(1.0 - COUNT_SHARE if counts else 1.0),
            strength=strength,
            clip=clip,
            pure=pure,
        )

    def _balanced(
        self, n: float, task: Task, public: Public, budget: Budget, clip: float | None
    ) -> float:
        """Strength lam that minimises sd^2 (n beta + lam d)/2 + lam radius^2/2, sd = noise 2 L/lam."""
        if budget.noise == 0:
            return UNPROMISED
        bound = min(clip or math.inf, (task.loss.slope or math.inf) * public.row_bound)
        beta = task.curvature * public.row_bound**2
        size = task.size
        spread = (budget.noise * public.sensitivity_factor * bound) ** 2 * (
            size + 1 if budget.delta == 0 else 1
        )
        lam = np.geomspace(FLOOR, 1e2 * n, 400)
        error = spread / lam**2 * (n * beta + lam * size) / 2 + lam * self.radius**2 / 2
        return float(lam[np.argmin(error)])
