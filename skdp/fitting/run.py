"""The seam of every fit: `prepare` prices a plan, ``Run.on`` pays for it and runs it on a table.

Standard error that noise adds to a model, in the user's units: from public numbers, so it reveals no record.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..entry import Array
from ..losses import Logistic
from ..mechanisms import Noise, Statement
from ..mechanisms._mechanism import Mechanism
from ..mechanisms._oracle import Account
from ..privacy.events import Script
from ..privacy.ledger import Scripted
from ..privacy.receipt import Receipt
from ..solvers import Budget
from ..solvers._solver import OracleLike
from ._payer import warn_of_noise
from ._pricing import filter_of, priced, priced_as_before, shared_budget
from ._progress import Ticking, Told, finish, length_of, with_progress_bar
from .plan import Plan, Purchase
from .program import Program, Viewed, Window
from .stages import Known
from .starting import continued, joint, priced_jointly

if TYPE_CHECKING:
    from ..privacy import Ledger
    from ..privacy.ledger import Filter

__all__ = ["Fitted", "Heard", "Run", "prepare"]


def expected_error(plan: Plan | Purchase, budget: Budget) -> dict[str, Any]:
    """Return the standard errors that a receipt states; empty where public numbers do not give them.

    They hold for a table whose rows are alike in all directions. The squared error of a score is spread evenly over
    the d coefficients: each gets a d-th part, divided by the variance that its column has beside the others.

    Parameters
    ----------
    plan : Plan or Purchase
        What is run; a purchase has no model.
    budget : Budget
        Of its solver.
    """
    if isinstance(plan, Purchase):
        return {}
    logistic = type(plan.task.loss) is Logistic
    if plan.base_rate is not None and not (logistic and plan.fits == 1):
        raise ValueError(
            f"base_rate={plan.base_rate!r} is for two labels and a logistic loss; leave it out here."
        )
    error_of = plan.solver.nominal_error
    if plan.fits > 1 or not plan.spec.private or error_of is None:
        return {}
    score = None
    # Numbers too large for a figure are no reason to refuse a fit.
    with np.errstate(all="ignore"), suppress(ArithmeticError, ValueError):
        rate = 0.5 if plan.base_rate is None else float(plan.base_rate)
        score = error_of(plan.public, plan.task, budget, rate)
    if score is None or not math.isfinite(score):
        return {}
    unit = "log-odds" if logistic else "deviations of residuals"
    coefficient = score / math.sqrt(plan.public.width)
    told = {"score": score, "coefficient": coefficient, "unit": unit}
    return told if plan.base_rate is None else told | {"base_rate": float(plan.base_rate)}


def prepare(plan: Plan | Purchase, ledger: Ledger | None = None) -> Run:
    """Price a plan, and refuse what public numbers rule out; nothing is touched or paid.

    Parameters
    ----------
    plan : Plan or Purchase
        What is to be run.
    ledger : Ledger or None
        A budget shared by several fits, which a run would be charged to.

    Returns
    -------
    Run
        One run of the plan.
    """
    order = None if ledger is None else ledger.renyi_order
    noise, stated = priced(plan, order if plan.adaptive else None)
    if isinstance(plan, Plan) and plan.adaptive:
        account = filter_of(plan, order)
        return Run(plan, account, shared_budget(plan, account), stated, ledger)
    script = Scripted(plan.spec, stated.script, plan.accountant)
    if plan.earlier is not None:
        priced_jointly(plan.earlier, stated.script, plan.spec, plan.accountant)
    return Run(plan, script, plan.budget(noise=noise), stated, ledger)


@dataclass(frozen=True, eq=False)
class Fitted:
    """Result of a run, made of answers.

    Parameters
    ----------
    w : ndarray or None
        The solver's parameters, a column for each fit where there are several; None without a solver.
    plan : Plan or Purchase
        As it was run, once all was bought.
    known : Known
        What was bought.
    asked : int
        Questions of the solver, without those that bought something.
    """

    w: Array | None
    plan: Plan | Purchase
    known: Known
    asked: int = 0


@dataclass(frozen=True)
class Run:
    """Priced run of a plan, which has not been paid for yet.

    Parameters
    ----------
    plan : Plan or Purchase
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

    plan: Plan | Purchase
    account: Scripted | Filter
    budget: Budget
    statement: Statement
    ledger: Ledger | None = None
    around: tuple[str, ...] | None = None

    def on(
        self,
        table: Viewed,
        noise: Noise,
        verbose: int = 0,
        heard: Heard | None = None,
        told: Told | None = None,
    ) -> tuple[Fitted, Receipt]:
        """Pay, estimate what was not declared, solve, and write the receipt.

        Parameters
        ----------
        table : Table
            What the user gave.
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
        fitted : Fitted
            What was made of answers.
        receipt : Receipt
            What was spent.
        """
        plan = self.plan
        warn_of_noise(expected_error(self.plan, self.budget))
        followed: list[Account] = []

        def follow(account: Account) -> Account:
            account = with_progress_bar(account, plan.name, verbose, length_of(self.account))
            followed.append(account if told is None else Ticking(account, told))
            return followed[0]

        work = partial(self._work, heard=heard)
        fitted, receipt = self._program.run(table, noise, work, plan.first_views(), follow)
        finish(followed[0])
        asked = _length(receipt.script) - self._beside_the_solver
        return replace(fitted, asked=asked), self._told(receipt)

    @property
    def _beside_the_solver(self) -> int:
        """Return the number of questions of stages before and behind the solver."""
        plan, budget = self.plan, self.budget
        stages = plan.bought if isinstance(plan, Purchase) else (*plan.bought, *plan.after)
        stated = (stage.state(plan, plan.noise_of(k, budget)) for k, stage in enumerate(stages))
        return sum(_length(one.script) for one in stated)

    @property
    def charge(self) -> Script:
        """Return the script that a shared ledger is charged: this run, and what it still owes for the fits before."""
        return joint(self.plan.owed, self.statement.script)

    @property
    def _program(self) -> Program:
        plan = self.plan
        return Program(
            plan.spec,
            plan.title,
            self.statement,
            self.account,
            plan.public.n,
            self.ledger,
            self.charge,
            plan.name,
            plan.fits if plan.adaptive else 0,
            held=isinstance(plan, Purchase) or not plan.bought,
        )

    def _work(self, window: Window, heard: Heard | None) -> Fitted:
        """Ask stage by stage; each may change how the next ones see records, and no price."""
        plan, budget, known = self.plan, self.budget, Known()
        for k, stage in enumerate(plan.bought):
            noise = self.plan.noise_of(k, budget)
            known = stage.run(window, self.plan, noise, budget, known)
            if isinstance(plan, Plan):
                plan = priced_as_before(plan, known, budget)
        if isinstance(plan, Purchase):
            return Fitted(None, plan, known)
        w = _solve(window, plan, budget, known, heard)
        for k, stage in enumerate(plan.after, len(plan.bought)):
            noise = self.plan.noise_of(k, budget)
            known = stage.run(window, plan, noise, budget, replace(known, w=w))
        return Fitted(w, plan, known)

    def quote(self) -> Receipt:
        """The receipt that a run would carry; nothing is spent."""
        return self._told(self._program.quote())

    def _told(self, receipt: Receipt) -> Receipt:
        """The receipt with what the plan says of itself."""
        plan = self.plan
        receipt = replace(
            receipt,
            declared=dict(plan.declared),
            unit=plan.unit,
            rows=plan.public.rows,
            around=self.around,
            standard_error=expected_error(self.plan, self.budget),
        )
        earlier = plan.earlier
        return receipt if earlier is None else continued(earlier, receipt, plan.accountant)


