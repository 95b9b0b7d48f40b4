"""Zeros in coefficients that are known up to noise: a penalised quadratic, solved to the last digits."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..mechanisms import Coordinates, Public
from ..penalties import NonNegative
from ._least_squares import FirstFit
from ._solver import Array, Task
from ._whitening import Whitened, diagonalising

__all__ = ["SLOWLY", "Scaled", "Seen", "quieter", "sparse_solution", "whitened", "with_zeros"]


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
