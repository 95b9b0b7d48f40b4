"""Output perturbation: the certified minimiser plus noise (Chaudhuri et al. 2011).

Privacy: one Gaussian release (pure epsilon if delta = 0) with the sensitivity of the minimiser of
a strongly convex sum (docs/proofs/output_perturbation.md). Not adaptive. A reference: objective
perturbation is more accurate at equal cost.

OutPert-GD: full gradient descent whose last iterate alone is released.

Zhang, Zheng, Mou and Wang (2017), "Efficient private ERM for smooth objectives", algorithm 1.

Privacy: one Gaussian release (pure epsilon if delta = 0) with the sensitivity of the whole descent
(docs/proofs/hidden_descent.md): 2 L T eta/n for convex losses, a contraction for strongly convex
ones. Not adaptive; replace-one only. The paper's constants (3 and 5 for the sensitivity, and noise
that is too small for epsilon above 8) are ``variant="paper"``, priced for what they cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..mechanisms import HiddenDescent, NoisyMinimiser, Public, Schedule
from ._one_shot import (
    FLOOR,
    RADIUS,
    UNPROMISED,
    OneQuestion,
    chosen_clip,
    noise_norm,
    replaced_records,
    total_step,
    whole_ridge,
)
from ._ranges import clip_bound, count, nonnegative, one_of, positive
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

__all__ = ["OutPertGD", "OutputPerturbation"]


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


@dataclass(frozen=True)
class OutPertGD(OneQuestion):
    """Gradient descent from zero with a constant step, then noise.

    Parameters
    ----------
    steps : int or None
        Number of steps; None: where the errors from stopping and from noise balance, up to 2000.
    step_size : float or None
        Step on the mean objective; None: the inverse of its curvature.
    convexity : float or None
        Weight of half the squared norm of all coordinates on the MEAN objective; None: the user's
        L2, divided by n.
    clip : float or None
        As in `ObjectivePerturbation`; the paper's variant never clips.
    radius : float
        How far the solution may lie, for the default number of steps.
    variant : {"tight", "paper"}
        Noise calibrated to the exact sensitivity, or the paper's formulas.
    """

    name: ClassVar[str] = "outpert-gd"
    needs: ClassVar[frozenset[str]] = frozenset({"smooth_loss", "convex_penalty"})

    steps: int | None = count(None)
    step_size: float | None = positive(None)
    convexity: float | None = nonnegative(None)
    clip: float | None = clip_bound(None, unbounded=True)
    radius: float = positive(RADIUS)
    variant: str = one_of("tight", "paper")

    def _question(self, public: Public, task: Task, budget: Budget) -> HiddenDescent:
        n = replaced_records(self, public)
        ridge, rest = whole_ridge(task.penalty)
        convexity = ridge / n if self.convexity is None else self.convexity
        clip = None if self.variant == "paper" else chosen_clip(self.clip, task, public, budget)
        curvature = task.curvature * public.row_bound**2
        step = self.step_size or 1.0 / (curvature + convexity)
        slope = min(clip or math.inf, (task.loss.slope or math.inf) * public.row_bound)
        steps = self.steps or self._steps(n, curvature, slope, task, budget, step)
        question = HiddenDescent(
            loss=task.loss,
            penalty=rest,
            shape=task.shape,
            schedule=Schedule.constant(step, steps, (n,)),
            convexity=convexity,
            multiplier=budget.noise,
            clip=clip,
            pure=budget.delta == 0,
        )
        if self.variant == "paper":
            question = _as_published(question, slope, curvature, budget, public)
        return question

    def _steps(
        self, n: int, curvature: float, slope: float, task: Task, budget: Budget, step: float
    ) -> int:
        multiplier = budget.noise
        if self.variant == "paper":
            multiplier = 1.5 * _published_multiplier(budget)
        noise = multiplier * noise_norm(task.size, budget.delta == 0) / math.sqrt(task.size)
        best = total_step(n, curvature, slope, noise, self.radius) / step
        return int(min(max(round(best) if math.isfinite(best) else 2000, 1), 2000))


def _published_multiplier(budget: Budget) -> float:
    """Noise over the claimed sensitivity, for any epsilon."""
    factor = 1.0 if budget.delta == 0 else math.sqrt(2 * math.log(2 / budget.delta))
    return factor / budget.epsilon


def _as_published(
    question: HiddenDescent, slope: float, curvature: float, budget: Budget, public: Public
) -> HiddenDescent:
    """The paper's noise, expressed over the true sensitivity so that it is priced for what it is."""
    n, convexity = sum(question.schedule.sizes), question.convexity
    claimed = 3 * slope * float(question.schedule.steps.sum()) / n
    if convexity > 0:
        claimed = min(claimed, 5 * slope * (convexity + curvature) / (n * convexity * curvature))
    scale = claimed * _published_multiplier(budget)
    return replace(question, multiplier=scale / float(question.reach(public).max()))
