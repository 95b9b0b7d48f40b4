"""Starting point of an iteration: public coefficients, or those of an earlier fit.

Privacy: no price depends on where a solver begins, and coefficients that are declared public are the user's word. A fit
that begins where the last one ended depends on records by both, and its receipt speaks of both.

Warm starts: a fit that begins at the coefficients of an earlier one; one statement covers the cost of both.

Privacy: given the earlier answers, the later fit is one that begins at public coefficients, and no price depends on
where a solver begins. So both are one sequence, which is priced as one script (docs/proofs/warm_start.md).
"""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from .._fingerprint import fingerprint, told_apart
from ..entry import Array, attempt
from ..exceptions import NotSupported
from ..privacy import accountants
from ..privacy._arithmetic import round_up
from ..privacy.events import Script, merged
from ..privacy.events._written import after_answers
from ..privacy.receipt import Receipt
from ..privacy.spec import Spec
from ._provenance import find_surroundings, merge_around
from .plan import Plan

if TYPE_CHECKING:
    from ..privacy import Ledger

__all__ = ["COEF_INIT", "INTERCEPT_INIT", "WARM_START", "Start", "ZeroStart"]


BEGUN = "an earlier fit"  # where a receipt says that it begins
_ANEW = "fit anew with warm_start=False"
_KEPT = "coef_", "intercept_"


def earlier_of(model: Any) -> tuple[Receipt, Any, Any]:
    """The receipt of the fit that left an estimator's coefficients, and these; refused where it does not count all.

    What is hashed is what is handed on: a copy of what the estimator itself holds, whatever a subclass shows in its
    place and another thread writes into it.

    Parameters
    ----------
    model : estimator
        With coefficients, or a receipt.

    Returns
    -------
    receipt : Receipt
        Of all fits before.
    coef, intercept : array, sparse array or float
        What it speaks of.
    """
    fitted = dict(vars(model))
    kept = {name: copy.deepcopy(fitted[name]) for name in _KEPT if name in fitted}
    receipt, here = fitted.get("privacy_"), fingerprint(SimpleNamespace(**kept))
    told = receipt.model if isinstance(receipt, Receipt) else {}
    if not isinstance(receipt, Receipt) or any(told.get(n, "") != here.get(n) for n in _KEPT):
        raise NotSupported(
            "warm_start=True begins at coef_ and intercept_, but these are not the ones that the receipt in privacy_ "
            f"covers; {_ANEW}, or declare public ones in coef_init of a new estimator."
        )
    if receipt.unspent is not None:
        raise NotSupported(
            f"warm_start=True begins at a fit by {receipt.solver}, whose questions depended on earlier answers, so "
            f"its script cannot be added to another; {_ANEW}, by 'gd', 'sgd' or 'adam'."
        )
    bought = [n for n in ("data_norm", "y_bounds") if f"{n}_" in fitted]
    if bought:
        raise NotSupported(
            f"warm_start=True begins at a fit with {bought[0]}=None, whose coefficients are on a privately estimated "
            f"scale; declare {bought[0]}, and {_ANEW}."
        )
    if "_behind" in fitted:
        raise NotSupported(
            f"warm_start=True begins at a fit behind {fitted['_behind']}, which paid for facts that the coefficients "
            f"reveal, and no receipt of this sequence counts that cost; {_ANEW}."
        )
    return receipt, *kept.values()


def refuse_other_classes(before: Any, now: Any) -> None:
    """Refuse labels that differ from those of the earlier fit, to which the coefficients belong.

    Parameters
    ----------
    before, now : ndarray
        Labels, sorted.
    """
    if not np.array_equal(before, now):
        raise NotSupported(
            f"warm_start=True cannot continue with {len(now)} classes that are not the {len(before)} of the earlier "
            f"fit; keep them, or {_ANEW}."
        )


def that_buys() -> str | None:
    """Return the first paying step in front of a fit, as told by the pipelines around it."""
    told = find_surroundings()
    return None if told is None or not told.paying else told.paying[0]


def refuse_untold(context: Any) -> None:
    """Refuse to continue inside a meta-estimator that does not tell which steps stand in front.

    No theorem needs it: what a step in front pays at each fit is on its own receipts, and a ledger counts it. But only
    the receipt of its last fit is kept, so that nobody could add up what such a pipeline has cost.

    Parameters
    ----------
    context : sklearn.callback.CallbackContext or None
        Of the fit; None before scikit-learn 1.9, where nothing is known of what is around.
    """
    if context is not None and context.parent is not None and find_surroundings() is None:
        raise NotSupported(
            f"warm_start=True cannot continue inside a {context.parent.estimator_name}, which does not tell the fit "
            f"which steps stand in front of it; use skdp.make_pipeline, or {_ANEW}."
        )


