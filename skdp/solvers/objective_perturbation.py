"""Objective perturbation with tight constants (Chaudhuri, Monteleoni and Sarwate 2011, and later).

Privacy: one release, the minimiser of the user's objective with a random linear term and enough
convexity (docs/proofs/objective_perturbation.md). Not adaptive; the noise is calibrated to it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from ..exceptions import NotSupported
from ..mechanisms import PerturbedObjective, Public
from ._one_shot import (
    BENT,
    TYPICAL,
    chosen_clip,
    leverage_for,
    noise_norm,
    sparsified,
    strength_for,
    whole_ridge,
)
from ._ranges import clip_bound, one_of, positive
from ._solver import Array, Asked, Budget, OracleLike, Solver, Task

__all__ = ["ObjectivePerturbation", "tight"]

_CURVED = 0.005  # of the loss's curvature times the records: what short directions of rows may have


@dataclass(frozen=True)
class ObjectivePerturbation(Solver):
    """Minimise a randomly perturbed objective once; ``delta=0`` gives pure epsilon.

    Parameters
    ----------
    clip : float or None
        Bound on the norm of one record's gradient, rows having norm at most 1; None: by the noise
        level, ``inf``: the loss's own bound.
    strength : float or None
        Weight of half the squared norm of all coordinates, beside the user's penalty; None: what
        privacy needs, or more where the noise asks for it. The user's own L2 counts.
    radius : float
        How far the solution may lie, for the default strength.
    variant : {"tight", "cms11", "kst12"}
        Noise and strength of Chaudhuri et al. 2011 (pure) or Kifer et al. 2012 for comparison,
        with the replace-one sensitivity where that is the relation; priced by our theorems, so
        the receipt shows what they really cost.
    """

    name: ClassVar[str] = "objective-perturbation"
    needs: ClassVar[frozenset[str]] = frozenset({"smooth_loss", "convex_penalty"})

    clip: float | None = clip_bound(None, unbounded=True)
    strength: float | None = positive(None)
    radius: float = positive(16.0)
    variant: str = one_of("tight", "cms11", "kst12")

    def asks(self, public: Public, task: Task, budget: Budget) -> Asked:
        """Yield the single perturbed objective."""
        yield self._question(public, task, budget), 1

    def _question(self, public: Public, task: Task, budget: Budget) -> PerturbedObjective:
        make = self._tight if self.variant == "tight" else self._published
        return make(public, task, budget)

    def solve(self, oracle: OracleLike, task: Task, budget: Budget) -> Array:
        """Return the noisy minimiser."""
        question = self._question(oracle.public, task, budget)
        w = oracle.ask(question)
        return sparsified(w, task.penalty, question.output_noise(oracle.public))

    def _tight(self, public: Public, task: Task, budget: Budget) -> PerturbedObjective:
        clip = chosen_clip(self.clip, task, public, budget)
        return tight(public, task, budget, clip, self.strength, self.radius)

    def _published(self, public: Public, task: Task, budget: Budget) -> PerturbedObjective:
        ridge, rest = whole_ridge(task.penalty, published=True)
        pure = self.variant == "cms11"
        if pure != (budget.delta == 0):
            raise NotSupported(
                f"variant={self.variant!r} needs {'delta=0' if pure else 'a positive delta'}, got "
                f"delta={budget.delta!r}; use variant='tight', which covers both."
            )
        beta = task.curvature * public.row_bound**2
        rule = _cms11 if pure else _kst12
        multiplier, strength = rule(budget, beta, ridge, public.sensitivity_factor)
        clip = None if self.clip is None or math.isinf(self.clip) else self.clip
        return PerturbedObjective(
            loss=task.loss,
            penalty=rest,
            shape=task.shape,
            multiplier=multiplier,
            strength=strength,
            clip=clip,
            pure=pure,
        )


def tight(
    public: Public,
    task: Task,
    budget: Budget,
    clip: float | None,
    strength: float | None,
    radius: float,
    shorter: float = 1.0,
) -> PerturbedObjective:
    """The question with the least convexity that privacy needs, or more where the noise asks for it.

    Rows are so many times shorter than 1 for the most part.
    """
    if strength is None:
        added = max(task.penalty.convexity_of_coefficients, 0.0)
        bound = _draft(task, clip).bound(public)
        tilt = budget.noise * bound * noise_norm(task.size, budget.delta == 0)
        leverage = leverage_for(task, public, budget, clip, tilt, radius)
        needed = strength_for(leverage, added, public.intercept)
        found = _draft(
            task,
            clip,
            multiplier=budget.noise,
            strength=max(needed, tilt / radius - added),
            pure=budget.delta == 0,
        )
        return _calmer(found, public, radius, shorter)
    return _draft(task, clip, multiplier=budget.noise, strength=strength, pure=budget.delta == 0)


def _calmer(
    question: PerturbedObjective, public: Public, radius: float, shorter: float
) -> PerturbedObjective:
    """The question, or one of more strength where what it leaves uncertified needs more noise than that pulls.

    The noise on the minimiser grows as the strength falls, by its power of -3/2, and is all that is left at large
    epsilon where the loss bends sharply. A strength pulls a solution by itself over the objective's curvature.
    `leverage_for` has weighed what both do to the objective, at the radius; this weighs distances.
    """
    bend = float(question.loss.curvature or 0.0)
    if bend <= 1.0:
        return question
    curvature = _CURVED * min(bend, BENT) / shorter
    for _ in range(3):
        pull = question.strength * radius / ((public.n or TYPICAL) * curvature)
        noise = question.output_noise(public) * noise_norm(math.prod(question.shape), question.pure)
        if noise <= pull:
            break
        question = replace(question, strength=question.strength * (noise / pull) ** 0.4)
    return question


def _draft(
    task: Task,
    clip: float | None,
    multiplier: float = 0.0,
    strength: float = 0.0,
    pure: bool = False,
) -> PerturbedObjective:
    return PerturbedObjective(
        loss=task.loss,
        penalty=task.penalty,
        shape=task.shape,
        multiplier=multiplier,
        strength=strength,
        clip=clip,
        pure=pure,
    )


def _cms11(
    budget: Budget, beta: float, ridge: float, sensitivity_factor: float
) -> tuple[float, float]:
    """Algorithm 2 of Chaudhuri et al.: twice the log of the Jacobian, a quarter if that is all.

    A fiftieth of epsilon is kept for the noise on the minimiser, which the paper takes as exact.
    """
    epsilon = budget.epsilon / (1.0 + 0.02)
    if math.isinf(epsilon):
        return 0.0, max(ridge, 1e-6)
    left = epsilon - 2.0 * math.log1p(beta / ridge) if ridge > 0 else -1.0
    if left <= 0:
        left, ridge = epsilon / 2.0, beta / math.expm1(epsilon / 4.0)
    return sensitivity_factor / left, ridge


def _kst12(
    budget: Budget, beta: float, ridge: float, sensitivity_factor: float
) -> tuple[float, float]:
    """Gaussian noise of Kifer et al.; their sensitivity L is for adding a record."""
    epsilon, delta = budget.epsilon, budget.delta
    if math.isinf(epsilon):
        return 0.0, max(ridge, 1e-6)
    multiplier = (
        sensitivity_factor * math.sqrt(8.0 * math.log(2.0 / delta) + 4.0 * epsilon) / epsilon
    )
    return multiplier, max(2.0 * beta / epsilon, ridge)
