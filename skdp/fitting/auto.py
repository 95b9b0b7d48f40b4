"""Choice of a solver for ``solver="auto"``, and of the width over which the corners of a loss are rounded.

Both go by the privacy guarantee and by public numbers, never by data. A wide rounding moves the fit, a narrow one has
few records that know the curvature. Without noise it is so narrow that the fit is the vertex of scikit-learn's linear
programme, to eight digits or so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..losses import (
    EpsilonInsensitive,
    Huber,
    ListLoss,
    ListNet,
    Loss,
    Multinomial,
    Poisson,
    QuantileHuber,
    Squared,
    SquaredEpsilonInsensitive,
)
from ..mechanisms import Public
from ..penalties import L1, L2, ElasticNet, NonNegative, NoPenalty
from ..privacy import noise_multiplier
from ..privacy.spec import Spec
from ..solvers import GD, ObjectivePerturbation, Solver, Task, WhiteGD, WhiteObjective
from ..solvers._one_shot import TYPICAL, noise_norm
from ..solvers._solver import THEIRS

__all__ = ["MANY", "OPEN", "Corner", "choose_solver", "is_auto", "noise_level"]


WIDEST = 1000  # columns up to which a second moment is worth its d^2 work for each record
# Noise of a mean gradient, in norms, up to which a perturbed objective does better than gradients: where the two met on
# generated tables of 2,000 and 20,000 records with spectra from flat to steep.
QUIET = 0.04
PROX = 0.02  # the same without whitening: for other penalties, and for more columns
STILL = (
    5e-5  # and where an objective has more to pay: private numbers of records, slopes of both signs
)
# Losses of slopes of either sign that a tilt suits too; counts have slopes far below the bound, so they want less.
TILTED: dict[type[Loss], float] = {
    EpsilonInsensitive: 0.001,
    SquaredEpsilonInsensitive: QUIET,
    QuantileHuber: 0.001,
    Poisson: 0.0025,
}
# Classes, and how many numbers for each record and unit of mu, from which on class means do better than a fit of all.
# Met on generated clusters, and on labels of 29 to 144 classes that no figure is reported of.
SEVERAL, CROWDED = 30, 5.0
LIGHT = 0.01  # curvature of a penalty over that of the losses, up to which means may stand for a minimiser
MANY = 4e6  # records beside which double precision certifies no minimiser of a loss with a sharp corner
TILTED_PROX: dict[type[Loss], float] = {QuantileHuber: 0.002}


def is_auto(solver: object) -> bool:
    """Return True if a parameter leaves the solver open: by "auto", or by a name of one of scikit-learn's.

    Parameters
    ----------
    solver : object
        Whatever the user gave.

    Examples
    --------
    >>> is_auto("auto"), is_auto("lbfgs"), is_auto("sgd")
    (True, True, False)
    """
    return isinstance(solver, str) and (solver == "auto" or solver in THEIRS)


def choose_solver(
    solver: str | Solver, task: Task, public: Public, spec: Spec, alone: bool
) -> str | Solver:
    """Return the solver that was given, or the one that suits for "auto".

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
        Whether any theorem may price the fit: a ledger keeps books of all kinds, and no accountant is asked for.
    """
    if not is_auto(solver):
        return solver
    if isinstance(task.loss, ListLoss):
        return _of_lists(task, public)
    if spec.private and spec.delta == 0.0:
        return ObjectivePerturbation()
    smooth, narrow = task.loss.curvature is not None, public.width <= WIDEST
    penalty = task.penalty.penalty
    least_squares = type(task.loss) in (Squared, Huber)
    known = isinstance(penalty, L1 | L2 | ElasticNet | NonNegative | NoPenalty)
    if alone and least_squares and narrow and known:
        from ..solvers import TwoPhase

        return TwoPhase()
    # Of more columns only losses of two classes were measured: an objective ranks better there, in a third of the time.
    if not smooth or not (narrow or task.loss.one_signed) or not task.penalty.convex:
        return GD()
    white = narrow and isinstance(penalty, L2 | NoPenalty)
    if white and _too_many_classes(task, public, spec):
        from ..solvers import LDA

        return LDA()
    if alone and noise_level(task, public, spec) <= _quiet(task, public, white):
        return WhiteObjective() if white else ObjectivePerturbation()
    return WhiteGD() if white else GD()


def _of_lists(task: Task, public: Public) -> Solver:
    """Return a solver for lists: one release where it covers all of the private labels, gradients otherwise."""
    once = public.lists == "labels" and type(task.loss) is ListNet and task.penalty.smooth
    if not once:
        return GD()
    from ..solvers import OneShot

    return OneShot()


def _too_many_classes(task: Task, public: Public, spec: Spec) -> bool:
    """Return True where noise hides a fit of all classes, and class means stand out of it further."""
    n, classes = float(public.n or TYPICAL), task.loss.outputs
    if type(task.loss) is not Multinomial or classes < SEVERAL or not spec.private:
        return False
    light = task.penalty.convexity_of_coefficients <= LIGHT * task.curvature * n
    per_bound = noise_multiplier(spec.epsilon, spec.delta, neighbors=spec.neighbors)
    return light and classes * task.size * per_bound / 2.0 >= CROWDED * n


def _quiet(task: Task, public: Public, white: bool) -> float:
    """Noise up to which a perturbed objective does better."""
    if type(task.loss) is QuantileHuber and not (public.replace_one and public.most_rows <= MANY):
        # What certifies a minimiser beside so many records, or a private number, pulls it further than noise a descent.
        return 0.0
    tilted = TILTED if white else TILTED_PROX
    if public.n is not None and type(task.loss) in tilted:
        return tilted[type(task.loss)]
    proved = task.loss.one_signed or task.loss.outputs > 1
    if not public.replace_one or not proved:
        return STILL
    return QUIET if white else PROX


def noise_level(task: Task, public: Public, spec: Spec) -> float:
    """Norm of the noise of a mean gradient of clip 1 that takes the whole budget."""
    if not spec.private:
        return 0.0
    per_bound = noise_multiplier(spec.epsilon, spec.delta, neighbors=spec.neighbors)
    return per_bound * math.sqrt(math.prod(task.shape)) / (public.n or TYPICAL)


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
