"""How far the corners of a loss are rounded: by the noise, which hides what is smaller. A public number, never by data.

A wide rounding moves the fit, a narrow one leaves few records that know the curvature. Without noise it is so narrow
that the fit is the vertex of scikit-learn's linear programme, to eight digits or so.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..mechanisms import Public
from ..privacy.spec import Spec
from ..solvers import ObjectivePerturbation, Solver, Task, WhiteGD, WhiteObjective
from .auto import noise_level

__all__ = ["Corner", "corner_width"]

POWER = 0.56  # of the noise of a mean gradient, in norms
SHARPEST = 1e-9
# For each record, what double precision certifies minimisers beside, with room; and beside a penalty met by its prox.
CERTIFIED, CERTIFIED_BESIDE = 1e-9, 3e-7
LOUD = 0.06  # noise beyond which a descent had better take the short steps of a sharp corner


@dataclass(frozen=True)
class Corner:
    """The widths of one loss, in units of its targets or margins.

    Parameters
    ----------
    slope : float
        Width at noise 1, of minimisers that are found exactly.
    widest : float
        The widest that is good for these.
    descent : float
        For descents, whose steps follow the curvature of the corner.
    loud : float
        For descents beside loud noise.
    """

    slope: float
    widest: float
    descent: float
    loud: float


def corner_width(solver: Solver, task: Task, public: Public, spec: Spec, corner: Corner) -> float:
    """The width that suits.

    Parameters
    ----------
    solver : Solver
        What minimises: exactly, or by steps.
    task : Task
        Its shape counts.
    public : Public
        Sizes.
    spec : Spec
        The promise.
    corner : Corner
        The widths of the loss.
    """
    level = noise_level(task, public, spec)
    if not isinstance(solver, WhiteObjective | ObjectivePerturbation):
        whitened = isinstance(solver, WhiteGD) and level <= LOUD
        return corner.descent if whitened else corner.loud
    least = SHARPEST
    if spec.private:
        split = isinstance(solver, ObjectivePerturbation) and not task.penalty.smooth
        least = max(least, (CERTIFIED_BESIDE if split else CERTIFIED) * (public.n or 0))
    return min(corner.widest, max(corner.slope * level**POWER, least))
