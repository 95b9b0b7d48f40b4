"""Price of a plan before it runs: from the solver's own statement, or from a run on records that are not there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from ..exceptions import NotSupported
from ..losses import LOSSES
from ..mechanisms import Oracle, Records, Silence, Statement, price, state
from ..models import MODELS
from ..penalties import PENALTIES
from ..privacy import accountants
from ..privacy.events import merged
from ..privacy.ledger import Recorder
from ..solvers import CLASS_SOLVERS, SOLVERS, Budget, Task
from ._scores import one_thread
from .plan import Plan, Purchase
from .program import Share
from .stages import Known

if TYPE_CHECKING:
    from ..privacy.ledger import Filter

__all__ = ["filter_of", "priced", "priced_as_before", "rehearse", "shared_budget"]

_REMEMBERED = 256  # plans
_LASTING: tuple[tuple[Mapping[str, type], ...], ...] = (
    (LOSSES,),
    (MODELS,),
    (PENALTIES,),
    (SOLVERS, CLASS_SOLVERS),
)


def priced(plan: Plan | Purchase, renyi_order: int | None = None) -> tuple[float, Statement]:
    """Return the noise that meets the plan's guarantee, and the statement at that noise; equal plans are looked up.

    Parameters
    ----------
    plan : Plan
        What would be run.
    renyi_order : int or None
        Of a ledger that the filter of an adaptive solver would be charged to.

    Returns
    -------
    noise : float
        Of the solver's budget; not a number under a filter, whose rounds have each their own.
    statement : Statement
        What is asked; under a filter the first round, at the price of all it allows.
    """
    if isinstance(plan, Purchase):
        return _calibrated(plan)
    known = replace(plan, restate=None)  # no price depends on it, and it holds an estimator
    return (_remembered if _lasts(plan) else _priced)(known, renyi_order)


def _lasts(plan: Plan) -> bool:
    """Return True if equal plans always ask the same: an object of a class of the caller's own may change."""
    task = plan.task
    parts = (task.loss, plan.public.model, task.penalty.penalty, plan.solver)
    known = all(
        any(type(part) in room.values() for room in rooms) for part, rooms in zip(parts, _LASTING)
    )
    of_each = all(type(each.penalty) in PENALTIES.values() for each in task.each)
    return known and of_each and plan.hashable


def _priced(plan: Plan, renyi_order: int | None) -> tuple[float, Statement]:
    return _allowed(plan, renyi_order) if plan.solver.adaptive else _calibrated(plan)


_remembered = lru_cache(maxsize=_REMEMBERED)(_priced)


def _calibrated(plan: Plan | Purchase) -> tuple[float, Statement]:
    """Find the least noise at which the script meets the guarantee."""

    @cache
    def rehearsal(noise: float) -> Statement:
        return rehearse(plan, plan.budget(noise=noise))

    noise, _ = accountants.calibrate(
        lambda noise: rehearsal(noise).script, plan.spec, plan.accountant
    )
    if plan.spec.private and isinstance(plan, Plan):
        _refuse_prices_by_answers(plan, noise)
    return noise, rehearsal(noise)


def _refuse_prices_by_answers(plan: Plan, noise: float) -> None:
    """Refuse a solver whose prices would differ at the most extreme answers."""
    for stage in plan.bought:
        for task in stage.extremes():
            furthest = replace(plan, task=task)
            if _as_before(plan, furthest, plan.budget(noise=noise)) is plan:
                raise stage.refusal(
                    f"the price of solver={plan.solver.name!r} depends on the strength of the penalty over weights, "
                    "which follow from them"
                )


def _allowed(plan: Plan, renyi_order: int | None) -> tuple[float, Statement]:
    """A run under a filter, whose whole allowance is its price."""
    account = filter_of(plan, renyi_order)
    stated = rehearse(plan, shared_budget(plan, account))  # refuses what it must, as a script does
    return math.nan, replace(stated, script=account.allowance)


def shared_budget(plan: Plan, account: Filter) -> Budget:
    """Return the budget of an adaptive solver, whose questions take parts of the filter's allowance."""
    part = Share(account, plan.fits)
    return plan.budget(share=lambda question: part.share(price(question, plan.public)))


