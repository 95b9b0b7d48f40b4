"""A table of which nothing is declared: its bounds are bought, then a norm of its rows, then it enters the fit."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..exceptions import NotSupported
from ..mechanisms import Records
from ..mechanisms._octaves import places_of, to_unit
from ..solvers import Budget, OracleLike, Task
from ..solvers._column_scales import buy_bounds, norm_of
from ..solvers._whitening import opening
from ._pricing import rehearse
from ._scaling import of_columns, of_lengths, questions_of
from ._tables import Array
from .plan import Plan, Scaling

__all__ = ["Unscaled", "root_of", "seen"]

LONGEST = 1.25  # rows longer than so many mean ones are scaled down
LEAST = 1e-3  # of the longest possible row: a norm below it is not worth telling from it
BLOCK = 1 << 16  # cells that are mapped together: they stay in the cache


def root_of(n_features: int) -> float:
    """The norm that rows of columns in [-1, 1] may have, whatever is bought.

    Parameters
    ----------
    n_features : int
        Columns.
    """
    return math.sqrt(n_features) * (1.0 + 1e-15)


def seen(X: Array, bounds: Array) -> Array:
    """Rows as a fit saw them: columns on [-1, 1] between their bounds, or by their sign where they have none.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Finite.
    bounds : ndarray of shape (d, 2)
        That were bought.

    Returns
    -------
    ndarray of float64
    """
    return _blockwise(lambda x: to_unit(x, bounds[:, 0], bounds[:, 1]), X)


@np.errstate(all="ignore")  # one that a program has made fatal would show a record
def _blockwise(of: Callable[[Array], Array], X: Array) -> Array:
    """A map of single rows, without copies of the whole table on the way."""
    out, rows = np.empty(X.shape), max(BLOCK // max(X.shape[1], 1), 1)
    for first in range(0, len(X), rows):
        part = slice(first, first + rows)
        out[part] = of(X[part].astype(np.float64))
    return out


class Unscaled:
    """A table that nothing is known of, and what was bought of it.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Finite, dense.
    targets : ndarray of shape (n,)
        As `Records.admit` takes them.
    weights : ndarray of shape (n,) or None
        The same.
    plan : Plan
        For rows of columns in [-1, 1].
    scaling : Scaling
        What is bought.
    restated : callable
        From a norm of rows to what is minimised: a penalty is on the coefficients of whole rows.

    Attributes
    ----------
    plan : Plan
        Once it was bought: for rows of the norm that was bought.
    bounds : ndarray of shape (d, 2)
        Of columns.
    """

    def __init__(
        self,
        X: Array,
        targets: Array,
        weights: Array | None,
        plan: Plan,
        scaling: Scaling,
        restated: Callable[[float], Task],
    ) -> None:
        if not isinstance(X, np.ndarray):
            raise NotSupported(
                "data_norm=None buys bounds of the columns of a dense table, and X is sparse; declare data_norm, or "
                "pass X.toarray()."
            )
        self.plan, self._scaling, self._restated = replace(plan, scaling=None), scaling, restated
        self._x, self._targets, self._weights = X, targets, weights
        # Admitted now: what is refused of a table is refused before anything is paid.
        public = of_columns(plan.admits)
        self._places = Records.admit(
            _blockwise(places_of, X), targets, public, norm_of(public.n_features)
        )

    @np.errstate(all="ignore")
    def bought(self, budget: Budget, asked_of: Callable[[Records], OracleLike]) -> Records:
        """Buy bounds and a norm, and admit what the solver will see.

        Parameters
        ----------
        budget : Budget
            The solver's.
        asked_of : callable
            From a vault to what answers questions about it, once they are paid.

        Returns
        -------
        Records
            Rows of norm at most 1.
        """
        public = self._places.public
        counts, norms = questions_of(self.plan, self._scaling, budget)
        self.bounds, n = buy_bounds(asked_of(self._places), counts)
        rows = seen(self._x, self.bounds)
        root = root_of(public.n_features)
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows)) / root
        vault = Records.admit(lengths[:, None], self._targets, of_lengths(public), 1.0)
        mean = float(asked_of(vault).ask(norms)) / n
        error = norms.multiplier / n
        longer = LONGEST * opening(self.plan.public, budget)
        norm = root * min(max(longer * mean, 2.0 * error, LEAST), 1.0)
        self.plan = self._priced_as_before(norm, budget)
        given = self.plan.admits, self.plan.data_norm, None, self._weights
        return Records.admit(rows, self._targets, *given)

    def _priced_as_before(self, norm: float, budget: Budget) -> Plan:
        """The plan for rows of a bought norm; where a price would depend on it, for those of any."""
        new = replace(self.plan, task=self._restated(norm), data_norm=norm)
        before = rehearse(self.plan, budget).script
        try:
            after = rehearse(new, budget).script
        # A norm that was paid for is no reason to end without a model.
        except (NotSupported, ValueError):
            return self.plan
        return new if before == after else self.plan
