"""Least squares in two phases: noisy moments for coordinates and a first fit, then a tilted Huber objective.

Privacy: post-processing of one release of joint moments, one randomly perturbed objective in coordinates that follow
from them (docs/proofs/mapped.md, slopes of either sign), and of one noisy count where n is private and no column is
constant. Coordinates, centre and clip follow from answers, prices do not: the objective's profile is composed with a
Gaussian.

Zeros in coefficients that are known up to noise: a penalised quadratic, solved to the last digits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.special import ndtr

from ..exceptions import NotSupported
from ..losses import Huber, Squared
from ..mechanisms import Coordinates, JointMoments, PerturbedObjective, Public
from ..penalties import L1, L2, ElasticNet, NonNegative, NoPenalty, ScaledPenalty
from ._least_squares import FirstFit, Noises, cleaned, first_fit, shrunk
from ._ranges import positive, share_of_budget
from ._solver import Array, Asked, Budget, OracleLike, Solver, Task, count_asked, record_count
from ._whitening import Whitened, diagonalising, stand_in

__all__ = ["TwoPhase"]


_SWEEPS = 2000
_BETWEEN = 5  # sweeps after which signs are tried
_ROUNDING = 1e-9  # of a weight, by which a condition may miss


def sparse_solution(
    curvature: Array, center: Array, weights: Array, positive: Array | None = None
) -> Array:
    """Minimiser of ``(w - center)' curvature (w - center) / 2 + sum of weights |w|``.

    Coordinates are minimised over one after the other (Friedman, Hastie and Tibshirani 2010); every few sweeps the
    signs that stand are taken for the final ones, for which a linear system has the answer, and its conditions tell.

    Parameters
    ----------
    curvature : ndarray of shape (d, d)
        Symmetric and positive semidefinite.
    center : ndarray of shape (d,)
        Minimiser of the quadratic alone.
    weights : ndarray of shape (d,)
        0 or more.
    positive : ndarray of bool of shape (d,) or None
        Coordinates that may not be negative.
    """
    target = curvature @ center
    diagonal = np.diagonal(curvature)
    positive = np.zeros(len(center), dtype=bool) if positive is None else positive
    w = np.where(positive, np.maximum(center, 0.0), center)
    pull = target - curvature @ w  # minus the gradient of the quadratic
    for sweep in range(_SWEEPS):
        for j in np.flatnonzero(diagonal > 0.0):
            whole = pull[j] + diagonal[j] * w[j]
            new = np.sign(whole) * max(abs(whole) - weights[j], 0.0) / diagonal[j]
            new = max(new, 0.0) if positive[j] else new
            if new != w[j]:
                pull += curvature[j] * (w[j] - new)
                w[j] = new
        if sweep % _BETWEEN == 0:
            found = _with_signs(curvature, target, (weights, positive), np.sign(w))
            if found is not None:
                return found
    return w


def _with_signs(
    curvature: Array, target: Array, known: tuple[Array, Array], signs: Array
) -> Array | None:
    """The minimiser if it has these signs, else None."""
    weights, positive = known
    kept = np.flatnonzero(signs)
    w = np.zeros_like(target)
    try:
        inner = curvature[np.ix_(kept, kept)]
        w[kept] = np.linalg.solve(inner, target[kept] - weights[kept] * signs[kept])
    except np.linalg.LinAlgError:
        return None
    pull = target - curvature @ w
    slack = np.where(positive, pull, np.abs(pull)) - weights * (1.0 + _ROUNDING)
    scale = _ROUNDING * float(np.abs(target).max(initial=0.0))
    held = (w[kept] * signs[kept] > 0.0) | ((weights[kept] == 0.0) & ~positive[kept])
    fits = bool(held.all()) and bool((np.delete(slack, kept) <= scale).all())
    return w if fits and np.isfinite(w).all() else None


_FLOOR = 1e-5  # of the largest possible eigenvalue: shorter directions are not stretched further
_MOST = 1e6  # a penalty's curvature beyond which its directions are as good as gone
_LEAST_LENGTH = 0.02  # of the squared length of a row in coordinates, per direction
_QUIET = 1e-3  # noise level below which rows are shrunk less and less
SLOWLY = 0.375  # power by which bounds grow where hardly a record meets them


@dataclass(frozen=True)
class Seen:
    """Findings of the first phase.

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


class Scaled(Whitened):
    """Whitened rows, and how long they typically are before they are brought to 1."""

    typical: float


def whitened(seen: Seen, task: Task, public: Public) -> Scaled:
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
    longer = max(1.0, quieter(_QUIET, seen.level) ** (SLOWLY / 3))
    scale = max(min(typical * longer, public.row_bound * stretch), typical)
    white = Scaled(Coordinates(matrix), scale, public)
    white.typical = typical
    return white


