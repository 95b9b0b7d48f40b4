"""The one fit path that all estimators share: admit, rehearse, calibrate, pay, solve, account for it."""

import math
import warnings
from dataclasses import dataclass

from ..exceptions import NotSupported, PrivacyWarning
from ..mechanisms import Noise, Oracle, Public, Records, Silence
from ..privacy import accountants, events
from ..privacy import ledger as accounts
from ..privacy.receipt import Receipt
from ..privacy.spec import Spec
from ..solvers import Budget, Solver, Task, refuse_unfit
from ._progress import with_progress_bar
from ._threads import one_thread

__all__ = ["Plan", "private_fit", "quote", "rehearse"]


@dataclass(frozen=True)
class Plan:
    """All that is known before any data: what is promised, what is asked, and how.

    Parameters
    ----------
    spec : Spec
        The promise.
    task : Task
        What is minimised.
    solver : Solver
        Algorithm.
    public : Public
        Facts that the solver may know.
    accountant : str
        Which theorem prices a script; "auto" for the tightest valid one.
    declared : dict
        What the receipt is to call public.
    """

    spec: Spec
    task: Task
    solver: Solver
    public: Public
    accountant: str
    declared: dict

    def budget(self, **given):
        """The solver's view of the promise."""
        return Budget(self.spec.epsilon, self.spec.delta, **given)


def private_fit(plan, records, ledger=None, seed=None, verbose=0):
    """Run the plan on admitted records; return the parameters and the receipt.

    Parameters
    ----------
    plan : Plan
        What to do.
    records : Records
        The vault.
    ledger : Ledger or None
        Shared by several fits: it pays the whole allowance before a record is touched.
    seed : int or None
        None for operating-system entropy.
    verbose : int
        2 or more for a progress bar.

    Returns
    -------
    w : ndarray
        The solver's parameters.
    receipt : Receipt
        What was spent.
    """
    account, budget = _prepare(plan, ledger)
    if not plan.spec.private:
        warnings.warn(
            "epsilon=inf adds no noise: the result is NOT private; use it for debugging only.",
            PrivacyWarning,
            stacklevel=3,
        )
    noise = Noise(seed)
    oracle = Oracle(records, with_progress_bar(account, plan.solver.name, verbose), noise)
    if ledger is not None:
        if plan.solver.adaptive:
            # A scripted solver's refusals came with its rehearsal; an adaptive one's come here.
            quote(plan, ledger)
        ledger.reserve(_allowance(plan, account))
    w = _solve(plan, oracle, budget)
    return w, _receipt(plan, account, oracle, noise.seeded)


def quote(plan, ledger=None):
    """What a fit would cost and which noise it would add: a run on a vault without records."""
    account, budget = _prepare(plan, ledger)
    oracle = Oracle(Records.blank(plan.public), account, Silence())
    _solve(plan, oracle, budget)
    return _receipt(plan, account, oracle, seeded=False)


def rehearse(plan, noise):
    """The solver's script at one noise scale."""
    recorder = accounts.Recorder()
    oracle = Oracle(Records.blank(plan.public), recorder, Silence())
    _solve(plan, oracle, plan.budget(noise=noise))
    return recorder.script


def _solve(plan, oracle, budget):
    """Run the solver, with one BLAS thread."""
    with one_thread():
        return plan.solver.solve(oracle, plan.task, budget)


def _prepare(plan, ledger=None):
    """An account and a budget for one run; nothing has been touched or paid."""
    refuse_unfit(plan.solver, plan.task)
    if plan.solver.adaptive:
        account = _filter(plan, None if ledger is None else ledger.renyi_order)
        return account, plan.budget(total=account.total)
    scale = accountants.calibrate(lambda s: rehearse(plan, s), plan.spec, plan.accountant)
    script = rehearse(plan, scale)
    return accounts.Scripted(plan.spec, script, plan.accountant), plan.budget(noise=scale)


def _filter(plan, renyi_order):
    """The adaptive solver's filter.

    In a ledger kept at one Renyi order that order is the cheapest, unless it proves less than half of what the filter's
    own order does: then the ledger is charged at the filter's own.
    """
    if plan.spec.private and plan.spec.delta == 0.0:
        raise NotSupported(
            f"solver={plan.solver.name!r} needs delta > 0; for pure epsilon use solver='auto' or "
            "'objective-perturbation'."
        )
    own = accounts.Filter(plan.spec, plan.solver.filter)
    if own.order is None or renyi_order is None:
        return own
    try:
        shared = accounts.Filter(plan.spec, plan.solver.filter, renyi_order)
    except ValueError:  # that order proves nothing at this epsilon and delta
        return own
    least = 0.5 * own.total / own.order
    return shared if shared.total / shared.order >= least or own.order < renyi_order else own


def _allowance(plan, account):
    """What a shared ledger sets aside: the script, or the whole allowance of an adaptive solver's filter."""
    if not plan.solver.adaptive:
        return account.script
    if plan.solver.filter == "zcdp":
        return ((events.ZCDP(account.total), 1),)
    if plan.solver.filter == "gdp":
        return ((events.Gaussian(1.0 / math.sqrt(account.total)), 1),)
    return ((events.RenyiDP(account.order, account.total), 1),)


def _receipt(plan, account, oracle, seeded):
    spec, script = plan.spec, account.script
    if plan.solver.adaptive:
        cost, accountant, unspent = spec.epsilon, f"{plan.solver.filter} filter", account.unspent
    else:
        cost, unspent = math.inf, None
        accountant = plan.accountant
        if accountant == "auto":
            accountant = accountants.choose(script, spec.neighbors, spec.delta)
        if spec.private:
            cost = accountants.epsilon(script, spec.delta, spec.neighbors, accountant)
    return Receipt(
        epsilon=cost,
        delta=spec.delta,
        neighbors=spec.neighbors,
        accountant=accountant,
        script=script,
        solver=repr(plan.solver),
        proofs=oracle.proofs,
        notes=oracle.notes,
        declared=dict(plan.declared),
        seeded=seeded,
        unspent=unspent,
    )
