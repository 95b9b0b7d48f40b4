"""Rows of about the same length in all directions, by a private second moment."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..fitting import Plan
from ..fitting.data import table
from ..mechanisms import Public, SecondMoment
from ..solvers import Budget, OracleLike, Solver, Task
from ..solvers._solver import count_asked, record_count
from ._bought import BoughtTransformer
from ._cells import Array

__all__ = ["DPWhitener"]

LEAST = 1e-3  # of the largest possible eigenvalue: shorter directions are not stretched further
LONGEST = 1.25  # typical norms of a whitened row, beyond which it is scaled down


@dataclass(frozen=True, repr=False)
class RowMoment(Solver):
    """Asks for the second moment of the rows, and for their number where it is private."""

    name: ClassVar[str] = "row-moment"

    def __repr__(self) -> str:
        return "RowMoment()"

    def asks(self, public: Public, task: Task, budget: Budget) -> Any:
        """The number, and the moment."""
        yield from count_asked(public, budget)
        yield SecondMoment(multiplier=budget.noise), 1

    def solve(self, oracle: OracleLike, task: Task, budget: Budget) -> Array:
        """The symmetric matrix that whitens rows, with a floor below which noise would be stretched."""
        public, n = oracle.public, record_count(oracle, budget)
        values, vectors = np.linalg.eigh(oracle.ask(SecondMoment(multiplier=budget.noise)) / n)
        error = budget.noise * public.row_bound**2 * math.sqrt(2.0 * public.width) / n
        floor = 0.5 * error + LEAST * public.row_bound**2
        return np.asarray((vectors / np.sqrt(np.maximum(values, 0.0) + floor)) @ vectors.T)


class DPWhitener(BoughtTransformer):
    """Buy the second moment of the rows, and stretch them until no direction is longer than another.

    Correlated columns become columns that are not, and short ones as long as the others, as far as the noise lets the
    moment be seen. ``solver="auto"`` of a linear classifier does this by itself: as a step it serves other solvers and
    other estimators. Rows are not centred.

    Parameters
    ----------
    epsilon : float, default=0.1
        Privacy loss that is promised.
    data_norm : float, default=1.0
        Public bound on the norm of a row; rows beyond it are scaled down to it.

    Attributes
    ----------
    whitening_ : ndarray of shape (n_features, n_features)
        The private matrix that rows are multiplied by; symmetric.
    row_norm_ : float
        1: the norm of a row that leaves, for a private estimator's ``data_norm``.

    See Also
    --------
    DPBounds : Bounds of columns where none are known, to put before it.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.preprocessing import DPWhitener
    >>> shared = np.random.default_rng(0).normal(size=(20_000, 1))
    >>> X = np.hstack([shared, shared + 0.3 * np.random.default_rng(1).normal(size=(20_000, 1))]) / 5
    >>> rows = DPWhitener(epsilon=1.0, random_state=0).fit_transform(X)
    >>> bool(np.corrcoef(X.T)[0, 1] > 0.9 and abs(np.corrcoef(rows.T)[0, 1]) < 0.4)
    True
    """

    data_norm: float = 1.0
    whitening_: Array = field(init=False)

    @property
    def row_norm_(self) -> float:
        """Each row is divided by what it may have."""
        return 1.0

    def _scales(self) -> Solver:
        return RowMoment()

    def _rules(self) -> dict[str, Any]:
        rules = super()._rules()
        known, told = rules["data_norm"]
        return rules | {"data_norm": (lambda value: value is not None and known(value), told)}

    def _entering_norm(self, n_features: int) -> float:
        return float(self.data_norm)

    def _numbers(self, X: Any, *, reset: bool) -> Array:
        return np.asarray(table(self, X, reset=reset, sparse=False), dtype=np.float64)

    def _encode(self, X: Any, y: Any) -> tuple[Array, Array, dict[str, Any], dict[str, Any]]:
        rows = self._numbers(X, reset=True)
        return rows, np.zeros(len(rows)), {"data_norm": float(self.data_norm)}, {}

    def _store(self, w: Array, plan: Plan) -> None:
        self.whitening_ = w

    def _mapped(self, x: Array) -> Array:
        largest = np.maximum(np.abs(x).max(axis=1), float(self.data_norm) * 1e-30)[:, None]
        shares = x / largest
        norms = np.sqrt(np.einsum("ij,ij->i", shares, shares))[:, None]
        # Whatever is beyond the bound is scaled down to it first, as in the fit.
        inside = shares * np.minimum(largest / float(self.data_norm), 1.0 / np.maximum(norms, 1.0))
        rows = inside @ self.whitening_ / (LONGEST * math.sqrt(x.shape[1]))
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        slack = 1.0 + (x.shape[1] + 8.0) * np.finfo(np.float64).eps
        return rows / np.maximum(lengths * slack, 1.0)[:, None]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.allow_nan = False
        return tags
