"""Starting point of an iteration: public coefficients, or those of an earlier fit.

Privacy: no price depends on where a solver begins, and coefficients that are declared public are the user's word. A fit
that begins where the last one ended depends on records by both, and its receipt speaks of both (`_warm`).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse

from .._fingerprint import told_apart
from ..entry import Array, Facts, Given, Table, attempt
from ..exceptions import NotSupported
from ..mechanisms import Noise, Public
from ..privacy.events import Script
from ..privacy.receipt import Receipt
from ..privacy.spec import Spec
from ..solvers import GD, Solver, Task
from ._warm import (
    BEGUN,
    earlier_of,
    refuse_bought_rows,
    refuse_other_classes,
    refuse_unlike,
    that_buys,
)
from .learner import PrivateLearner
from .plan import Plan
from .run import Fitted, Heard, Run

__all__ = ["Starting"]

_FURTHEST = 1e30  # of a coordinate of where a solver begins


class Starting(PrivateLearner):
    """Base class of the estimators whose solvers may begin at given coefficients.

    Parameters
    ----------
    coef_init : array-like of the shape of ``coef_``, default=None
        Public coefficients to begin at, such as those of a public table: never of the records that are fitted, or of a
        fit of these that you do not count yourself. None: zeros. It needs a solver that goes by steps, which "auto"
        then chooses.
    intercept_init : array-like of the shape of ``intercept_``, default=None
        Public intercept to begin at; None is 0, or the middle of ``y_bounds``.
    warm_start : bool, default=False
        Whether a fit begins at the coefficients of the last one, if there is one, else at ``coef_init``.
        ``privacy_`` is then of all these fits together: ``epsilon`` is what one of them adds, and the receipt's is
        larger. From the second fit on it needs a solver that goes by steps, which "auto" then chooses. With a fixed
        ``random_state``, each fit of the sequence still draws its own noise.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp import DPRidge
    >>> X = np.random.default_rng(0).uniform(-1, 1, (1000, 3))
    >>> y = X @ [3.0, -2.0, 1.0] + 10.0
    >>> model = DPRidge(epsilon=1.0, y_bounds=(4.0, 16.0), data_norm=1.8, solver="gd", warm_start=True)
    >>> round(model.fit(X, y).privacy_.epsilon, 2), round(model.fit(X, y).privacy_.epsilon, 2)
    (1.0, 1.45)
    """

    fit_intercept: bool = True
    coef_init: ArrayLike | None = None
    intercept_init: ArrayLike | None = None
    warm_start: bool = False

    def _continues(self) -> bool:
        """Return True if a fit begins at the coefficients of an earlier one."""
        return self.warm_start and not vars(self).keys().isdisjoint(("coef_", "privacy_"))

    def _origin(self) -> str | None:
        """Return the starting point of a fit in words; None where it is the usual one."""
        if self._continues():
            return BEGUN
        given = self.coef_init is not None or self.intercept_init is not None
        return "declared" if given else None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self._origin() is None and not self.warm_start:
            return
        bought = self._buys()
        if bought:
            raise NotSupported(
                f"{bought[0]}=None estimates the scale of the coefficients privately, so a fit cannot begin at given "
                "or earlier coefficients; declare it."
            )

    def _outputs_of(self, facts: Facts) -> int:
        if self._continues() and facts.classes is not None:
            refuse_other_classes(vars(self).get("classes_", ()), facts.classes)
        return super()._outputs_of(facts)

    def _complete(self, plan: Plan, facts: Facts) -> Plan:
        behind = that_buys()
        if self.warm_start:
            refuse_bought_rows(behind)
        for name in ("_paid_by", "_behind"):  # of an earlier fit
            vars(self).pop(name, None)
        if behind is not None:
            self._behind = behind
        found: Plan = super()._complete(plan, facts)
        return found

    def _chosen(self, task: Task, public: Public, spec: Spec, alone: bool) -> Solver:
        if self._origin() is not None and isinstance(self.solver, str) and self.solver == "auto":
            return GD()
        return super()._chosen(task, public, spec, alone)

    def _plan(self, *given: Any) -> Plan:
        plan = super()._plan(*given)
        if self.warm_start and plan.solver.adaptive:
            raise NotSupported(
                f"warm_start=True needs prices that are fixed in advance, but those of solver={plan.solver.name!r} "
                "depend on answers; use 'gd', 'sgd' or 'adam', or leave warm_start out."
            )
        origin = self._origin()
        if origin is None:
            return plan
        plan = replace(plan, declared={**plan.declared, "begins_at": origin})
        if not self._continues():
            start = self._start(plan, "coef_init", self.coef_init, self.intercept_init)
            return replace(plan, task=replace(plan.task, start=start))
        earlier, coef, free = earlier_of(self)
        refuse_unlike(earlier, plan, coef)
        task = replace(plan.task, start=self._start(plan, "coef_", coef, free))
        return replace(plan, task=task, earlier=earlier, owed=self._owed(earlier))

    def _owed(self, earlier: Receipt) -> Script:
        """Return the script that the paying ledger still owes; empty where it has paid for the earlier fit."""
        payer = self._payer()
        paid = vars(self).get("_paid_by")
        known = payer is None or (payer.identity, told_apart(earlier)) == paid
        return () if known else earlier.script

    def _run(
        self, run: Run, table: Table, noise: Noise, heard: Heard | None
    ) -> tuple[Fitted, Receipt]:
        found = super()._run(run, table, noise, heard)
        if self.warm_start and run.ledger is not None:
            self._paid_by: tuple[str, ...] = (run.ledger.identity,)
        return found

    def _fit_or_fail(self, given: Given) -> Self:
        """Keep which ledger knows all of the receipt; another receipt in its place is none of that ledger's."""
        super()._fit_or_fail(given)
        if "_paid_by" in vars(self):
            self._paid_by = self._paid_by[0], told_apart(self.privacy_)
        return self

    def _start(self, plan: Plan, name: str, given: Any, free: Any) -> Array:
        """Coefficients, and intercepts, as parameters of the solver."""
        columns = plan.fits if plan.fits > 1 else math.prod(plan.task.shape[1:])
        start, d = np.zeros((plan.public.width, columns)), plan.public.n_features
        if given is not None:
            start[:d] = _numbers(name, given, (columns, d)).T * plan.data_norm
        if self.fit_intercept and free is not None:
            start[-1] = self._free_start(_numbers("intercept_init", free, (columns,)))
            start[-1] /= plan.public.intercept
        start /= self._unit()
        if not np.abs(start).max(initial=0.0) <= _FURTHEST:
            raise ValueError(
                f"{name} exceeds 1e30 once rows are scaled by data_norm; give smaller coefficients."
            )
        one = plan.fits == 1 and len(plan.task.shape) == 1
        return start[:, 0] if one else start

    def _unit(self) -> Any:
        """Return the unit of scores."""
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