def _solve(window: Window, plan: Plan, budget: Budget, known: Known, heard: Heard | None) -> Array:
    """Return the solver's parameters, a column for each fit where there are several; its vault is let go of."""
    view, columns = plan.view(known), []
    for code in range(plan.fits):
        task = plan.task if plan.fits == 1 else plan.task.of_one(code)
        oracle = window(view, None if plan.fits == 1 else code)
        shown = oracle if heard is None else heard.beside(oracle)
        columns.append(plan.solver.solve(shown, task, budget))
    return columns[0] if plan.fits == 1 else np.stack(columns, axis=-1)


def _length(script: Script) -> int:
    """Return the number of questions of a script."""
    return sum(count for _, count in script)


class Heard:
    """Log of the answers to some kinds of questions.

    Parameters
    ----------
    kind : type of Mechanism, or several
        Which questions.
    """

    def __init__(self, kind: type[Mechanism] | tuple[type[Mechanism], ...]) -> None:
        self.kind = kind
        self.answers: list[tuple[Mechanism, Array]] = []

    @classmethod
    def of(cls, kind: type[Mechanism] | tuple[type[Mechanism], ...] | None) -> Heard | None:
        """Return a log of answers of this kind; None where there is nothing to log."""
        return cls(kind) if kind else None

    def beside(self, oracle: OracleLike) -> OracleLike:
        """Return the oracle as a solver sees it, with this log attached."""
        return _Listened(oracle, self)


class _Listened:
    """Oracle that logs answers on their way to a solver."""

    def __init__(self, oracle: OracleLike, heard: Heard) -> None:
        self._oracle, self._heard = oracle, heard
        self.public = oracle.public

    def share(self, question: Mechanism) -> float:
        """Ask the oracle for its share."""
        return self._oracle.share(question)

    def ask(self, question: Mechanism) -> Array:
        """The oracle's answer."""
        answer = self._oracle.ask(question)
        if isinstance(question, self._heard.kind):
            self._heard.answers.append((question, answer.copy()))
        return answer

    def affords(self, *questions: Mechanism) -> bool:
        """Ask the oracle if it affords the questions."""
        return self._oracle.affords(*questions)
