"""Data-free defaults that several solvers share: what a number is chosen by when the user gives none."""

from __future__ import annotations

import math

import numpy as np

from ..losses import BayesRank, EpsilonInsensitive, ListLoss, QuantileHuber
from ..mechanisms import Public
from ..penalties import Penalty
from ._solver import Array, Task

__all__ = [
    "LOOSELY_BENT",
    "bend",
    "clip_rule",
    "longest_prox",
    "nearest",
    "refuse_long_step",
    "start",
    "step_by_noise",
    "step_rule",
]

# Losses that bend in a narrow corner, where few records are: their steps follow the noise.
LOOSELY_BENT = EpsilonInsensitive, QuantileHuber
_BY_NOISE = 4e-5  # steps of these, for each column, times the noise's norm
_LONGEST = 0.03
MANY = 1e6  # records that the widest clip is made for where their number is private


def clip_rule(task: Task, public: Public, noise_level: float, whole: bool = True) -> float:
    """Bound on a record's gradient: the loss's slope at w = 0 at high noise, its supremum at low noise.

    A clip at the slope of the start shortens no record there: half of the supremum of a logistic loss, which halves the
    noise, and all of it of a hinge. ``noise_level`` is the noise norm over n that a clip of 1 would bring.

    A loss without a bound has one all the same at the optimum: there no record costs more than all do at w = 0, and
    a loss l of curvature b is no steeper than sqrt(2 b l) (Nesterov 2004, "Introductory lectures on convex
    optimization").
    """
    if isinstance(task.loss, ListLoss):
        return _clip_of_lists(task.loss, public, whole)
    full, most = task.loss.slope, 1.0
    if full is None:
        at_start = task.loss.value_bound(0.0, public.target_bound)
        full = math.sqrt(2.0 * (task.loss.curvature or 1.0) * at_start)
        most = math.sqrt(public.n or MANY)
    share = 0.5 * (0.004 / max(noise_level, 1e-15)) ** (1 / 3)
    return full * public.row_bound * min(max(share, _share_at_start(task, full)), most)


def _share_at_start(task: Task, full: float) -> float:
    """Steepest slope of a record at w = 0 over its supremum, and a half at least."""
    loss = task.loss
    if loss.slope is None or loss.outputs > 1:
        return 0.5
    ends = np.array([-1.0, 1.0])  # labels of two classes, or the farthest targets
    return max(0.5, float(np.abs(loss.dz(np.zeros(2), ends)).max()) / full)


def _clip_of_lists(loss: ListLoss, public: Public, whole: bool) -> float:
    """Bound on the gradient of a list: what its documents allow where they are public.

    Two of `LabelGradient`'s vectors are at most half of the diameter apart, and of all lists a question lowers that to
    what documents ask for. Batches count in norms, and lists are scaled down one by one: so that most of them are
    whole at the start, and noise is no more than that. Where documents are private, a gradient is the
    difference of two means of one list's documents, which are nearer to each other than opposite rows: an eighth of
    the bound.
    """
    if public.documents is not None and isinstance(loss, BayesRank):
        if whole:
            return 0.5 * max(public.documents.diameter, 1e-29)
        return public.documents.typical
    return 0.125 * (4.0 if loss.slope is None else 2.0 * loss.slope) * public.row_bound


def bend(task: Task, public: Public) -> float:
    """Bound on the second derivative of one record's loss in the parameters, of a linear model."""
    bound = (task.loss.curvature or 1.0) * public.row_bound**2
    if public.documents is None:
        return bound
    return bound * max(0.5 * public.documents.diameter, 1e-9) ** 2


def longest_prox(task: Task, n: float, momentum: float = 0.0) -> float:
    """Longest step on the mean objective at which the penalty has a prox: only SCAD and MCP set a limit."""
    return 0.99 * n * task.penalty.largest_step * (1.0 - momentum)


def refuse_long_step(task: Task, public: Public, step: float | None, momentum: float = 0.0) -> None:
    """Refuse a given step at which the penalty has no prox, before anything is paid; none for a private n is safe.

    Where n is private, 1 stands in for it: what is refused must not depend on a bought one.
    """
    if step is not None:
        task.penalty.prox(np.zeros(task.shape), step / (public.n or 1.0) / (1.0 - momentum))


def start(task: Task, public: Public) -> Array:
    """Return the task's starting point, or the model's: zero for linear scores."""
    if task.start is not None:
        return task.start.copy()
    return public.model.start(public, task.loss.outputs)


def nearest(penalty: Penalty, w: Array) -> Array:
    """The point of a constraint that is nearest to w; elsewhere, where penalties are compared, hardly a move."""
    return penalty.prox(w, min(1e-9, 0.5 * penalty.largest_step))


def step_rule(
    task: Task, public: Public, n: float, momentum: float, noise: float, steps: int, radius: float
) -> float:
    """Step on the mean objective: half of the inverse curvature, less where noise would carry the iterate past radius.

    ``noise`` is the standard deviation of one coordinate of one noisy mean gradient.
    """
    curvature = bend(task, public)
    steady = min(0.5 / curvature, longest_prox(task, n, momentum))
    wander = noise * math.sqrt(steps * task.size) / (1.0 - momentum)
    return min(steady, radius / wander) if wander > 0 else steady


def step_by_noise(task: Task, noise: float, steps: int) -> float:
    """Step on the mean objective of whitened rows, for a loss that hardly a record bends as much as its bound.

    The bound counts all records as if they lay in the corner of a loss, and all rows as if they
    pointed one way: steps by it do not come far from where they start. Whitened rows share their length among all
    directions, and how much records bend the loss no public number tells. So the step is as long as noise allows:
    chosen on generated tables and on other columns of real ones than those that figures are reported of.
    """
    level = noise * math.sqrt(task.size / steps)
    longest = min(_LONGEST, 1.0 / task.curvature)
    return task.size * (min(_BY_NOISE / level, longest) if level > 0.0 else longest)
