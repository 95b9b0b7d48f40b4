"""A table of which classes weigh by how many records they have: counts are bought, then it enters the fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..mechanisms import Records
from ..solvers import Budget, OracleLike, Task
from ._balance import HIDDEN, counts_asked, of_codes
from ._pricing import priced_as_before
from ._tables import Array
from ._unscaled import Unscaled
from .plan import Plan

__all__ = ["HEAVIEST", "Balanced", "weights_of"]

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
