"""Results of the first of two phases: coordinates for the second, and zeros once both are over.

Nothing here carries a promise: it is made of answers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..mechanisms import Coordinates, Public
from ..penalties import NonNegative
from ._least_squares import FirstFit
from ._solver import Array, Task
from ._sparse_solution import sparse_solution
from ._whitening import Whitened, diagonalising

__all__ = ["SLOWLY", "Scaled", "Seen", "quieter", "whitened", "with_zeros"]

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
