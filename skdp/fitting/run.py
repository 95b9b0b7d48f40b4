"""The seam of every fit: `prepare` prices a plan, ``Run.on`` pays for it and runs it on records."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..mechanisms import Noise, Oracle, Records, Statement
from ..mechanisms._oracle import Account
from ..privacy.events import Script
from ..privacy.ledger import Recorder, Scripted
from ..privacy.receipt import Receipt
from ..solvers import Budget
from ._circumstances import position, today, version
from ._expected import expected_error
from ._heard import Heard
from ._pricing import filter_of, priced, shared_budget
from ._progress import Told, finish, with_progress, with_progress_bar
from ._share import Share
from ._tables import Array
from ._threads import one_thread
from ._warm import continued, joint, priced_jointly
from ._weak import warn_of_noise, warn_of_promise
from .plan import Plan

if TYPE_CHECKING:
    from ..privacy import Ledger
    from ..privacy.ledger import Filter

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
    order = None if ledger is None else ledger.renyi_order
    noise, stated = priced(plan, order if plan.solver.adaptive else None)
    if plan.solver.adaptive:
        account = filter_of(plan, order)
        return Run(plan, account, shared_budget(plan, account), stated, ledger)
    script = Scripted(plan.spec, stated.script, plan.accountant)
    if plan.earlier is not None:
        priced_jointly(plan.earlier, stated.script, plan.spec, plan.accountant)
    return Run(plan, script, plan.budget(noise=noise), stated, ledger)


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
    around : tuple of str or None
        What stands around it, as on its receipt.
    """

    plan: Plan
    account: Scripted | Filter
    budget: Budget
    statement: Statement
    ledger: Ledger | None = None
    around: tuple[str, ...] | None = None

    def on(
        self,
        records: Any,
        noise: Noise,
        verbose: int = 0,
        heard: Heard | None = None,
        told: Told | None = None,
    ) -> tuple[Array, Receipt]:
        """Pay, run on admitted records, and account for it.

        Parameters
        ----------
        records : Records, tuple of Records, Unscaled or Balanced
            The vault, one for each target, or a table of which scales, or counts of classes, are bought first.
        noise : Noise
            Where answers' randomness comes from.
        verbose : int
            2 or more for a progress bar.
        heard : Heard or None
            Who listens to answers.
        told : Told or None
            Who is told of questions.

        Returns
        -------
        w : ndarray
            The solver's parameters.
        receipt : Receipt
            What was spent.
        """
        plan = self.plan
        warn_of_promise(plan.spec, plan.public.n)
        warn_of_noise(expected_error(plan, self.budget))
        account = with_progress_bar(self.account, plan.solver.name, verbose)
        account = account if told is None else with_progress(account, told)
        stood = self._pay()
        with one_thread():
            w, rests_on = self._begun(records, account, noise, heard)
        if told is not None or verbose > 1:
            finish(account)
        receipt = self._receipt(self.account.script, *rests_on, noise.seeded)
        return w, replace(receipt, date=today(), ledger=stood)

    @property
    def charge(self) -> Script:
        """What a shared ledger is charged: the script, and what it has not been charged of the fits before."""
        return joint(self.plan.owed, self.statement.script)

    def _pay(self) -> dict[str, Any] | None:
        """Charge the shared ledger for all that may be asked; where it stood before and after."""
        if self.ledger is None:
            return None
        before = self.ledger.spent
        return position(
            self.ledger, before, self.ledger.reserve(self.charge, self.plan.solver.name)
        )

    def _begun(
        self, records: Any, account: Account, noise: Noise, heard: Heard | None
    ) -> tuple[Array, tuple[tuple[str, ...], tuple[str, ...]]]:
        """What `_solved` returns, once is bought what was not declared."""
        if isinstance(records, Records | tuple):
            return self._solved(records, account, noise, heard)
        vault = records.bought(self.budget, lambda table: Oracle(table, account, noise))
        if not self.plan.spec.private:  # the script was stated before what was bought was known
            account = Recorder()
        return replace(self, plan=records.plan)._solved(vault, account, noise, heard)

    def _solved(
        self, records: Any, account: Account, noise: Noise, heard: Heard | None
    ) -> tuple[Array, tuple[tuple[str, ...], tuple[str, ...]]]:
        """Parameters, a column for each fit where there are several, and what they rest on."""
        plan, fits = self.plan, self.plan.fits
        if fits == 1:
            oracle, stated = Oracle(records, account, noise), self.statement
            shown = oracle if heard is None else heard.beside(oracle)
            w = plan.solver.solve(shown, plan.task, self.budget)
            # A script is what was stated, event by event: the account has held the run to it.
            return w, oracle.rests_on() if plan.solver.adaptive else (stated.proofs, stated.notes)
        pages: dict[str, None] = {}
        notes: dict[str, None] = {}
        columns = []
        for code in range(fits):
            share = Share(account, fits) if plan.solver.adaptive else account
            of_one = records[code] if plan.targets > 1 else records.one_against_rest(code)
            oracle = Oracle(of_one, share, noise)
            shown = oracle if heard is None else heard.beside(oracle)
            columns.append(plan.solver.solve(shown, plan.task.of_one(code), self.budget))
            pages |= dict.fromkeys(oracle.proofs)
            notes |= dict.fromkeys(oracle.notes)
        stated = self.statement
        rests_on = (
            (tuple(pages), tuple(notes)) if plan.solver.adaptive else (stated.proofs, stated.notes)
        )
        return np.stack(columns, axis=-1), rests_on

    def quote(self) -> Receipt:
        """The receipt that a run would carry; nothing is spent."""
        stated = self.statement
        return self._receipt(stated.script, stated.proofs, stated.notes, seeded=False)

    def _receipt(
        self, script: Script, proofs: tuple[str, ...], notes: tuple[str, ...], seeded: bool
    ) -> Receipt:
        plan, spec, account = self.plan, self.plan.spec, self.account
        unspent: float | None = None
        order: int | None = None
        if isinstance(account, Scripted):
            cost, accountant = account.cost, account.accountant
        else:
            cost, accountant = spec.epsilon, f"{plan.solver.filter} filter"
            unspent, order = account.unspent, account.order
        receipt = Receipt(
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
            order=order,
            unit=plan.unit,
            rows=plan.public.rows,
            version=version(),
            around=self.around,
            standard_error=expected_error(plan, self.budget),
        )
        earlier = plan.earlier
        return receipt if earlier is None else continued(earlier, receipt, plan.accountant)
