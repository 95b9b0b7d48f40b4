"""What ``solver="auto"`` stands for: a choice by what is promised and by public sizes, never by data."""

import math

from ..losses import Huber, Squared
from ..mechanisms import Public
from ..penalties import L1, L2, ElasticNet, NoPenalty
from ..privacy import noise_multiplier
from ..privacy.spec import Spec
from ..solvers import GD, ObjectivePerturbation, Solver, Task, TwoPhase, WhiteGD, WhiteObjective

__all__ = ["choose_solver"]

WIDEST = 1000  # columns up to which a second moment is worth its d^2 work for each record
# Noise of a mean gradient, in norms, up to which a perturbed objective does better than gradients: where the two met on
# generated tables of 2,000 and 20,000 records with spectra from flat to steep.
QUIET = 0.04


def choose_solver(
    solver: str | Solver, task: Task, public: Public, spec: Spec, alone: bool
) -> str | Solver:
    """What was given, or for "auto" the solver that suits.

    Parameters
    ----------
    solver : str or Solver
        The estimator's parameter.
    task : Task
        What is minimised.
    public : Public
        Sizes.
    spec : Spec
        The promise.
    alone : bool
        Whether any theorem may price the fit: it shares no ledger, and no accountant is asked for.
    """
    if not isinstance(solver, str) or solver != "auto":
        return solver
    if spec.private and spec.delta == 0.0:
        return ObjectivePerturbation()
    least_squares = type(task.loss) in (Squared, Huber)
    if (
        alone
        and least_squares
        and public.width <= WIDEST
        and isinstance(task.penalty.penalty, L1 | L2 | ElasticNet | NoPenalty)
    ):
        return TwoPhase()
    ridge = isinstance(task.penalty.penalty, L2 | NoPenalty)
    if task.loss.curvature is None or not ridge or public.width > WIDEST:
        return GD()
    replaced = public.n if public.replace_one and task.loss.one_signed else None
    quiet = replaced is not None and _noise(task, replaced, spec) <= QUIET
    if alone and quiet:
        return WhiteObjective()
    return WhiteGD()


def _noise(task: Task, n: int, spec: Spec) -> float:
    """Norm of the noise of a mean gradient of clip 1 that takes the whole budget."""
    if not spec.private:
        return 0.0
    per_bound = noise_multiplier(spec.epsilon, spec.delta, neighbors=spec.neighbors)
    return per_bound * math.sqrt(task.size) / n
