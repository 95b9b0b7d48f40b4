"""A table of which nothing is declared: its bounds are bought, then a norm of its rows, then it enters the fit."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..exceptions import NotSupported
from ..mechanisms import Records, RowNorms
from ..mechanisms._octaves import places_of, to_unit
from ..solvers import Budget, OracleLike, Task
from ..solvers._column_scales import buy_bounds, norm_of
from ..solvers._whitening import opening
from ._pricing import priced_as_before
from ._scaling import of_columns, of_lengths, questions_of
from ._tables import Array
from .plan import Plan, Scaling

__all__ = ["Unscaled", "affine_of", "root_of", "seen"]

LONGEST = 1.25  # rows longer than so many mean ones are scaled down
LEAST = 1e-3  # of the longest possible row: a norm below it is not worth telling from it
BLOCK = 1 << 16  # cells that are mapped together: they stay in the cache
_LARGEST = 1e30  # bound of a target, as where it is declared


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


def affine_of(bounds: Array) -> tuple[Array, Array]:
    """What numbers between bounds are multiplied by, and what is added, to lie in [-1, 1].

    Parameters
    ----------
    bounds : ndarray of shape (d, 2)
        Of columns; where both are one, a column is seen by its sign, and there is no such map.

    Returns
    -------
    slope, shift : ndarray of shape (d,)
    """
    low, high = bounds.T
    if (low == high).any():
        raise NotSupported(
            "Noise has hidden the scale of a column, which is seen by its sign: it has no coefficient in a unit."
        )
    half = high / 2 - low / 2
    return 1.0 / half, -(low / 2 + high / 2) / half


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
        For rows of columns in [-1, 1], or of the declared norm; its scaling says what is bought.
    restated : callable
        From a norm of rows to what is minimised: a penalty is on the coefficients of whole rows.
    onto : callable
        From targets and bounds of them that were bought to targets in [-1, 1].

    Attributes
    ----------
    plan : Plan
        Once it was bought: for rows of the norm that was bought.
    bounds, y_bounds : ndarray of shape (d, 2), and (t, 2)
        Of columns of rows, and of targets; empty where none were bought.
    """

    def __init__(
        self,
        X: Array,
        targets: Array,
        weights: Array | None,
        plan: Plan,
        restated: Callable[[float], Task],
        onto: Callable[[Array, Array], Array],
    ) -> None:
        scaling = plan.scaling
        assert scaling is not None
        if scaling.rows and not isinstance(X, np.ndarray):
            raise NotSupported(
                "data_norm=None buys bounds of the columns of a dense table, and X is sparse; declare data_norm, or "
                "pass X.toarray()."
            )
        self.plan, self._scaling, self._restated = replace(plan, scaling=None), scaling, restated
        self._x, self._targets, self._weights, self._onto = X, targets, weights, onto
        # Admitted now: what is refused of a table is refused before anything is paid.
        public, blank = of_columns(plan.admits, scaling), np.zeros(len(targets))
        columns = [X] * scaling.rows + [targets] * (scaling.targets > 0)
        whole = columns[0] if len(columns) == 1 else np.column_stack(columns)
        places = _blockwise(places_of, whole.reshape(len(blank), -1))
        self._places = Records.admit(places, blank, public, norm_of(public.n_features))
        if not scaling.rows:
            self._rows = Records.admit(X, blank, plan.admits, plan.data_norm, None, weights)

    @np.errstate(all="ignore")
    def bought(self, budget: Budget, asked_of: Callable[[Records], OracleLike]) -> Any:
        """Buy bounds and a norm, and admit what the solver will see.

        Parameters
        ----------
        budget : Budget
            The solver's.
        asked_of : callable
            From a vault to what answers questions about it, once they are paid.

        Returns
        -------
        Records or tuple of Records
            Rows of norm at most 1, with each column of targets.
        """
        scaling = self._scaling
        counts, norms = questions_of(self.plan, scaling, budget)
        found, n = buy_bounds(asked_of(self._places), counts)
        width = len(found) - scaling.targets
        self.bounds, self.y_bounds = found[:width], np.clip(found[width:], -_LARGEST, _LARGEST)
        if scaling.targets:
            self._targets = self._onto(self._targets, self.y_bounds)
        if not scaling.rows:
            several = np.reshape(self._targets, (len(self._targets), -1)).T
            vaults = tuple(self._rows.with_targets(column) for column in several)
            return vaults if self.plan.targets > 1 else vaults[0]
        rows = self._normed(asked_of, norms, n, budget)
        given = rows, self._targets, self.plan.admits, self.plan.data_norm, None, self._weights
        return Records.admit_each(*given) if self.plan.targets > 1 else Records.admit(*given)

    def _normed(
        self, asked_of: Callable[[Records], OracleLike], norms: RowNorms, n: float, budget: Budget
    ) -> Array:
        """Rows of columns on [-1, 1], and in `plan` the norm of these that was bought."""
        public = of_columns(self.plan.admits, Scaling())
        rows = seen(self._x, self.bounds)
        root = root_of(public.n_features)
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows)) / root
        blank = np.zeros(len(lengths))
        vault = Records.admit(lengths[:, None], blank, of_lengths(public), 1.0)
        mean = float(asked_of(vault).ask(norms)) / n
        error = norms.multiplier / n
        longer = LONGEST * opening(self.plan.public, budget)
        norm = root * min(max(longer * mean, 2.0 * error, LEAST), 1.0)
        self.plan = priced_as_before(self.plan, self._restated(norm), norm, budget)
        return rows
