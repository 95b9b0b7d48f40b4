"""What a plan will ask, priced without a run: from the solver's own statement, or from a run on an empty vault."""

from dataclasses import dataclass

from ..mechanisms import Oracle, Records, Silence, price
from ..privacy.ledger import Filter, Recorder
from ._threads import one_thread

__all__ = ["Rehearsal", "rehearse"]


@dataclass(frozen=True)
class Rehearsal:
    """What a run with a budget would ask.

    Parameters
    ----------
    script : tuple of (Event, int)
        What it costs, in order.
    proofs : tuple of str
        Pages that the answers would rest on.
    notes : tuple of str
        What a receipt should say besides.
    """

    script: tuple
    proofs: tuple
    notes: tuple


def rehearse(plan, budget):
    """The questions of a run, priced; what public numbers make impossible is refused here, before anything is paid.

    Parameters
    ----------
    plan : Plan
        What would be run.
    budget : Budget
        What it may spend.

    Returns
    -------
    Rehearsal
    """
    stated = plan.solver.asks(plan.public, plan.task, budget)
    if stated is None:
        return _run_on_nothing(plan, budget)
    recorder, kinds = Recorder(), {}
    for question, count in stated:
        recorder.charge(price(question, plan.public), count)
        kinds.setdefault((question.proofs(), type(question)), question)
    questions = kinds.values()
    return Rehearsal(
        recorder.script,
        tuple(dict.fromkeys(page for question in questions for page in question.proofs())),
        tuple(note for question in questions for note in question.notes(plan.public)),
    )


def _run_on_nothing(plan, budget):
    """The same code runs on a vault without records, as many steps as a fit."""
    account = Filter(plan.spec, plan.solver.filter) if plan.solver.adaptive else Recorder()
    oracle = Oracle(Records.blank(plan.public), account, Silence())
    with one_thread():
        plan.solver.solve(oracle, plan.task, budget)
    return Rehearsal(account.script, oracle.proofs, oracle.notes)
