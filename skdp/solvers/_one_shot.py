"""Data-free choices that the one-shot solvers share: convexity, clip, total step, sparsity.

None of them carries a promise: the mechanisms price whatever is chosen here.
"""

from __future__ import annotations

import math
from contextlib import suppress

import numpy as np

from ..exceptions import NotSupported
from ..losses import Logistic
from ..mechanisms import PerturbedObjective, Public
from ..mechanisms._mechanism import Mechanism
from ..penalties import L2, NoPenalty, ScaledPenalty
from ._rules import clip_rule
from ._solver import Array, Asked, Budget, OracleLike, Solver, Task

__all__ = [
    "BENT",
    "RADIUS",
    "TYPICAL",
    "OneQuestion",
    "chosen_clip",
    "leverage_for",
    "noise_norm",
    "replaced_records",
    "sparsified",
    "strength_for",
    "total_step",
    "whole_ridge",
]

RADIUS = 10.0  # how far the solution may lie, in rows of norm 1: it balances noise and shrinkage
FLOOR = (
    1e-5  # least convexity beside a promise, which double precision can certify minimisers down to
)
UNPROMISED = 1e-9  # convexity where nothing is promised: less blurs what a prox certifies
BENT = 20.0  # curvature of a sum of losses beyond which corners only hold fewer records each
TYPICAL = 1e3  # records that defaults are chosen for where their number is private


class OneQuestion(Solver):
    """A solver that asks once, and hands on the answer."""

    def _question(self, public: Public, task: Task, budget: Budget) -> Mechanism:
        raise NotImplementedError

    def asks(self, public: Public, task: Task, budget: Budget) -> Asked:
        """Yield the single query."""
        yield self._question(public, task, budget), 1

    def solve(self, oracle: OracleLike, task: Task, budget: Budget) -> Array:
        """Return the answer."""
        return np.asarray(oracle.ask(self._question(oracle.public, task, budget)))


def noise_norm(size: int, pure: bool) -> float:
    """Typical norm of unit noise in so many coordinates: Gaussian, or of density exp(-|z|)."""
    return size if pure else math.sqrt(size)


def replaced_records(solver: Solver, public: Public) -> int:
    """Return the number of records under replace-one; refused under the other relation."""
    if public.n is None or not public.replace_one:
        raise NotSupported(
            f"solver={solver.name!r} is proved for neighbors='replace_one' only; use "
            "'objective-perturbation' under add_remove."
        )
    return public.n


def chosen_clip(clip: float | None, task: Task, public: Public, budget: Budget) -> float | None:
    """The user's clip, or one by the noise level; None where a loss needs none or cannot have it."""
    if task.loss.outputs > 1:
        return clip
    full = math.inf if task.loss.slope is None else task.loss.slope * public.row_bound
    if clip is None:
        level = budget.noise * noise_norm(task.size, budget.delta == 0)
        clip = clip_rule(task, public, level / (public.n or TYPICAL))
    return None if clip >= full else clip


def leverage_for(
    task: Task, public: Public, budget: Budget, clip: float | None, tilt: float, radius: float
) -> float:
    """Largest x' Lambda^-1 x that is worth its price: of the Jacobian, and of noise on the minimiser."""
    if not budget.private:
        return math.inf
    leverage = _paid_leverage(task, public, budget, clip, tilt, radius)
    if budget.noise == 0:
        return leverage
    added = max(task.penalty.convexity_of_coefficients, 0.0)
    needed = strength_for(leverage, added, public.intercept)
    quiet = _quiet_strength(needed, task, public, budget, clip, radius)
    if quiet == needed:
        return leverage
    return 1.0 / (added + quiet) + public.intercept**2 / quiet


