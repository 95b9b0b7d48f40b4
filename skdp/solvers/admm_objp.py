"""ADMM with objective perturbation in every round, a baseline.

Wang and Zhang (2019), "Differential privacy for sparse classification learning"; Chen and Lee (2020), "Rényi
differentially private ADMM for non-smooth regularized optimization", section 5.2, compare with it.

Privacy: each round's x is one release of objective perturbation whose strong convexity is the
splitting's own rho; z and the dual are functions of released values. All rounds are composed by the
theorem for rounds on the same records (docs/proofs/objective_perturbation.md). Not adaptive.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..mechanisms import PerturbedObjective, Public
from ..penalties import NoPenalty, ScaledPenalty
from ._one_shot import TYPICAL, chosen_clip, leverage_for, noise_norm, strength_for
from ._ranges import clip_bound, count, positive
from ._solver import Array, Asked, Budget, OracleLike, Solver, Task

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
        what privacy needs in each round, or more where the noise or the penalty asks for it.
    clip : float or None
        As in `ObjectivePerturbation`.
    radius : float
        How far the solution may lie, for the default strength.
    """

    name: ClassVar[str] = "admm-objp"
    needs: ClassVar[frozenset[str]] = frozenset({"smooth_loss"})

    rounds: int = count(5)
    strength: float | None = positive(None)
    clip: float | None = clip_bound(None, unbounded=True)
    radius: float = positive(16.0)

    def asks(self, public: Public, task: Task, budget: Budget) -> Asked:
        """Yield one perturbed objective for each round."""
        clip, strength = self._constants(public, task, budget)
        start = np.zeros(task.shape)
        task.penalty.prox(
            start, 1.0 / strength
        )  # a strength that a penalty refuses is refused here
        yield self._round(task, budget, clip, strength, start), self.rounds

    def _constants(self, public: Public, task: Task, budget: Budget) -> tuple[float | None, float]:
        """Clip and strength."""
        clip = chosen_clip(self.clip, task, public, budget)
        return clip, self.strength or self._strength(public, task, budget, clip)

    def solve(self, oracle: OracleLike, task: Task, budget: Budget) -> Array:
        """Return z, which has the penalty's zeros."""
        clip, strength = self._constants(oracle.public, task, budget)
        z, dual = np.zeros(task.shape), np.zeros(task.shape)
        for _ in range(self.rounds):
            x = oracle.ask(self._round(task, budget, clip, strength, z - dual))
            z = task.penalty.prox(x + dual, 1.0 / strength)
            dual = dual + x - z
        return z

    def _round(
        self,
        task: Task,
        budget: Budget,
        clip: float | None,
        strength: float,
        center: Array | None = None,
    ) -> PerturbedObjective:
        return PerturbedObjective(
            loss=task.loss,
            penalty=_without_penalty(task).penalty,
            shape=task.shape,
            multiplier=budget.noise,
            strength=strength,
            clip=clip,
            pure=budget.delta == 0,
            center=center,
        )

    def _strength(self, public: Public, task: Task, budget: Budget, clip: float | None) -> float:
        """Return the strength as in `ObjectivePerturbation`, for one round's share of the Jacobian.

        It is no less than the splitting needs.
        """
        bound = self._round(task, budget, clip, 0.0).bound(public)
        tilt = budget.noise * bound * noise_norm(task.size, budget.delta == 0)
        free = _without_penalty(task)
        leverage = leverage_for(free, public, budget, clip, tilt, self.radius) / self.rounds
        private = max(strength_for(leverage, 0.0, public.intercept), tilt / self.radius)
        return max(private, _splitting_strength(task, public))


def _without_penalty(task: Task) -> Task:
    """The half of the task that sees records."""
    penalty = task.penalty
    return replace(task, penalty=ScaledPenalty(NoPenalty(), penalty.scale, penalty.intercept))


def _splitting_strength(task: Task, public: Public) -> float:
    """Strength with which a few rounds come to an end.

    Below, the prox throws away what the loss's half has found: at strength m beside a ridge of weight m each round
    halves the error, whatever the records are (Giselsson and Boyd 2017, "Linear convergence and metric selection for
    Douglas-Rachford splitting and ADMM"). Another penalty counts as the ridge that costs as much at coefficients of 1,
    and SCAD and MCP have their prox at twice their curvature. A constraint has no weight: its ridge is the loss's own
    curvature, shared by all coordinates.
    """
    if task.penalty.penalty.bounded:
        curvature = task.curvature * public.row_bound**2
        return (public.n or TYPICAL) * curvature / task.size
    ones = np.ones(task.shape)
    penalised = ones[:-1].size if task.penalty.intercept else ones.size
    return max(2.0 * task.penalty.value(ones) / penalised, 2.0 / task.penalty.largest_step)