def rehearse(plan: Plan | Purchase, budget: Budget) -> Statement:
    """Price the questions of a run; what public numbers make impossible is refused before anything is paid.

    Parameters
    ----------
    plan : Plan
        What would be run.
    budget : Budget
        What it may spend.

    Returns
    -------
    Statement
    """
    stated = [stage.state(plan, plan.noise_of(k, budget)) for k, stage in enumerate(plan.bought)]
    scripts = [part.script for part in stated]
    if isinstance(plan, Plan):
        of_each = [_of_one(plan, task, budget) for task, _ in plan.tasks()]
        scripts.append(plan.script([part.script for part in of_each]))
        after = [
            stage.state(plan, plan.noise_of(k, budget))
            for k, stage in enumerate(plan.after, len(plan.bought))
        ]
        scripts += [part.script for part in after]
        stated += [*of_each, *after]
    pages = dict.fromkeys(page for part in stated for page in part.proofs)
    notes = dict.fromkeys(note for part in stated for note in part.notes)
    return Statement(
        merged([run for script in scripts for run in script]), tuple(pages), tuple(notes)
    )


def priced_as_before(plan: Plan, known: Known, budget: Budget) -> Plan:
    """Return the plan with privately estimated facts in it, or with its task unchanged where a price depends on them.

    Parameters
    ----------
    plan : Plan
        What is run.
    known : Known
        What was bought.
    budget : Budget
        The solver's.
    """
    told = known.norm, known.of_class, known.y_bounds
    if plan.restate is None or all(one is None for one in told):
        return plan  # bounds of columns alone change nothing that is minimised
    norm = plan.data_norm if known.norm is None else known.norm
    new = replace(plan, task=plan.restate(known), data_norm=norm)
    if known.bounds is None:
        plan = replace(plan, data_norm=norm)  # rows as they are: no price depends on their unit
    return _as_before(plan, new, budget) if plan.spec.private else new


def _as_before(plan: Plan, new: Plan, budget: Budget) -> Plan:
    """Return the new plan if it asks the same at the same prices, else the old one."""
    before = rehearse(plan, budget).script
    try:
        after = rehearse(new, budget).script
    # What was paid for is no reason to end without a model.
    except (NotSupported, ValueError):
        return plan
    return new if before == after else plan


def _of_one(plan: Plan, task: Task, budget: Budget) -> Statement:
    """Return the statement of what one fit asks."""
    asked = plan.solver.asks(plan.public, task, budget)
    return _run_on_nothing(plan, task, budget) if asked is None else state(asked, plan.public)


def _run_on_nothing(plan: Plan, task: Task, budget: Budget) -> Statement:
    """Run the solver's own code on a vault without records, for as many steps as a fit."""
    account = _filter(plan) if plan.solver.adaptive else Recorder()
    oracle = Oracle(Records.blank(plan.public), account, Silence())
    with one_thread():
        plan.solver.solve(oracle, task, budget)
    return Statement(account.script, *oracle.rests_on())


def filter_of(plan: Plan, renyi_order: int | None) -> Filter:
    """The adaptive solver's filter.

    In a ledger kept at one Renyi order that order is the cheapest, unless it proves less than half of what the filter's
    own order does: then the ledger is charged at the filter's own.
    """
    if plan.spec.private and plan.spec.delta == 0.0:
        raise NotSupported(
            f"solver={plan.solver.name!r} needs delta > 0; for pure epsilon use solver='auto' or "
            "'objective-perturbation'."
        )
    own = _filter(plan)
    if own.order is None or renyi_order is None:
        return own
    try:
        shared = _filter(plan, renyi_order)
    except ValueError:  # that order proves nothing at this epsilon and delta
        return own
    least = 0.5 * own.total / own.order
    return shared if shared.total / renyi_order >= least or own.order < renyi_order else own


def _filter(plan: Plan, order: int | None = None) -> Filter:
    """Make a filter that meets the plan's guarantee in the currency of its solver."""
    from ..privacy.ledger import Filter

    return Filter(plan.spec, plan.solver.filter, order)
