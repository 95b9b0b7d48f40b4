"""What a fit buys first where classes weigh by how many records they have: one count of each, in one script with it."""

from __future__ import annotations

import math

from ..exceptions import NotSupported
from ..mechanisms import CellCounts, Public, Statement, state
from ..privacy.events import merged
from ..solvers import Budget
from .plan import Balance, Plan

__all__ = ["HIDDEN", "counts_asked", "of_codes", "refuse_unbalanced", "unpriced", "with_balance"]

HIDDEN = (
    2.0  # deviations of the noise on a count below which a class counts as one of so many records
)


def refuse_unbalanced(plan: Plan) -> None:
    """Refuse, before anything is paid, what has no proof beside counts of classes.

    Parameters
    ----------
    plan : Plan
        What would be run.
    """
    if plan.spec.private and plan.spec.delta == 0.0:
        raise _refusal("delta=0 has no price for their Gaussian noise")
    if plan.solver.adaptive:
        raise _refusal(f"solver={plan.solver.name!r} finds its prices as it goes")


def unpriced(plan: Plan) -> NotSupported:
    """What to say of a solver whose price counts on a penalty that the weights decide.

    Parameters
    ----------
    plan : Plan
        What would be run.
    """
    return _refusal(
        f"the price of solver={plan.solver.name!r} depends on the strength of the penalty over weights, which follow "
        "from them"
    )


def _refusal(wrong: str) -> NotSupported:
    return NotSupported(
        f"class_weight='balanced' buys counts of the classes, and {wrong}; declare weights from what is public of the "
        "classes, {label: n / (n_classes * m)} for a label of about m records, or use solver='auto'."
    )


def of_codes(public: Public, balance: Balance) -> Public:
    """Facts about a table of one column, of which the targets alone are asked.

    Parameters
    ----------
    public : Public
        Of the rows of a fit.
    balance : Balance
        Says how many classes there are.
    """
    return Public(
        public.n,
        1,
        0.0,
        public.neighbors,
        target_bound=balance.classes - 1.0,
        rows=public.rows,
        weighted=public.weighted,
    )


def counts_asked(plan: Plan, balance: Balance, budget: Budget) -> CellCounts:
    """Counts of classes: a replaced record moves a gradient by two bounds, and these by sqrt(2).

    Parameters
    ----------
    plan : Plan
        What would be run.
    balance : Balance
        Its own.
    budget : Budget
        The solver's.
    """
    whole = budget.noise * math.sqrt(plan.left / plan.fits)
    moved = math.sqrt(balance.share * plan.public.sensitivity_factor)
    return CellCounts(cells=balance.classes, multiplier=whole / moved)


def with_balance(stated: Statement, plan: Plan, balance: Balance, budget: Budget) -> Statement:
    """What a run asks, where counts of classes are bought before all else.

    Parameters
    ----------
    stated : Statement
        Of all else.
    plan : Plan
        What would be run.
    balance : Balance
        Its own.
    budget : Budget
        The solver's.
    """
    question = counts_asked(plan, balance, budget)
    counts = state([(question, 1)], of_codes(plan.public, balance))
    pages = dict.fromkeys(["class_weights", *counts.proofs, *stated.proofs])
    note = (
        f"what each of {balance.classes} classes weighs is bought, by noisy counts for {balance.share:.2g} of the "
        f"budget in mu squared; a class of fewer than {math.ceil(HIDDEN * question.multiplier)} records or so counts "
        "as one of so many"
    )
    notes = dict.fromkeys([note, *counts.notes, *stated.notes])
    return Statement(merged([*counts.script, *stated.script]), tuple(pages), tuple(notes))
