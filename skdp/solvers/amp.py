"""Approximate Minima Perturbation with corrected constants.

Iyengar, Near, Song, Thakkar, Thakurta and Wang (2019), "Towards practical differentially private convex optimization",
algorithm 1.

Privacy: one release of the same mechanism as objective perturbation. What is the paper's is how
epsilon is split to choose the convexity; its noise constants are replaced by the exact price, the
sensitivity of the approximate minimiser is 2 tau/lam (the paper has half of it), and the linear term is
drawn once: a failed certificate is never met by a fresh draw, which no proof covers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ..mechanisms import PerturbedObjective, Public
from ._one_shot import sparsified, strength_for, whole_ridge
from ._ranges import share_of_budget
from ._solver import Array, Asked, Budget, OracleLike, Solver, Task

__all__ = ["AMP"]


@dataclass(frozen=True)
class AMP(Solver):
    """Objective perturbation with the hyper-parameter-free split of its authors.

    Parameters
    ----------
    share : float or None
        Part of epsilon that pays for the noise, the rest for the Jacobian; None: the published
        function of epsilon.
    """

    name: ClassVar[str] = "amp"
    needs: ClassVar[frozenset[str]] = frozenset({"bounded_slope", "smooth_loss", "convex_penalty"})

    share: float | None = share_of_budget(None)

    def asks(self, public: Public, task: Task, budget: Budget) -> Asked:
        """Yield the single perturbed objective."""
        yield self._question(public, task, budget), 1

    def solve(self, oracle: OracleLike, task: Task, budget: Budget) -> Array:
        """Return the noisy minimiser."""
        question = self._question(oracle.public, task, budget)
        w = oracle.ask(question)
        return sparsified(w, task.penalty, question.output_noise(oracle.public))

    def _question(self, public: Public, task: Task, budget: Budget) -> PerturbedObjective:
        ridge, rest = whole_ridge(task.penalty)
        return PerturbedObjective(
            loss=task.loss,
            penalty=rest,
            shape=task.shape,
            multiplier=budget.noise,
            strength=max(self._strength(public, task, budget.epsilon), ridge),
            pure=budget.delta == 0,
        )

    def _strength(self, public: Public, task: Task, epsilon: float) -> float:
        """Weight at which the Jacobian takes what the split leaves it, without the paper's factor 2."""
        if math.isinf(epsilon):
            return strength_for(math.inf, 0.0, public.intercept)
        share = self.share if self.share is not None else _published_share(epsilon)
        left = min(0.99 * epsilon * (1.0 - share), 100.0)
        classes = task.loss.outputs
        if classes > 1:
            leverage = classes * math.expm1(left / (classes - 1))
        else:
            leverage = math.expm1(left) / task.curvature
        return strength_for(leverage, 0.0, public.intercept)


def _published_share(epsilon: float) -> float:
    """Part of epsilon for the noise, as published with the algorithm's experiments.

    They end at epsilon 10, where their 1 - 1/epsilon + 0.001 is what stands here. Beyond, it leaves the Jacobian ever
    less than the 0.99 it has there: nothing at 1000, and below nothing further on.
    """
    smooth = min(0.88671 + 0.0186607 / epsilon**0.372906, 0.99)
    return max(smooth, 1.0 - 0.99 / epsilon)
