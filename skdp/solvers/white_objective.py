"""Objective perturbation after private whitening.

Privacy: post-processing of one noisy second moment, one noisy sum of row norms, one randomly perturbed objective in
the coordinates that they give (docs/proofs/mapped.md), and of one noisy count where n is private. Coordinates and clip
follow from answers, prices do not: the objective's profile is composed with Gaussians.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, cast

import numpy as np

from ..mechanisms import PerturbedObjective, Public
from ..mechanisms._mechanism import Mechanism
from ..penalties import NoPenalty, ScaledPenalty
from ._blurred import Unshrunk, unshrunk
from ._elliptical import bend_of
from ._one_shot import chosen_clip
from ._ranges import clip_bound, positive, share_of_budget
from ._solver import Array, Asked, Budget, OracleLike, Solver, Task, count_asked, record_count
from ._spread import HEARD, Heard, Seen, expected, over_directions, typical_bend
from ._whitening import (
    buy_whitening,
    opening,
    refuse_other_penalties,
    share_left,
    stand_in,
    whitening_asked,
    wholeness,
)
from .objective_perturbation import tight

__all__ = ["WhiteObjective"]

_STEEPEST = (
    5e10  # a penalty's curvature, in strengths, beyond which its directions are as good as gone
)


@dataclass(frozen=True)
class WhiteObjective(Solver):
    """Minimise a randomly perturbed objective of rows whose second moment is about the same in all directions.

    Parameters
    ----------
    moment_share, norm_share : float
        Shares of the budget for the second moment and for the typical norm of a whitened row.
    clip : float or None
        Bound on the norm of one record's gradient, whitened rows having norm at most 1; None: by the noise level.
    strength : float or None
        Weight of half the squared norm of the whitened parameters; None: what privacy needs, or more where the noise
        asks for it.
    radius : float
        How far the solution may lie, for the default strength.
    """

    name: ClassVar[str] = "white-objective"
    needs: ClassVar[frozenset[str]] = frozenset({"smooth_loss"})
    tells: ClassVar[tuple[type[Mechanism], ...]] = HEARD

    moment_share: float = share_of_budget(0.1)
    norm_share: float = share_of_budget(0.02)
    clip: float | None = clip_bound(None, unbounded=True)
    strength: float | None = positive(None)
    radius: float = positive(10.0)

    def asks(self, public: Public, task: Task, budget: Budget) -> Asked:
        """A count where n is private, the coordinates, and the objective in them."""
        refuse_other_penalties(self, task)
        white = stand_in(public)
        yield from count_asked(public, budget)
        yield from whitening_asked(self, public, budget)
        yield white.question(self._objective(white.public, task, budget)), 1

    def _objective(self, public: Public, task: Task, budget: Budget) -> PerturbedObjective:
        """The question in new coordinates. Clip and strength set the price: they may depend on no answer."""
        widest = opening(public, budget)
        budget = replace(budget, noise=budget.noise / math.sqrt(share_left(self)))
        free = Task(task.loss, ScaledPenalty(NoPenalty(), 1.0, False), task.shape)
        clip = chosen_clip(self.clip, free, public, budget)
        return tight(public, free, budget, clip, self.strength, self.radius * widest, widest)

    def solve(self, oracle: OracleLike, task: Task, budget: Budget) -> Array:
        """Return the noisy minimiser, in the given coordinates."""
        white = buy_whitening(self, oracle, task, record_count(oracle, budget), budget)
        question = self._objective(stand_in(oracle.public).public, task, budget)  # as it was priced
        ridge = white.ridge(task.penalty)
        if (
            budget.private
        ):  # a refusal of what no double certifies would depend on bought coordinates
            ridge = np.minimum(ridge, _STEEPEST * question.strength)
        question = replace(question, ridge=ridge)
        return white.back(oracle.ask(white.question(question)))

    def nominal_error(
        self, public: Public, task: Task, budget: Budget, base_rate: float = 0.5
    ) -> float | None:
        """Return the error by the curvature that a nominal table would have."""
        if not expected(task, public) or public.n is None:
            return None
        white = stand_in(public, wholeness(task, public, budget))
        widest = opening(public, budget)
        asked = white.question(self._objective(white.public, task, budget))
        question = cast(PerturbedObjective, asked.question)
        own = task.penalty.convexity_of_coefficients / widest**2
        ridge = (question.strength + own) / public.n
        bend = typical_bend(asked, public.width, widest, base_rate, ridge)
        whole = public.n * (bend + ridge)
        deviation = question.multiplier * question.bound(white.public) / widest
        return over_directions((deviation / whole) ** 2, public.width)

    def spread(
        self, heard: Heard, w: Array, public: Public, task: Task, budget: Budget
    ) -> Array | None:
        """The inverse curvature, on either side of the linear term's covariance."""
        if not expected(task, public):
            return None
        seen = Seen.of(heard, public)
        question = cast(PerturbedObjective, seen.asked.question)
        whole = seen.n * bend_of(seen, w, public) + np.diag(question.strength + question.ridge)
        deviation = question.multiplier * question.bound(seen.asked.coordinates.seen(public))
        moved = deviation * np.linalg.solve(whole, seen.matrix)
        return np.asarray(moved.T @ moved)

    def unshrunk(
        self, heard: Heard, w: Array, public: Public, task: Task, budget: Budget
    ) -> Unshrunk | None:
        """Return the estimate without a penalty, where no slope is clipped: of the model's own losses."""
        if not expected(task, public):
            return None
        seen = Seen.of(heard, public, released=True)
        question = cast(PerturbedObjective, seen.asked.question)
        if question.clip is not None:
            return None
        deviation = question.multiplier * question.bound(seen.asked.coordinates.seen(public))
        return unshrunk(seen, w, public, question.strength + question.ridge, deviation)