def _quiet_strength(
    strength: float, task: Task, public: Public, budget: Budget, clip: float | None, radius: float
) -> float:
    """The strength, or the smallest beside which noise on the minimiser does no more harm than shrinkage.

    A minimiser is known up to rounding over the strength, and noise must cover that: the less there is of the one, the
    more of the other, without end. Its harm is n curvature deviation^2 / 2, that of shrinkage strength radius^2 / 2;
    their ratio falls with the third to fifth power of the strength, so the steps down from 1 come close and never pass.
    """
    steepness = (public.n or TYPICAL) * min(task.curvature, BENT) * public.row_bound**2

    def ratio(strength: float) -> float:
        deviation = PerturbedObjective(
            loss=task.loss,
            penalty=task.penalty,
            shape=task.shape,
            multiplier=budget.noise,
            strength=strength,
            clip=clip,
            pure=budget.delta == 0,
        ).output_noise(public)
        return steepness * deviation**2 / (strength * radius**2)

    with suppress(NotSupported):  # so little that double precision could not certify the minimiser
        if ratio(strength) <= 1.0:
            return strength
    quiet, power = max(strength, 1.0), 0.2
    harm = ratio(quiet)
    for _ in range(12):
        try:
            harm, quiet = ratio(quiet * harm**power), quiet * harm**power
        except NotSupported:  # so far down that no double certifies it
            power *= 0.5
    return max(quiet, strength)


def _paid_leverage(
    task: Task, public: Public, budget: Budget, clip: float | None, tilt: float, radius: float
) -> float:
    """Largest x' Lambda^-1 x that the Jacobian is to be paid for.

    Unclipped logistic loss: B^2/lam = epsilon/4 (replace one), epsilon/1.25 (add or remove), where
    it is free; pure: just below epsilon/2 and epsilon. Other losses: a share of epsilon.
    """
    epsilon, sensitivity_factor = budget.epsilon, public.sensitivity_factor
    if type(task.loss) is Logistic and clip is None:
        if budget.delta == 0:
            return 0.95 * epsilon / sensitivity_factor
        return epsilon / (4.0 if public.replace_one else 1.25)
    shares = np.linspace(0.02, 0.3, 57)
    leverage = _leverage(task, np.minimum(shares * epsilon, 100.0))
    lam = np.maximum(public.row_bound**2 / leverage, tilt / radius)
    error = (tilt / (1.0 - shares)) ** 2 / lam + lam * radius**2
    return float(leverage[np.argmin(error)])


def _leverage(task: Task, log_jacobian: Array) -> Array:
    """Leverages at which logs of the Jacobian are at most these."""
    classes = task.loss.outputs
    if classes > 1:
        return classes * np.expm1(log_jacobian / (classes - 1))
    return np.expm1(log_jacobian) / task.curvature


def strength_for(leverage: float, added: float, intercept: float) -> float:
    """Smallest x with 1/(added + x) + intercept^2/x <= leverage; ``added`` is the user's own L2."""
    if math.isinf(leverage):
        return UNPROMISED
    if not intercept:
        return max(1.0 / leverage - added, FLOOR)
    square = intercept * intercept
    p = 1.0 + square - leverage * added
    root = math.sqrt(p * p + 4.0 * leverage * square * added)
    x = (p + root) / (2.0 * leverage) if p > 0 else 2.0 * square * added / (root - p)
    return max(x * (1 + 1e-9), FLOOR)


def total_step(n: float, curvature: float, slope: float, noise: float, radius: float) -> float:
    """Sum S of all step sizes of a descent that releases its end.

    Its error is about radius^2/(2 S) from stopping and (2 slope S noise / n)^2 curvature / 2 from
    the noise on its end, whose sensitivity is 2 slope S / n; this S minimises the sum.
    """
    if noise == 0:
        return math.inf
    return (radius * n / slope / noise) ** (2 / 3) / (8.0 * curvature) ** (1 / 3)


def whole_ridge(penalty: ScaledPenalty, published: bool = False) -> tuple[float, ScaledPenalty]:
    """The user's L2 as a weight on all coordinates, and the penalty that is left beside it.

    A free intercept is left alone by the user's penalty, so only algorithms `published` without one take it for that.
    """
    if isinstance(penalty.penalty, L2) and (published or not penalty.intercept):
        left = ScaledPenalty(NoPenalty(), penalty.scale, penalty.intercept)
        return penalty.convexity_of_coefficients, left
    return 0.0, penalty


def sparsified(w: Array, penalty: ScaledPenalty, spread: float) -> Array:
    """Set to zero what the penalty had set to zero before the last, tiny noise."""
    if penalty.smooth or penalty.bounded or spread == 0:
        return w
    return np.where(np.abs(w) <= 8.0 * spread, 0.0, w)
