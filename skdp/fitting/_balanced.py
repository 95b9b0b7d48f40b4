"""A table of which classes weigh by how many records they have: counts are bought, then it enters the fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..exceptions import NotSupported
from ..mechanisms import Records
from ..solvers import Budget, OracleLike, Task
from ._balance import HIDDEN, counts_asked, of_codes
from ._pricing import priced_as_before, rehearse
from ._tables import Array
from ._unscaled import Unscaled
from .plan import Balance, Plan

__all__ = ["HEAVIEST", "Balanced", "balanced", "price_depends_on", "weights_of"]

HEAVIEST = 1e6  # that a class may weigh: one in a million records of a class each


def weights_of(counts: Array, noise: float) -> Array:
    """What each class weighs: records over classes and over the class's own, as scikit-learn's "balanced" has it.

    Parameters
    ----------
    counts : ndarray of shape (K,)
        Noisy ones.
    noise : float
        Their deviation.
    """
    known = np.maximum(counts, max(HIDDEN * noise, 1e-300))
    total = known.sum()
    return np.minimum(total / (len(known) * known), HEAVIEST)


def balanced(plan: Plan, classes: int, lightest: Task) -> Plan:
    """The plan of a fit whose classes weigh by their counts; refused, before anything is paid, without a price.

    Parameters
    ----------
    plan : Plan
        The same where all weigh 1.
    classes : int
        How many there are.
    lightest : Task
        What is minimised where one class is the heaviest possible: its penalty is the least beside a loss.
    """
    plan = replace(plan, balance=Balance(classes))
    wrong = None
    if plan.spec.private and plan.spec.delta == 0.0:
        wrong = "delta=0 has no price for their Gaussian noise"
    elif plan.solver.adaptive:
        wrong = f"solver={plan.solver.name!r} finds its prices as it goes"
    elif price_depends_on(plan, lightest):
        wrong = (
            f"the price of solver={plan.solver.name!r} depends on the strength of the penalty over weights, which "
            "follow from them"
        )
    if wrong is not None:
        raise NotSupported(
            f"class_weight='balanced' buys counts of the classes, and {wrong}; declare weights from what is public of "
            "the classes, {label: n / (n_classes * m)} for a label of about m records, or use solver='auto'."
        )
    return plan


def price_depends_on(plan: Plan, task: Task) -> bool:
    """Whether a run of another task would ask at another price, or not at all.

    Parameters
    ----------
    plan : Plan
        What would be run.
    task : Task
        With another penalty.
    """
    if not plan.spec.private:  # nothing is paid
        return False
    budget = plan.budget(noise=1.0)
    usual = rehearse(plan, budget).script
    try:
        return rehearse(replace(plan, task=task), budget).script != usual
    except (NotSupported, ValueError):
        return True


class Balanced:
    """A table, and what its classes weigh once that was bought.

    Parameters
    ----------
    inner : Records or Unscaled
        The table, all of whose rows weigh no more than the bound that was declared.
    codes : ndarray of shape (n,)
        Of classes; of two, -1 and 1.
    owners, weights : ndarray of shape (n,) or None
        As `Records.admit` takes them.
    plan : Plan
        Where all classes weigh 1; its balance says what is bought.
    restated : callable
        From what classes weigh to what is minimised then.

    Attributes
    ----------
    plan : Plan
        Once it was bought: over the heaviest class.
    of_class : ndarray of shape (K,)
        What each class weighs.
    """

    def __init__(
        self,
        inner: Records | Unscaled,
        codes: Array,
        owners: Array | None,
        weights: Array | None,
        plan: Plan,
        restated: Callable[[Array], Task],
    ) -> None:
        assert plan.balance is not None
        self.inner, self._balance, self._restated = inner, plan.balance, restated
        self.plan = replace(plan, balance=None)
        blank = np.zeros((len(codes), 1))
        public = of_codes(plan.public, plan.balance)
        self._codes = Records.admit(blank, codes, public, 1.0, owners, weights)

    @np.errstate(all="ignore")
    def bought(self, budget: Budget, asked_of: Callable[[Records], OracleLike]) -> Records:
        """Buy counts, and what else is to be bought, and weigh what the solver will see.

        Parameters
        ----------
        budget : Budget
            The solver's.
        asked_of : callable
            From a vault to what answers questions about it, once they are paid.
        """
        asked = counts_asked(replace(self.plan, balance=self._balance), self._balance, budget)
        self.of_class = weights_of(asked_of(self._codes).ask(asked), asked.multiplier)
        task, plan = self._restated(self.of_class), replace(self.plan, scaling=None)
        self.plan = priced_as_before(plan, task, plan.data_norm, budget)
        inner = self.inner
        if isinstance(inner, Unscaled):
            inner.plan = self.plan
            rows = inner.bought(budget, asked_of)
            self.plan = inner.plan
        else:
            rows = inner
        return rows.weighed(self.of_class / self.of_class.max())
