"""Starting point of an iteration: public coefficients, or those of an earlier fit.

Privacy: no price depends on where a solver begins, and coefficients that are declared public are the user's word. A fit
that begins where the last one ended depends on records by both, and its receipt speaks of both (`_warm`).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from .._fingerprint import told_apart
from ..entry import Array, attempt
from ..exceptions import NotSupported
from ..privacy.events import Script
from ..privacy.receipt import Receipt
from ._warm import (
    BEGUN,
    earlier_of,
    refuse_bought_rows,
    refuse_other_classes,
    refuse_unlike,
    that_buys,
)
from .plan import Plan

if TYPE_CHECKING:
    from ..privacy import Ledger

__all__ = ["COEF_INIT", "INTERCEPT_INIT", "WARM_START", "Start", "ZeroStart"]

_FURTHEST = 1e30  # of a coordinate of where a solver begins


COEF_INIT = """coef_init : array-like of the shape of ``coef_``, default=None
    Public coefficients to begin at, such as those of a public table: never of the records that are fitted, or of a
    fit of these that you do not count yourself. None: zeros. It needs a solver that goes by steps, which "auto"
    then chooses."""
INTERCEPT_INIT = """intercept_init : array-like of the shape of ``intercept_``, default=None
    Public intercept to begin at; None is 0, or the middle of ``y_bounds``."""
WARM_START = """warm_start : bool, default=False
    Whether a fit begins at the coefficients of the last one, if there is one, else at ``coef_init``.
    ``privacy_`` is then of all these fits together: ``epsilon`` is what one of them adds, and the receipt's is
    larger. From the second fit on it needs a solver that goes by steps, which "auto" then chooses. With a fixed
    ``random_state``, each fit of the sequence still draws its own noise."""


class ZeroStart:
    """Start at zeros, or where a model says: that of every estimator without parameters for it.

    Parameters
    ----------
    model : estimator
        Whose fits begin there.
    """

    def __init__(self, model: Any) -> None:
        self._model = model

    @property
    def given(self) -> bool:
        """Return True if a fit begins anywhere else."""
        return False

    def check(self) -> None:
        """Refuse parameters that no data could make right."""

    def refuse_other_classes(self, classes: Any) -> None:
        """Refuse to continue with other classes than those of the earlier fit."""

    def begin(self, plan: Plan) -> Plan:
        """Return the plan with its starting point in the task."""
        return plan

    def admit(self) -> None:
        """Refuse what stands in front of the fit, and forget what an earlier fit noted."""

    def note_payer(self, payer: Ledger | None) -> None:
        """Keep which ledger knows all of the new receipt."""


class Start(ZeroStart):
    """Start at coefficients that are declared, or that an earlier fit has left.

    Parameters
    ----------
    model : estimator
        With the parameters ``fit_intercept``, ``coef_init``, ``intercept_init`` and ``warm_start``.

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

    @property
    def given(self) -> bool:
        """Return True if a fit begins at coefficients that are declared or kept."""
        return self._origin() is not None

    def _continues(self) -> bool:
        """Return True if a fit begins at the coefficients of an earlier one."""
        fitted = vars(self._model).keys()
        return self._model.warm_start and not fitted.isdisjoint(("coef_", "privacy_"))

    def _origin(self) -> str | None:
        """Return the starting point of a fit in words; None where it is the usual one."""
        if self._continues():
            return BEGUN
        model = self._model
        given = model.coef_init is not None or model.intercept_init is not None
        return "declared" if given else None

    def check(self) -> None:
        """Refuse to begin at coefficients whose scale is estimated privately."""
        if not self.given and not self._model.warm_start:
            return
        bought = self._model._buys()
        if bought:
            raise NotSupported(
                f"{bought[0]}=None estimates the scale of the coefficients privately, so a fit cannot begin at given "
                "or earlier coefficients; declare it."
            )

    def refuse_other_classes(self, classes: Any) -> None:
        """Refuse to continue with other classes than those of the earlier fit."""
        if self._continues() and classes is not None:
            refuse_other_classes(vars(self._model).get("classes_", ()), classes)

    def admit(self) -> None:
        """Refuse a warm start behind a step that pays anew, and note such a step."""
        model, behind = self._model, that_buys()
        if model.warm_start:
            refuse_bought_rows(behind)
        for name in ("_paid_by", "_behind"):  # of an earlier fit
            vars(model).pop(name, None)
        if behind is not None:
            model._behind = behind

    def begin(self, plan: Plan) -> Plan:
        """Return the plan with its starting point in the task, and with the earlier fit that it continues."""
        model = self._model
        if model.warm_start and plan.solver.adaptive:
            raise NotSupported(
                f"warm_start=True needs prices that are fixed in advance, but those of solver={plan.solver.name!r} "
                "depend on answers; use 'gd', 'sgd' or 'adam', or leave warm_start out."
            )
        origin = self._origin()
        if origin is None:
            return plan
        plan = replace(plan, declared={**plan.declared, "begins_at": origin})
        if not self._continues():
            start = self._place(plan, "coef_init", model.coef_init, model.intercept_init)
            return replace(plan, task=replace(plan.task, start=start))
        earlier, coef, free = earlier_of(model)
        refuse_unlike(earlier, plan, coef)
        task = replace(plan.task, start=self._place(plan, "coef_", coef, free))
        return replace(plan, task=task, earlier=earlier, owed=self._owed(earlier))

    def _owed(self, earlier: Receipt) -> Script:
        """Return the script that the paying ledger still owes; empty where it has paid for the earlier fit."""
        payer = self._model._payer()
        paid = vars(self._model).get("_paid_by")
        known = payer is None or (payer.identity, told_apart(earlier)) == paid
        return () if known else earlier.script

    def note_payer(self, payer: Ledger | None) -> None:
        """Keep which ledger knows all of the receipt; another receipt in its place is none of that ledger's."""
        if self._model.warm_start and payer is not None:
            self._model._paid_by = payer.identity, told_apart(self._model.privacy_)

    def _place(self, plan: Plan, name: str, given: Any, free: Any) -> Array:
        """Return coefficients, and intercepts, as parameters of the solver."""
        columns = plan.fits if plan.fits > 1 else math.prod(plan.task.shape[1:])
        start, d = np.zeros((plan.public.width, columns)), plan.public.n_features
        shift, unit = self._model._units()
        if given is not None:
            start[:d] = _numbers(name, given, (columns, d)).T * plan.data_norm
        if self._model.fit_intercept and free is not None:
            start[-1] = _numbers("intercept_init", free, (columns,)) - shift
            start[-1] /= plan.public.intercept
        start /= unit
        if not np.abs(start).max(initial=0.0) <= _FURTHEST:
            raise ValueError(
                f"{name} exceeds 1e30 once rows are scaled by data_norm; give smaller coefficients."
            )
        one = plan.fits == 1 and len(plan.task.shape) == 1
        return start[:, 0] if one else start


def _numbers(name: str, given: Any, shape: tuple[int, ...]) -> Array:
    given = given.toarray() if issparse(given) else given  # after `sparsify`
    found, wrong = attempt(lambda: np.asarray(given, dtype=np.float64))
    if wrong is not None or found.size != math.prod(shape) or not np.isfinite(found).all():
        told = " x ".join(map(str, shape))
        raise ValueError(f"{name} must hold {told} finite numbers, as many as the fit has.")
    return found.reshape(shape)
