"""Width over which the corners of a loss are rounded: a public number that follows from the noise, never from data.

A wide rounding moves the fit, a narrow one leaves few records that know the curvature. Without noise it is so narrow
that the fit is the vertex of scikit-learn's linear programme, to eight digits or so.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..mechanisms import Public
from ..privacy.spec import Spec
from ..solvers import ObjectivePerturbation, Solver, Task, WhiteGD, WhiteObjective
from ..solvers._one_shot import TYPICAL, noise_norm
from .auto import noise_level

__all__ = ["OPEN", "Corner", "corner_width"]

OPEN = 1.0  # the width of a loss whose own follows from the noise: it is multiplied by that

POWER = 0.56  # of the noise of a mean gradient, in norms
SHARPEST = 1e-9
# For each record, what double precision certifies minimisers beside, with room; and beside a penalty met by its prox.
CERTIFIED, CERTIFIED_BESIDE = 3e-9, 3e-7
FURTHER = 1e-11  # where records are many, a minimiser may lie as far as the root of their number
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
    level = _level(task, public, spec)
    if not isinstance(solver, WhiteObjective | ObjectivePerturbation):
        whitened = isinstance(solver, WhiteGD) and level <= LOUD
        return corner.descent if whitened else corner.loud
    least = SHARPEST
    if spec.private:
        split = isinstance(solver, ObjectivePerturbation) and not task.penalty.smooth
        most = float(public.most_rows)
        least = max(least, (CERTIFIED_BESIDE if split else CERTIFIED) * most, FURTHER * most**1.5)
    return min(corner.widest, max(corner.slope * level**POWER, least))


def _level(task: Task, public: Public, spec: Spec) -> float:
    """Noise of a mean gradient, in norms; of a pure promise, that of density exp(-|z|/scale)."""
    if spec.private and spec.delta == 0.0:
        scale = public.sensitivity_factor / spec.epsilon
        return scale * noise_norm(task.size, pure=True) / (public.n or TYPICAL)
    return noise_level(task, public, spec)