def with_zeros(w: Array, seen: Seen, task: Task, noise: float) -> Array:
    """Coefficients under the user's L1 norm, which noise makes heavier: by half of what it alone would reach.

    The noise of coefficients has a covariance that is a multiple, `noise`, of the moment's inverse. Where only signs
    are asked for, the nearest coefficients that have them, as the moment measures: nothing is made heavier.
    """
    size, diagonal = task.size, np.diagonal(seen.moment)
    penalised = np.ones(size)
    if task.penalty.intercept:
        penalised[-1] = 0.0
    ridge = max(task.penalty.convexity_of_coefficients, 0.0)
    of_user = task.penalty.value(penalised) - 0.5 * ridge * float(penalised.sum())
    weight = of_user / max(float(penalised.sum()), 1.0)
    asked = task.penalty.penalty
    signs = isinstance(asked, NonNegative)
    positive = penalised > 0.0 if signs else np.zeros(size, dtype=bool)
    if isinstance(asked, NonNegative) and not asked.l1_ratio:
        return sparse_solution(seen.moment + np.diag(ridge * penalised), w, 0.0 * w, positive)
    reached = math.sqrt(2.0 * math.log(max(size, 2))) / 2.0 * np.sqrt(noise * diagonal)
    return sparse_solution(
        seen.moment + np.diag(ridge * penalised), w, penalised * (weight + reached), positive
    )


def quieter(level: float, than: float) -> float:
    """Return the ratio of a noise level to another."""
    return level / than if than > 0.0 else math.inf


