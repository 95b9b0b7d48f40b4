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

from ..mechanisms import NoisyMinimiser
from ._one_shot import FLOOR, RADIUS, UNPROMISED, chosen_clip, whole_ridge
from ._solver import Solver, record_count

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
    needs: ClassVar[frozenset] = frozenset({"smooth_loss", "convex_penalty"})

    strength: float | None = None
    clip: float | None = None
    radius: float = RADIUS

    def solve(self, oracle, task, budget):
        """Return the noisy minimiser."""
        public, pure = oracle.public, budget.delta == 0
        count_share = 0.01 if public.n is None and self.strength is None and not pure else 0.0
        ridge, rest = whole_ridge(task.penalty)
        clip = chosen_clip(self.clip, task, public, budget)
        strength = self.strength
        if strength is None:
            n = 1e4 if pure and public.n is None else record_count(oracle, budget, 0.01)
            strength = max(self._balanced(n, task, public, budget, clip), ridge)
        return oracle.ask(
            NoisyMinimiser(
                loss=task.loss,
                penalty=rest,
                shape=task.shape,
                multiplier=budget.noise / math.sqrt(1.0 - count_share),
                strength=strength,
                clip=clip,
                pure=pure,
            )
        )

    def _balanced(self, n, task, public, budget, clip):
        """Strength lam that minimises sd^2 (n beta + lam d)/2 + lam radius^2/2, sd = noise 2 L/lam."""
        if budget.noise == 0:
            return UNPROMISED
        bound = min(clip or math.inf, (task.loss.slope or math.inf) * public.row_bound)
        beta = task.loss.curvature * public.row_bound**2
        size = task.size
        spread = (budget.noise * public.sensitivity_factor * bound) ** 2 * (
            size + 1 if budget.delta == 0 else 1
        )
        lam = np.geomspace(FLOOR, 1e2 * n, 400)
        error = spread / lam**2 * (n * beta + lam * size) / 2 + lam * self.radius**2 / 2
        return float(lam[np.argmin(error)])
