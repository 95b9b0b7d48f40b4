"""ADMM whose model is perturbed after each full pass (Chen and Lee 2020, Algorithm 2, "mpADMM"), corrected.

Privacy: post-processing of `steps` clipped gradients of all records (``variant="noise_on_x"``), or of `steps` joint
releases of the three iterates (``variant="paper"``), and of one noisy count where n is private. The script is fixed
beforehand; it is a composition of Gaussians, so its price is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ..exceptions import NotSupported
from ..mechanisms import Gradient, ModelStep, Public
from ._admm import (
    Splitting,
    SplittingSolver,
    curvature_bound,
    equal_steps,
    noise_norm,
    refuse_small_rho,
    rho_rule,
)
from ._mean_gradient import MeanGradient, full_batch, gradient_asked
from ._ranges import one_of
from ._solver import Array, Asked, Budget, OracleLike, Task, count_asked

__all__ = ["MPADMM"]

_LEAST_RHO = (
    1e-10  # rounding of y / rho, and of rho z, is that much more than of x; the noise must cover it
)


@dataclass(frozen=True)
class MPADMM(SplittingSolver):
    """Full-batch ADMM with noise on its model.

    The only record-dependent part of x is its gradient, over n (rho + 1/eta): the paper's sensitivity lost a factor
    eta. Noise on x at that sensitivity is noise on the gradient, and z and y are functions of the noisy x, so they
    need none of their own.

    Parameters
    ----------
    variant : {"noise_on_x", "paper"}
        Where the noise goes: on x alone, or on x, z and y as in the paper, priced together with the step size put
        right. The latter needs a convex penalty and two to three times the variance.
    steps : int
        Number of passes.
    rho : float or None
        Penalty of the splitting, on the mean objective; None: a quarter of the curvature, more for SCAD and MCP.
    eta : float or None
        Step size; None: half of the curvature and the noise decide (see `equal_steps`).
    averaging : bool
        Return the prox of the mean of the second half's arguments; without noise, always the last z.
    clip : float or None
        Bound on the norm of one record's gradient, rows having norm at most 1; None: by the noise level.
    radius : float
        Norm of coefficients that noise may carry the iterate to, for the default step.
    """

    name: ClassVar[str] = "mpadmm"

    variant: str = one_of("noise_on_x", "paper")

    def asks(self, public: Public, task: Task, budget: Budget) -> Asked:
        """A count where n is private, and the gradients, or the joint releases."""
        n = public.n or 1.0
        refuse_small_rho(task, public, self.rho)
        gradient = gradient_asked(self, public, task, self._multiplier(budget))
        question: Gradient | ModelStep = gradient
        if self.variant == "paper":
            split = Splitting(task, self._rho(task, public, n), n)
            inverse = 1.0 / self.eta if self.eta else 0.5 * curvature_bound(task, public)
            question = _joint(split, task, n, inverse, gradient)
        yield from count_asked(public, budget)
        yield question, self.steps

    def _multiplier(self, budget: Budget) -> float:
        return budget.noise * math.sqrt(self.steps)

    def _rho(self, task: Task, public: Public, n: float) -> float:
        rho = rho_rule(task, public, n, self.rho)
        if self.variant == "paper" and not _LEAST_RHO <= rho <= 1.0 / _LEAST_RHO:
            raise NotSupported(
                f"solver='mpadmm' with variant='paper' and rho={rho:.3g} lets rounding grow from step to step; give a "
                f"rho from {_LEAST_RHO:g} to {1.0 / _LEAST_RHO:g}, or use variant='noise_on_x'."
            )
        return rho

    def solve(self, oracle: OracleLike, task: Task, budget: Budget) -> Array:
        """Return z: the prox of the averaged argument, or the last one."""
        gradient = full_batch(self, oracle, task, budget, self._multiplier(budget))
        n, rho = gradient.n, self._rho(task, oracle.public, gradient.n)
        thrice = math.sqrt(1.0 + max(1.0, rho**2)) if self.variant == "paper" else 1.0
        error = noise_norm(task, gradient.clip, thrice * gradient.noise, n, 1.0)
        split = Splitting(task, rho, n)
        for k, inverse in enumerate(equal_steps(self, task, oracle.public, rho, error)):
            if self.variant == "noise_on_x":
                split.advance(gradient(split.x), inverse)
            else:
                split.adopt(*oracle.ask(_joint(split, task, n, inverse, gradient)))
            if 2 * k >= self.steps - 1:
                split.remember()
        return split.average() if self.averaging and budget.noise > 0 else split.z


def _joint(
    split: Splitting, task: Task, n: float, inverse: float, like: Gradient | MeanGradient
) -> ModelStep:
    """The joint release of all iterates, with the clip and the noise of a gradient that is asked otherwise."""
    return ModelStep(
        x=split.x,
        z=split.z,
        y=split.y,
        loss=task.loss,
        penalty=task.penalty,
        clip=like.clip,
        multiplier=like.multiplier,
        rho=split.rho,
        inverse=inverse,
        n=n,
    )
