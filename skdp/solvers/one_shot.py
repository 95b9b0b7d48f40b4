"""Release all that ListNet needs of private labels, then minimise freely: what is left is public.

Privacy: post-processing of one Gaussian sum (docs/proofs/list_targets.md). The shrinkage is chosen by the answer
itself, which is free.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.optimize import minimize

from ..exceptions import NotSupported
from ..losses import ListNet
from ..mechanisms import Documents, ListTargets, Public
from ._ranges import count
from ._solver import Array, Asked, Budget, OracleLike, Solver, Task

__all__ = ["OneShot"]

FLAT = 1e-12  # bend of an objective, over the largest, below which a direction counts as none
SCALES = np.logspace(
    -4.0, 6.0, 81
)  # deviations of parameters that are looked at, rows having norm at most 1


@dataclass(frozen=True)
class OneShot(Solver):
    """Private labels once, and the convex rest in the open.

    Noise on the labels' term of the objective is shrunk by a ridge, in each direction in proportion to the noise over
    the bend of the objective there: what the Gaussian that is nearest to the objective at 0 makes of it (MacKay 1992,
    "Bayesian interpolation", for the scale of parameters). Without noise there is none.

    Parameters
    ----------
    max_iter : int
        Largest number of iterations of the minimiser.
    """

    name: ClassVar[str] = "one-shot"
    needs: ClassVar[frozenset[str]] = frozenset({"lists", "smooth_penalty"})
    takes_lists: ClassVar[bool] = True

    max_iter: int = count(500)

    def asks(self, public: Public, task: Task, budget: Budget) -> Asked:
        """Yield the single query."""
        if type(task.loss) is not ListNet or public.lists != "labels":
            raise NotSupported(
                "solver='one-shot' needs loss='listnet' and privacy_unit='list_labels', got the loss "
                f"{type(task.loss).__name__}; use 'gd'."
            )
        yield ListTargets(multiplier=budget.noise), 1

    def solve(self, oracle: OracleLike, task: Task, budget: Budget) -> Array:
        """Return the minimiser of the noisy objective."""
        question = ListTargets(multiplier=budget.noise)
        answer, shown = np.asarray(oracle.ask(question)), oracle.public.documents
        if shown is None:
            return np.zeros(task.shape)
        deviation = budget.noise * question.bound(oracle.public)
        return minimised(shown, task, answer, deviation, self.max_iter)


def minimised(shown: Documents, task: Task, answer: Array, deviation: float, most: int) -> Array:
    """The minimiser of ListNet's objective with this answer in the place of labels, shrunk where noise hides it.

    Parameters
    ----------
    shown : Documents
        Public.
    task : Task
        Penalty and shape.
    answer : ndarray
        What labels say, less the mean documents.
    deviation : float
        Of its noise.
    most : int
        Iterations.
    """
    bends, axes = np.linalg.eigh(shown.scatter(shown.alike()))
    bends = np.maximum(bends, FLAT * max(float(bends.max(initial=0.0)), FLAT))
    ridge = _ridge(bends, axes.T @ answer, deviation)
    scale = 1.0 / np.sqrt(bends + ridge)  # coordinates in which the objective bends alike at 0

    def value(v: Array) -> tuple[float, Array]:
        along = scale * v
        found, gradient = _objective(shown, task, answer, axes @ along)
        gradient = scale * (axes.T @ gradient + ridge * along)
        return found + 0.5 * float(along @ (ridge * along)), gradient

    given = {"maxiter": most, "maxfun": 4 * most, "ftol": 0.0, "gtol": 1e-9}
    found = minimize(value, np.zeros(len(bends)), jac=True, method="L-BFGS-B", options=given)
    return np.asarray(axes @ (scale * found.x))


def _objective(shown: Documents, task: Task, answer: Array, w: Array) -> tuple[float, Array]:
    p, log_sums = shown.lists.softmax(shown.rows.dot(w))
    pull = shown.rows.tdot(p - shown.alike()) - answer
    middle = shown.middle
    value = float(log_sums.sum() - (middle + answer) @ w) + task.penalty.value(w)
    return value, pull + task.penalty.gradient(w)


def _ridge(bends: Array, answer: Array, deviation: float) -> Array:
    """Strength in each direction, for parameters of the scale under which the answer is most likely."""
    if deviation == 0.0:
        return np.zeros(len(bends))
    variances = np.square(bends)[:, None] * np.square(SCALES) + (bends + deviation**2)[:, None]
    likelihood = -0.5 * (np.log(variances) + np.square(answer)[:, None] / variances).sum(axis=0)
    scale = float(SCALES[int(np.argmax(likelihood))])
    return np.asarray(np.square(deviation / scale) / bends)
