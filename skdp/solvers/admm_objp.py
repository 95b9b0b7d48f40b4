"""ADMM with objective perturbation in every round, a baseline (Wang and Zhang 2019; S4 5.2).

Privacy: each round's x is one release of objective perturbation whose strong convexity is the
splitting's own rho; z and the dual are functions of released values. All rounds are composed by the
theorem for rounds on the same records (docs/proofs/objective_perturbation.md). Not adaptive.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..mechanisms import PerturbedObjective
from ..penalties import NoPenalty, ScaledPenalty
from ._one_shot import chosen_clip, leverage_for, noise_norm, strength_for
from ._solver import Solver

__all__ = ["ADMMObjP"]


@dataclass(frozen=True)
class ADMMObjP(Solver):
    """Split loss and penalty, and perturb the loss's minimisation in each round.

    Parameters
    ----------
    rounds : int
        Rounds of the splitting.
    strength : float or None
        Weight of half the squared distance between both variables, on the scale of the sum; None:
        what privacy needs in each round, or more where the noise asks for it.
    clip : float or None
        As in `ObjectivePerturbation`.
    radius : float
        How far the solution may lie, for the default strength.
    """

    name: ClassVar[str] = "admm-objp"
    needs: ClassVar[frozenset] = frozenset({"smooth_loss"})

    rounds: int = 5
    strength: float | None = None
    clip: float | None = None
    radius: float = 16.0

    def solve(self, oracle, task, budget):
        """Return z, which has the penalty's zeros."""
        public = oracle.public
        clip = chosen_clip(self.clip, task, public, budget)
        strength = self.strength or self._strength(public, task, budget, clip)
        z, dual = np.zeros(task.shape), np.zeros(task.shape)
        for _ in range(self.rounds):
            x = oracle.ask(self._round(task, budget, clip, strength, z - dual))
            z = task.penalty.prox(x + dual, 1.0 / strength)
            dual = dual + x - z
        return z

    def _round(self, task, budget, clip, strength, center=None):
        return PerturbedObjective(
            loss=task.loss,
            penalty=ScaledPenalty(NoPenalty(), task.penalty.scale, task.penalty.intercept),
            shape=task.shape,
            multiplier=budget.noise,
            strength=strength,
            clip=clip,
            pure=budget.delta == 0,
            center=center,
        )

    def _strength(self, public, task, budget, clip):
        """As in `ObjectivePerturbation`, with the Jacobian's share of epsilon divided by the rounds."""
        bound = self._round(task, budget, clip, 0.0).bound(public)
        tilt = budget.noise * bound * noise_norm(task.size, budget.delta == 0)
        leverage = leverage_for(task, public, budget, clip, tilt, self.radius) / self.rounds
        return max(strength_for(leverage, 0.0, public.intercept), tilt / self.radius)
