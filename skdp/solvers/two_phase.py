"""Least squares in two phases: noisy moments for coordinates and a first fit, then a tilted Huber objective.

Privacy: post-processing of one release of joint moments, one randomly perturbed objective in coordinates that follow
from them (docs/proofs/mapped.md, slopes of either sign), and of one noisy count where n is private and no column is
constant. Coordinates, centre and clip follow from answers, prices do not: the objective's profile is composed with a
Gaussian.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.special import ndtr

from ..losses import Huber, Squared
from ..mechanisms import Coordinates, JointMoments, PerturbedObjective, Public
from ..penalties import NoPenalty, ScaledPenalty
from ._least_squares import FirstFit, Noises, cleaned, first_fit, shrunk
from ._ranges import positive, share_of_budget
from ._solver import Array, Asked, Budget, OracleLike, Solver, Task, count_asked, record_count
from ._whitening import Whitened, diagonalising, refuse_other_penalties, stand_in

__all__ = ["TwoPhase"]

_FLOOR = 1e-5  # of the largest possible eigenvalue: shorter directions are not stretched further
_LEAST_STRENGTH = 0.1  # what the centre is pulled to with, where epsilon would need less
_STEEPEST = (
    5e10  # a penalty's curvature, in strengths, beyond which its directions are as good as gone
)
_MOST = 1e6  # the same, in coordinates
_LEAST_CLIP, _FURTHEST = 0.02, 100.0  # of residuals, and of the first fit in coordinates
_LEAST_LENGTH = 0.02  # of the squared length of a row in coordinates, per direction
# Residuals are clipped at so many deviations at this noise level and above.
_CLIPPED, _LOUD = 0.7, 0.01
_QUIET = 1e-3  # an eighth of this noise level, below which rows are shrunk less and less


@dataclass(frozen=True)
class TwoPhase(Solver):
    """Least squares, or Huber's, of residuals of the fit that noisy moments give, in coordinates that these whiten.

    Residuals are clipped at less than one of their deviations where noise is high: what that costs in bias, symmetric
    errors do not show, and noise falls with the clip. Clip and shrinkage vanish with the noise.

    Parameters
    ----------
    moment_share : float
        Share of the budget for the joint moments.
    jacobian_share : float
        Share of epsilon that pays for how far one record bends the objective.
    threshold : float or None
        Residual, in standard deviations, from which the loss is a straight line; None: by the noise level. A Huber loss
        brings its own.
    """

    name: ClassVar[str] = "two-phase"
    needs: ClassVar[frozenset[str]] = frozenset({"least_squares"})

    moment_share: float = share_of_budget(0.3)
    jacobian_share: float = share_of_budget(0.1)
    threshold: float | None = positive(None)

    def asks(self, public: Public, task: Task, budget: Budget) -> Asked:
        """A count where it is private and not among the moments, the moments, and the objective."""
        refuse_other_penalties(self, task)
        white = stand_in(public)
        if not public.intercept:
            yield from count_asked(public, budget)
        yield self._moments(public, budget), 1
        clip = min(_LEAST_CLIP, task.loss.delta) if isinstance(task.loss, Huber) else _LEAST_CLIP
        yield white.question(self._objective(white.public, budget, clip)), 1

    def _moments(self, public: Public, budget: Budget) -> JointMoments:
        free = JointMoments(multiplier=0.0)
        per_move = budget.noise / (public.sensitivity_factor * math.sqrt(self.moment_share))
        return JointMoments(multiplier=per_move * free.sensitivity(public) / free.bound(public))

    def _objective(
        self, seen: Public, budget: Budget, clip: float, center: Array | None = None
    ) -> PerturbedObjective:
        """The question in new coordinates: noise and strength are counted in clips, so that none changes the price.

        As stated it is the one that is hardest to certify, so that none is refused once moments have been paid.
        """
        if center is None:
            center = np.full(seen.width, _FURTHEST / math.sqrt(seen.width))
        for_jacobian = self.jacobian_share * budget.epsilon
        needed = 1.0 / math.expm1(for_jacobian) if for_jacobian < 100.0 else 0.0
        return PerturbedObjective(
            loss=Huber(clip),
            penalty=ScaledPenalty(NoPenalty(), 1.0, False),
            shape=(seen.width,),
            multiplier=budget.noise / math.sqrt(1.0 - self.moment_share),
            strength=max(needed, _LEAST_STRENGTH),
            center=center,
        )

    def solve(self, oracle: OracleLike, task: Task, budget: Budget) -> Array:
        """Return coefficients of the given rows."""
        seen = self._first(oracle, task, budget)
        white = _whitened(seen, task, oracle.public)
        clip, deviation = self._clip(seen, task, oracle.public), math.sqrt(seen.fit.residual)
        counted = float(2.0 * ndtr(clip / deviation) - 1.0)  # share of records with a curved loss
        start = _no_further(np.linalg.solve(white.matrix.T, seen.fit.w))
        question = self._objective(white.public, budget, clip, start)
        # Of a squared loss, so much of the user's penalty as records count beside it.
        ridge = white.ridge(task.penalty) * (counted if isinstance(task.loss, Squared) else 1.0)
        question = replace(question, ridge=np.minimum(ridge, _STEEPEST * question.strength))
        found = oracle.ask(white.question(question)) - start
        curvature = seen.n * counted / task.size * (white.typical / white.scale) ** 2
        found = found * (1.0 + question.strength / (curvature + question.ridge))  # without its pull
        noise = (question.multiplier * clip / curvature) ** 2
        return seen.fit.w + white.back(shrunk(found, noise, seen.fit.residual))

    def _clip(self, seen: _Seen, task: Task, public: Public) -> float:
        """Residual from which the loss is a straight line: larger where there is less noise, and none without."""
        if isinstance(task.loss, Huber):
            return task.loss.delta
        deviations = self.threshold
        if deviations is None:
            quieter = (_LOUD / seen.level) ** (1 / 3) if seen.level > 0 else math.inf
            deviations = _CLIPPED * max(quieter, 1.0)
        furthest = 2.0 + 2.0 * public.row_bound * float(np.linalg.norm(seen.fit.w))
        return min(max(deviations * math.sqrt(seen.fit.residual), _LEAST_CLIP), furthest)

    def _first(self, oracle: OracleLike, task: Task, budget: Budget) -> _Seen:
        """Buy moments, and what follows of them."""
        public, question = oracle.public, self._moments(oracle.public, budget)
        n = None if public.intercept else record_count(oracle, budget)
        moments = oracle.ask(question)
        if n is None:  # where it is private, the constant column's own moment tells it
            n = float(public.n or max(1.0, moments[-2, -2] / public.intercept**2))
        deviation, product, _ = question.noises(public)
        moments[:-1, :-1] = cleaned(moments[:-1, :-1], deviation)
        ridge = np.full(task.size, task.penalty.convexity_of_coefficients)
        if task.penalty.intercept:
            ridge[-1] = 0.0
        fit = first_fit(moments, Noises(deviation, product), n, ridge, bool(public.intercept))
        level = budget.noise * math.sqrt(task.size) / n
        return _Seen(moments[:-1, :-1], fit, n, level)


def _no_further(start: Array) -> Array:
    """The same direction, and no longer than what the price was found for."""
    return np.asarray(start * min(1.0, _FURTHEST / max(float(np.linalg.norm(start)), _FURTHEST)))


@dataclass(frozen=True)
class _Seen:
    """What the first phase found.

    Parameters
    ----------
    moment : ndarray of shape (d, d)
        Of rows, cleaned.
    fit : FirstFit
        Coefficients.
    n : float
        Number of records.
    level : float
        Norm of the noise of a mean gradient of clip 1 that would take the whole budget.
    """

    moment: Array
    fit: FirstFit
    n: float
    level: float


class _Scaled(Whitened):
    """Whitened rows, and how long they typically are before they are brought to 1."""

    typical: float


def _whitened(seen: _Seen, task: Task, public: Public) -> _Scaled:
    """Coordinates in which rows are alike in all directions, and about as long as 1, or all within 1 without noise."""
    size, mean = task.size, seen.moment / seen.n
    floor = _FLOOR * public.row_bound**2
    penalised = np.eye(size)
    if task.penalty.intercept:
        penalised[-1, -1] = 0.0
    own = max(task.penalty.convexity_of_coefficients, 0.0) / seen.n
    whole = mean + floor * np.eye(size) + min(own, _MOST) * penalised
    matrix, stretch = diagonalising(whole, penalised, floor)
    typical = math.sqrt(max(float(np.sum((matrix @ mean) * matrix)), _LEAST_LENGTH * size))
    longer = max(1.0, 0.5 * (_QUIET / seen.level) ** (1 / 3)) if seen.level > 0 else math.inf
    scale = max(min(typical * longer, public.row_bound * stretch), typical)
    white = _Scaled(Coordinates(matrix), scale, public)
    white.typical = typical
    return white
