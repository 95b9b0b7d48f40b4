"""Where an iteration begins: at coefficients that are public.

Privacy: no price depends on where a solver begins, and coefficients that are declared public are the user's word. A fit
that began where the last one ended would depend on records by both, and its receipt speak of one: there is no
`warm_start`.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse

from ..exceptions import NotSupported
from ..mechanisms import Public
from ..privacy.spec import Spec
from ..solvers import GD, Solver, Task
from ._tables import Array, attempt
from .learner import PrivateLearner
from .plan import Plan

__all__ = ["Starting"]

_FURTHEST = 1e30  # of a coordinate of where a solver begins


class Starting(PrivateLearner):
    """Of the estimators whose solvers may begin somewhere.

    Parameters
    ----------
    coef_init : array-like of the shape of ``coef_``, default=None
        Public coefficients to begin at, such as those of a public table: never of the records that are fitted, or of a
        fit of these that you do not count yourself. None: zeros. It needs a solver that goes by steps, which "auto"
        then chooses.
    intercept_init : array-like of the shape of ``intercept_``, default=None
        The same of the intercept; None is 0, or the middle of ``y_bounds``.
    """

    fit_intercept: bool = True
    coef_init: ArrayLike | None = None
    intercept_init: ArrayLike | None = None

    def _origin(self) -> str | None:
        """Where a fit begins, in words; None for where solvers always do."""
        given = self.coef_init is not None or self.intercept_init is not None
        return "declared" if given else None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self._origin() is None:
            return
        bought = self._stand_ins(1)
        if bought:
            raise NotSupported(
                f"{next(iter(bought))}=None buys the scale that coefficients are on, so that no fit can begin at given "
                "ones; declare it."
            )

    def _chosen(self, task: Task, public: Public, spec: Spec, alone: bool) -> Solver:
        if self._origin() is not None and isinstance(self.solver, str) and self.solver == "auto":
            return GD()
        return super()._chosen(task, public, spec, alone)

    def _plan(
        self, n: int | None, n_features: int, declared: dict[str, Any], outputs: int | None = None
    ) -> Plan:
        plan = super()._plan(n, n_features, declared, outputs)
        origin = self._origin()
        if origin is None:
            return plan
        task = replace(plan.task, start=self._start(plan))
        return replace(plan, task=task, declared={**plan.declared, "begins_at": origin})

    def _start(self, plan: Plan) -> Array:
        """The given coefficients as parameters of the solver."""
        given, free = self.coef_init, self.intercept_init
        columns = plan.fits if plan.fits > 1 else math.prod(plan.task.shape[1:])
        start, d = np.zeros((plan.public.width, columns)), plan.public.n_features
        if given is not None:
            start[:d] = _numbers("coef_init", given, (columns, d)).T * plan.data_norm
        if self.fit_intercept and free is not None:
            start[-1] = self._free_start(_numbers("intercept_init", free, (columns,)))
            start[-1] /= plan.public.intercept
        start /= self._unit()
        if not np.abs(start).max(initial=0.0) <= _FURTHEST:
            raise ValueError(
                "coef_init is further from 0 than 1e30 rows of norm data_norm; give smaller coefficients."
            )
        one = plan.fits == 1 and len(plan.task.shape) == 1
        return start[:, 0] if one else start

    def _unit(self) -> Any:
        """Of scores."""
        return 1.0

    def _free_start(self, intercept: Array) -> Array:
        """An intercept less what targets are centred by."""
        return intercept


def _numbers(name: str, given: Any, shape: tuple[int, ...]) -> Array:
    given = given.toarray() if issparse(given) else given  # after `sparsify`
    found, wrong = attempt(lambda: np.asarray(given, dtype=np.float64))
    if wrong is not None or found.size != math.prod(shape) or not np.isfinite(found).all():
        told = " x ".join(map(str, shape))
        raise ValueError(f"{name} must hold {told} finite numbers, as many as the fit has.")
    return found.reshape(shape)
