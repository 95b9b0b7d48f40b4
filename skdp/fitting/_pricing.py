"""What a plan will ask, priced without a run: from the solver's own statement, or from a run on an empty vault."""

from ..mechanisms import Oracle, Records, Silence, Statement, state
from ..privacy.ledger import Filter, Recorder
from ..solvers import Budget
from ._threads import one_thread
from .plan import Plan

__all__ = ["rehearse"]


def rehearse(plan: Plan, budget: Budget) -> Statement:
    """The questions of a run, priced; what public numbers make impossible is refused here, before anything is paid.

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
    asked = plan.solver.asks(plan.public, plan.task, budget)
    return _run_on_nothing(plan, budget) if asked is None else state(asked, plan.public)


def _run_on_nothing(plan: Plan, budget: Budget) -> Statement:
    """The same code runs on a vault without records, as many steps as a fit."""
    account = Filter(plan.spec, plan.solver.filter) if plan.solver.adaptive else Recorder()
    oracle = Oracle(Records.blank(plan.public), account, Silence())
    with one_thread():
        plan.solver.solve(oracle, plan.task, budget)
    return Statement(account.script, *oracle.rests_on())
