"""ADMM whose model is perturbed after each full pass (Chen and Lee 2020, Algorithm 2, "mpADMM"), corrected.

Privacy: post-processing of `steps` clipped gradients of all records (``variant="noise_on_x"``), or of `steps` joint
releases of the three iterates (``variant="paper"``), and of one noisy count where n is private. The script is fixed
beforehand; it is a composition of Gaussians, so its price is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..exceptions import NotSupported
from ..mechanisms import Gradient, ModelStep
from ._admm import Splitting, inverse_steps, noise_norm, rho_rule
from ._rules import clip_rule
from ._solver import Solver, record_count

__all__ = ["MPADMM"]

_LEAST_RHO = (
    1e-10  # rounding of y / rho, and of rho z, is that much more than of x; the noise must cover it
)


@dataclass(frozen=True)
class MPADMM(Solver):
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
        Step size; None: half of the curvature and the noise decide (see `inverse_steps`).
    averaging : bool
        Return the prox of the mean of the second half's arguments; without noise, always the last z.
    clip : float or None
        Bound on the norm of one record's gradient, rows having norm at most 1; None: by the noise level.
    radius : float
        Norm of coefficients that noise may carry the iterate to, for the default step.
    """

    name: ClassVar[str] = "mpadmm"

    variant: str = "noise_on_x"
    steps: int = 200
    rho: float | None = None
    eta: float | None = None
    averaging: bool = True
    clip: float | None = None
    radius: float = 8.0

    def solve(self, oracle, task, budget):
        """Return z: the prox of the averaged argument, or the last one."""
        if self.variant not in ("noise_on_x", "paper"):
            raise ValueError(f"variant={self.variant!r} is not known; use 'noise_on_x' or 'paper'.")
        n = record_count(oracle, budget)
        multiplier = budget.noise * math.sqrt(self.steps)
        clip = self.clip or clip_rule(task, oracle.public, budget.noise * math.sqrt(task.size) / n)
        rho = rho_rule(task, oracle.public, n, self.rho)
        thrice = math.sqrt(1.0 + max(1.0, rho**2)) if self.variant == "paper" else 1.0
        if self.variant == "paper" and not _LEAST_RHO <= rho <= 1.0 / _LEAST_RHO:
            raise NotSupported(
                f"solver='mpadmm' with variant='paper' and rho={rho:.3g} lets rounding grow from step to step; give a "
                f"rho from {_LEAST_RHO:g} to {1.0 / _LEAST_RHO:g}, or use variant='noise_on_x'."
            )
        error = noise_norm(task, clip, thrice * multiplier * clip / n, n, 1.0)
        split = Splitting(task, rho, n)
        for k, inverse in enumerate(self._inverses(task, oracle.public, rho, error)):
            self._advance(oracle, task, split, inverse, clip=clip, multiplier=multiplier, n=n)
            if 2 * k >= self.steps - 1:
                split.remember()
        return split.average() if self.averaging and budget.noise > 0 else split.z

    def _advance(self, oracle, task, split, inverse, *, n, **bounded):
        if self.variant == "noise_on_x":
            noisy = oracle.ask(Gradient(at=split.x, loss=task.loss, **bounded))
            split.advance(noisy / n, inverse)
            return
        iterates = {"x": split.x, "z": split.z, "y": split.y}
        constants = {"rho": split.rho, "inverse": inverse, "n": n, "penalty": task.penalty}
        split.adopt(*oracle.ask(ModelStep(loss=task.loss, **iterates, **constants, **bounded)))

    def _inverses(self, task, public, rho, error):
        growth = np.ones(self.steps)
        if self.eta is not None:
            return growth / self.eta
        return inverse_steps(task, public, rho, growth, error, self.radius)