# What the centre is pulled to with, where epsilon would need less; where Huber's fit lies apart from least squares, it
# falls with the noise of a whole budget, down to so much, and so much without any.
_LEAST_STRENGTH, _LEAST_APART, _LEAST_WITHOUT = 0.1, 0.01, 1e-5
# A penalty's curvature, in strengths, beyond which its directions are as good as gone.
_STEEPEST = 5e10
_LEAST_CLIP, _FURTHEST = 0.02, 100.0  # of residuals, and of the first fit in coordinates
# Residuals are clipped at so many deviations at this noise level and above.
_CLIPPED, _LOUD = 0.7, 0.01
_HUBERS = 1.35  # deviations of Huber's own threshold (1981), for 95 % efficiency where residuals are normal
_FEW = 3.0  # deviations from which clips grow slower
_LEFT = 0.85  # of rows' squared lengths, once the longer ones are cut at a typical one


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
        brings its own, or is open and takes at most 1.35.
    """

    name: ClassVar[str] = "two-phase"
    needs: ClassVar[frozenset[str]] = frozenset({"least_squares"})

    moment_share: float = share_of_budget(0.3)
    jacobian_share: float = share_of_budget(0.1)
    threshold: float | None = positive(None)

    def asks(self, public: Public, task: Task, budget: Budget) -> Asked:
        """A count where it is private and not among the moments, the moments, and the objective."""
        _refuse_other_penalties(self, task)
        white = stand_in(public)
        if not public.intercept:
            yield from count_asked(public, budget)
        yield self._moments(public, budget), 1
        clip = min(_LEAST_CLIP, task.loss.delta) if isinstance(task.loss, Huber) else _LEAST_CLIP
        yield white.question(self._objective(white.public, task, budget, clip)), 1

    def _moments(self, public: Public, budget: Budget) -> JointMoments:
        free = JointMoments(multiplier=0.0)
        per_move = budget.noise / (public.sensitivity_factor * math.sqrt(self.moment_share))
        return JointMoments(multiplier=per_move * free.sensitivity(public) / free.bound(public))

    def _objective(
        self, seen: Public, task: Task, budget: Budget, clip: float, center: Array | None = None
    ) -> PerturbedObjective:
        """The question in new coordinates: noise and strength are counted in clips, so that none changes the price.

        As stated it is the one that is hardest to certify, so that none is refused once moments have been paid.
        """
        if center is None:
            center = np.full(seen.width, _FURTHEST / math.sqrt(seen.width))
        least = _LEAST_STRENGTH
        if isinstance(task.loss, Huber):
            falling = max(least * min(budget.noise, 1.0), _LEAST_APART)
            least = falling if budget.private else _LEAST_WITHOUT
        for_jacobian = self.jacobian_share * budget.epsilon
        needed = 1.0 / math.expm1(for_jacobian) if for_jacobian < 100.0 else 0.0
        return PerturbedObjective(
            loss=Huber(clip),
            penalty=ScaledPenalty(NoPenalty(), 1.0, False),
            shape=(seen.width,),
            multiplier=budget.noise / math.sqrt(1.0 - self.moment_share),
            strength=max(needed, least),
            center=center,
        )

    def solve(self, oracle: OracleLike, task: Task, budget: Budget) -> Array:
        """Return coefficients of the given rows."""
        seen = self._first(oracle, task, budget)
        white = whitened(seen, task, oracle.public)
        clip, deviation = self._clip(seen, task, oracle.public), math.sqrt(seen.fit.residual)
        counted = float(2.0 * ndtr(clip / deviation) - 1.0)  # share of records with a curved loss
        first = np.linalg.solve(white.matrix.T, seen.fit.w)
        start = _no_further(first)
        question = self._objective(white.public, task, budget, clip, start)
        # Of a squared loss, so much of the user's penalty as records count beside it.
        ridge = white.ridge(task.penalty) * (counted if isinstance(task.loss, Squared) else 1.0)
        question = replace(question, ridge=np.minimum(ridge, _STEEPEST * question.strength))
        found = oracle.ask(white.question(question)) - start
        curvature = seen.n * counted / task.size * (white.typical / white.scale) ** 2
        found = found * (1.0 + question.strength / (curvature + question.ridge))  # without its pull
        found = found - (first - start)
        noise = (question.multiplier * clip / curvature) ** 2
        # Moments without noise leave nothing to the squared loss.
        left = noise > 0.0 or isinstance(task.loss, Huber)
        rest, noise = shrunk(found, noise, seen.fit) if left else (0.0 * found, 0.0)
        w = seen.fit.w + white.back(rest)
        if task.penalty.smooth:
            return w
        return with_zeros(w, seen, task, noise * seen.n / white.scale**2)

    def _clip(self, seen: Seen, task: Task, public: Public) -> float:
        """Residual from which the loss is a straight line: larger where there is less noise, and none without."""
        if isinstance(task.loss, Huber) and not task.by_residuals:
            return task.loss.delta
        deviations = self._deviations(seen.level)
        if isinstance(task.loss, Huber):
            deviations = min(deviations, _HUBERS)
        furthest = 2.0 + 2.0 * public.row_bound * float(np.linalg.norm(seen.fit.w))
        return min(max(deviations * math.sqrt(seen.fit.residual), _LEAST_CLIP), furthest)

    def _deviations(self, level: float) -> float:
        """The threshold at this noise of a mean gradient."""
        if self.threshold is not None:
            return self.threshold
        deviations = _CLIPPED * max(quieter(_LOUD, level) ** (1 / 3), 1.0)
        # Where hardly a residual is clipped, more is for those that are left.
        return deviations if deviations <= _FEW else _FEW * (deviations / _FEW) ** SLOWLY

    def nominal_error(
        self, public: Public, task: Task, budget: Budget, base_rate: float = 0.5
    ) -> float | None:
        """Return the error in deviations of residuals, for a nominal table: whitened rows, normal residuals."""
        if public.n is None or public.shares or isinstance(task.loss, Huber):
            return None
        level = budget.noise * math.sqrt(task.size) / public.n
        deviations = self._deviations(level)
        counted = float(2.0 * ndtr(deviations) - 1.0)
        noise = budget.noise * deviations / math.sqrt(1.0 - self.moment_share)
        return noise * task.size / (_LEFT * public.n * counted)

    def _first(self, oracle: OracleLike, task: Task, budget: Budget) -> Seen:
        """Buy moments, and what follows of them."""
        public, question = oracle.public, self._moments(oracle.public, budget)
        n = None if public.intercept else record_count(oracle, budget)
        moments = oracle.ask(question)
        # The constant column's own moment tells a private one, and what records weigh together.
        if n is None:
            counted = None if public.weighted else public.n
            n = float(counted or max(1.0, moments[-2, -2] / public.intercept**2))
        deviation, product, _ = question.noises(public)
        moments[:-1, :-1] = cleaned(moments[:-1, :-1], deviation)
        ridge = np.full(task.size, task.penalty.convexity_of_coefficients)
        if task.penalty.intercept:
            ridge[-1] = 0.0
        fit = first_fit(moments, Noises(deviation, product), n, ridge, bool(public.intercept))
        level = budget.noise * math.sqrt(task.size) / n
        return Seen(moments[:-1, :-1], fit, n, level)


def _refuse_other_penalties(solver: Solver, task: Task) -> None:
    """Refuse other penalties: ridges go into both phases, and zeros are made of their results."""
    if not isinstance(task.penalty.penalty, L1 | L2 | ElasticNet | NonNegative | NoPenalty):
        raise NotSupported(
            f"solver={solver.name!r} takes a ridge, lasso, elastic-net, non-negative or no penalty, not "
            f"{type(task.penalty.penalty).__name__}; use 'gd' or 'ssadmm'."
        )


def _no_further(start: Array) -> Array:
    """Shorten the start to at most the length that the price was found for; its direction stays."""
    return np.asarray(start * min(1.0, _FURTHEST / max(float(np.linalg.norm(start)), _FURTHEST)))
