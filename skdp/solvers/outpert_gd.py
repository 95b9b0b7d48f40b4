"""OutPert-GD: full gradient descent whose last iterate alone is released (S3 Algorithm 1).

Privacy: one Gaussian release (pure epsilon if delta = 0) with the sensitivity of the whole descent
(docs/proofs/hidden_descent.md): 2 L T eta/n for convex losses, a contraction for strongly convex
ones. Not adaptive; replace-one only. The paper's constants (3 and 5 for the sensitivity, and noise
that is too small for epsilon above 8) are ``variant="paper"``, priced for what they cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from ..exceptions import NotSupported
from ..mechanisms import HiddenDescent, Schedule
from ._one_shot import RADIUS, chosen_clip, noise_norm, total_step, whole_ridge
from ._ranges import clip_bound, count, nonnegative, one_of, positive
from ._solver import Solver

__all__ = ["OutPertGD"]


@dataclass(frozen=True)
class OutPertGD(Solver):
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
    needs: ClassVar[frozenset] = frozenset({"smooth_loss", "convex_penalty"})

    steps: int | None = count(None)
    step_size: float | None = positive(None)
    convexity: float | None = nonnegative(None)
    clip: float | None = clip_bound(None, unbounded=True)
    radius: float = positive(RADIUS)
    variant: str = one_of("tight", "paper")

    def asks(self, public, task, budget):
        """One descent."""
        yield self._question(public, task, budget), 1

    def solve(self, oracle, task, budget):
        """Return the noisy last iterate."""
        return oracle.ask(self._question(oracle.public, task, budget))

    def _question(self, public, task, budget):
        if public.n is None or not public.replace_one:
            raise NotSupported(
                f"solver={self.name!r} is proved for neighbors='replace_one' only; use "
                "'objective-perturbation' under add_remove."
            )
        ridge, rest = whole_ridge(task.penalty)
        convexity = ridge / public.n if self.convexity is None else self.convexity
        clip = None if self.variant == "paper" else chosen_clip(self.clip, task, public, budget)
        curvature = task.loss.curvature * public.row_bound**2
        step = self.step_size or 1.0 / (curvature + convexity)
        slope = min(clip or math.inf, (task.loss.slope or math.inf) * public.row_bound)
        steps = self.steps or self._steps(public.n, curvature, slope, task, budget, step)
        question = HiddenDescent(
            loss=task.loss,
            penalty=rest,
            shape=task.shape,
            schedule=Schedule.constant(step, steps, (public.n,)),
            convexity=convexity,
            multiplier=budget.noise,
            clip=clip,
            pure=budget.delta == 0,
        )
        if self.variant == "paper":
            question = _as_published(question, slope, curvature, budget, public)
        return question

    def _steps(self, n, curvature, slope, task, budget, step):
        multiplier = budget.noise
        if self.variant == "paper":
            multiplier = 1.5 * _published_multiplier(budget)
        noise = multiplier * noise_norm(task.size, budget.delta == 0) / math.sqrt(task.size)
        best = total_step(n, curvature, slope, noise, self.radius) / step
        return int(min(max(round(best) if math.isfinite(best) else 2000, 1), 2000))


def _published_multiplier(budget):
    """Noise over the claimed sensitivity, for any epsilon."""
    factor = 1.0 if budget.delta == 0 else math.sqrt(2 * math.log(2 / budget.delta))
    return factor / budget.epsilon


def _as_published(question, slope, curvature, budget, public):
    """The paper's noise, expressed over the true sensitivity so that it is priced for what it is."""
    n, convexity = public.n, question.convexity
    claimed = 3 * slope * float(question.schedule.steps.sum()) / n
    if convexity > 0:
        claimed = min(claimed, 5 * slope * (convexity + curvature) / (n * convexity * curvature))
    scale = claimed * _published_multiplier(budget)
    return replace(question, multiplier=scale / float(question.reach(public).max()))
