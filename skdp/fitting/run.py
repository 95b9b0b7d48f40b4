"""The seam of every fit: `prepare` prices a plan, ``Run.on`` pays for it and runs it on records."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cache

from ..exceptions import NotSupported, PrivacyWarning
from ..mechanisms import Noise, Oracle, Records, Statement, price
from ..privacy import Ledger, accountants
from ..privacy.events import Script
from ..privacy.ledger import Filter, Scripted
from ..privacy.receipt import Receipt
from ..solvers import Budget
from ._pricing import rehearse
from ._progress import with_progress_bar
from ._tables import Array
from ._threads import one_thread
from ._warning import frames_to_caller
from .plan import Plan

__all__ = ["Run", "prepare"]


def prepare(plan: Plan, ledger: Ledger | None = None) -> Run:
    """Price a plan; nothing has been touched or paid, and what can be refused by public numbers has been.

    Parameters
    ----------
    plan : Plan
        What is to be run.
    ledger : Ledger or None
        A budget shared by several fits, which a run would be charged to.

    Returns
    -------
    Run
        One run of the plan.
    """
    if plan.solver.adaptive:
        return _adaptive(plan, ledger)

    @cache
    def rehearsal(noise: float) -> Statement:
        return rehearse(plan, plan.budget(noise=noise))

    scale, script = accountants.calibrate(
        lambda noise: rehearsal(noise).script, plan.spec, plan.accountant
    )
    account = Scripted(plan.spec, script, plan.accountant)
    return Run(plan, account, plan.budget(noise=scale), rehearsal(scale), ledger)


@dataclass(frozen=True)
class Run:
    """One run of a plan, priced and not yet paid for.

    Parameters
    ----------
    plan : Plan
        What is run.
    account : Account
        Holds the run to what was priced.
    budget : Budget
        The solver's view of it.
    statement : Statement
        What the run asks, and costs at most: a shared ledger is charged for it before a record is touched.
    ledger : Ledger or None
        The shared one.
    """

    plan: Plan
    account: Scripted | Filter
    budget: Budget
    statement: Statement
    ledger: Ledger | None = None

    def on(self, records: Records, noise: Noise, verbose: int = 0) -> tuple[Array, Receipt]:
        """Pay, run on admitted records, and account for it.

        Parameters
        ----------
        records : Records
            The vault.
        noise : Noise
            Where answers' randomness comes from.
        verbose : int
            2 or more for a progress bar.

        Returns
        -------
        w : ndarray
            The solver's parameters.
        receipt : Receipt
            What was spent.
        """
        plan = self.plan
        if not plan.spec.private:
            warnings.warn(
                "epsilon=inf adds no noise: the result is NOT private; use it for debugging only.",
                PrivacyWarning,
                stacklevel=frames_to_caller(),
            )
        account = with_progress_bar(self.account, plan.solver.name, verbose)
        oracle = Oracle(records, account, noise)
        if self.ledger is not None:
            self.ledger.reserve(self.statement.script)
        with one_thread():
            w = plan.solver.solve(oracle, plan.task, self.budget)
        return w, self._receipt(self.account.script, *oracle.rests_on(), noise.seeded)

    def quote(self) -> Receipt:
        """The receipt that a run would carry; nothing is spent."""
        stated = self.statement
        return self._receipt(stated.script, stated.proofs, stated.notes, seeded=False)

    def _receipt(
        self, script: Script, proofs: tuple[str, ...], notes: tuple[str, ...], seeded: bool
    ) -> Receipt:
        plan, spec, account = self.plan, self.plan.spec, self.account
        unspent: float | None = None
        if isinstance(account, Filter):
            cost, accountant = spec.epsilon, f"{plan.solver.filter} filter"
            unspent = account.unspent
        else:
            cost, accountant = account.cost, account.accountant
        return Receipt(
            epsilon=cost,
            delta=spec.delta,
            neighbors=spec.neighbors,
            accountant=accountant,
            script=script,
            solver=repr(plan.solver),
            proofs=proofs,
            notes=notes,
            declared=dict(plan.declared),
            seeded=seeded,
            unspent=unspent,
        )


def _adaptive(plan: Plan, ledger: Ledger | None) -> Run:
    """A run under a filter, whose whole allowance is its price."""
    account = _filter(plan, None if ledger is None else ledger.renyi_order)
    budget = plan.budget(share=lambda question: account.share(price(question, plan.public)))
    stated = rehearse(plan, budget)  # which refuses what it must, as where a script is priced
    return Run(plan, account, budget, replace(stated, script=account.allowance), ledger)


def _filter(plan: Plan, renyi_order: int | None) -> Filter:
    """The adaptive solver's filter.

    In a ledger kept at one Renyi order that order is the cheapest, unless it proves less than half of what the filter's
    own order does: then the ledger is charged at the filter's own.
    """
    if plan.spec.private and plan.spec.delta == 0.0:
        raise NotSupported(
            f"solver={plan.solver.name!r} needs delta > 0; for pure epsilon use solver='auto' or "
            "'objective-perturbation'."
        )
    own = Filter(plan.spec, plan.solver.filter)
    if own.order is None or renyi_order is None:
        return own
    try:
        shared = Filter(plan.spec, plan.solver.filter, renyi_order)
    except ValueError:  # that order proves nothing at this epsilon and delta
        return own
    least = 0.5 * own.total / own.order
    return shared if shared.total / renyi_order >= least or own.order < renyi_order else own