def refuse_bought_rows(name: str | None) -> None:
    """Refuse a pipeline whose steps pay anew at each fit: no receipt keeps what they paid before.

    Parameters
    ----------
    name : str or None
        Of such a step, where there is one.
    """
    if name is not None:
        raise NotSupported(
            f"warm_start=True behind {name}: the pipeline fits that step anew each time, and coefficients on its "
            "earlier scale would reveal more than any receipt counts; fit the step once, outside, or leave "
            "warm_start out."
        )


def refuse_unlike(earlier: Receipt, plan: Plan, coef: Any) -> None:
    """Refuse a fit that makes no sequence with the earlier one.

    Parameters
    ----------
    earlier : Receipt
        Of the earlier fit.
    plan : Plan
        Of this one.
    coef : array or sparse array
        What the earlier one left.
    """
    wrong = None
    found = np.atleast_2d(coef.toarray() if issparse(coef) else coef).shape
    columns = plan.fits if plan.fits > 1 else math.prod(plan.task.shape[1:])
    spec, wanted = plan.spec, (columns, plan.public.n_features)
    if found != wanted:
        told, past = (f"{n} columns and {k} outputs" for k, n in (wanted, found))
        wrong = f"{told}, where the earlier fit had {past}"
    elif earlier.neighbors != spec.neighbors:
        wrong = f"neighbors={spec.neighbors!r} after a fit with {earlier.neighbors!r}"
    elif (earlier.unit, earlier.rows) != (plan.unit, plan.public.rows):
        wrong = (
            f"a guarantee for a {plan.unit} of at most {plan.public.rows} rows after one for a {earlier.unit} of at "
            f"most {earlier.rows} (max_rows_per_group)"
        )
    elif spec.private and math.isinf(earlier.epsilon):
        wrong = (
            f"epsilon={round_up(spec.epsilon)} after a fit with epsilon=inf, which is not private"
        )
    if wrong is not None:
        raise NotSupported(f"warm_start=True cannot continue with {wrong}; keep it, or {_ANEW}.")


def joint(earlier: Script, later: Script) -> Script:
    """Return the script of both parts; the second may have been chosen after the answers to the first.

    Parameters
    ----------
    earlier, later : tuple of (Event, int)
        In their order.
    """
    return after_answers(merged((*earlier, *later))) if earlier else later


def priced_jointly(
    earlier: Receipt, later: Script, spec: Spec, accountant: str
) -> tuple[float, str]:
    """Epsilon of both at this fit's delta, and by which theorem; refused where none gives any.

    Parameters
    ----------
    earlier : Receipt
        Of the earlier fit.
    later : tuple of (Event, int)
        Script of this one.
    spec : Spec
        Its promise.
    accountant : str
        "auto" for the tightest.
    """
    given = joint(earlier.script, later), spec.delta, spec.neighbors, accountant
    price = accountants.epsilon(*given)
    if spec.private and math.isinf(price):
        raise NotSupported(
            f"delta={round_up(spec.delta)} leaves the earlier fit of a warm start without a price; give "
            f"delta={round_up(earlier.delta)}, or {_ANEW}."
        )
    script, delta, neighbors, accountant = given
    return price, accountants.choose(script, neighbors, delta, accountant)


def continued(earlier: Receipt, receipt: Receipt, accountant: str) -> Receipt:
    """The receipt of a fit as that of the whole sequence.

    Parameters
    ----------
    earlier : Receipt
        Of all fits before.
    receipt : Receipt
        Of this one by itself.
    accountant : str
        Who prices the whole.
    """
    spec = Spec(receipt.epsilon, receipt.delta, receipt.neighbors)
    price, by = priced_jointly(earlier, receipt.script, spec, accountant)
    note = (
        f"a warm start from the coefficients of an earlier fit (epsilon = {round_up(earlier.epsilon)}, delta = "
        f"{round_up(earlier.delta, 3)}); the guarantee covers both together, and this fit by itself costs epsilon = "
        f"{round_up(receipt.epsilon)}; the cost of steps in front of either is not counted here"
    )
    return replace(
        receipt,
        epsilon=price,
        accountant=by,
        script=joint(earlier.script, receipt.script),
        solver=_in_turn(earlier.solver, receipt.solver),
        proofs=_once(*earlier.proofs, *receipt.proofs, "warm_start"),
        notes=_once(*earlier.notes, *receipt.notes, note),
        declared=_declared(earlier.declared, receipt.declared),
        seeded=earlier.seeded or receipt.seeded,
        around=merge_around(earlier.around, receipt.around),
        tuning=_in_turn(earlier.tuning, receipt.tuning),
        releases=_in_turn(earlier.releases, receipt.releases),
    )


def _in_turn(before: str, after: str) -> str:
    return before if before.split(", then ")[-1] == after else f"{before}, then {after}"


def _once(*texts: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _declared(before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """Merge the declared facts of earlier fits with those of this one; values that changed go under "earlier_..."."""
    found = now = dict(now)
    for name, value in before.items():
        if name.startswith("earlier_"):
            found[name] = [*value, *found.get(name, ())]
        elif now.setdefault(name, value) != value:
            found[f"earlier_{name}"] = [*found.get(f"earlier_{name}", ()), value]
    return found


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
