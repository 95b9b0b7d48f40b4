"""What transformers share that buy the second moment of rows of a declared norm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..fitting import Plan
from ..fitting.data import table
from ..mechanisms import Public, SecondMoment
from ..solvers import Budget, OracleLike, Solver, Task
from ..solvers._solver import count_asked, record_count
from ._bought import BoughtTransformer
from ._cells import Array

__all__ = ["MomentTransformer", "RowMoment", "error_of"]


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
        """What the transformer makes of the moment and of the number."""
        n = record_count(oracle, budget)
        moment = oracle.ask(SecondMoment(multiplier=budget.noise)) / n
        return self.made_of(moment, error_of(oracle.public, budget.noise, n))

    def made_of(self, moment: Array, error: float) -> Array:
        """Of a mean moment whose noise has no longer eigenvalue than `error`, nearly always."""
        raise NotImplementedError


def error_of(public: Public, noise: float, n: float) -> float:
    """The largest eigenvalue of the noise in a mean moment: entries off the diagonal have noise over sqrt(2)."""
    return float(noise * public.row_bound**2 * np.sqrt(2.0 * public.width) / n)


class MomentTransformer(BoughtTransformer):
    """Base of the transformers that map rows by their private second moment.

    Parameters
    ----------
    data_norm : float, default=1.0
        Public bound on the norm of a row; rows beyond it are scaled down to it.

    Attributes
    ----------
    row_norm_ : float
        1: the norm of a row that leaves, for a private estimator's ``data_norm``.
    """

    data_norm: float = 1.0

    @property
    def row_norm_(self) -> float:
        """Each row is divided by what it may have."""
        return 1.0

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
        raise NotImplementedError

    def _inside(self, x: Array) -> Array:
        """Rows over ``data_norm``, those beyond it scaled down to it, as in the fit."""
        largest = np.maximum(np.abs(x).max(axis=1), float(self.data_norm) * 1e-30)[:, None]
        shares = x / largest
        norms = np.sqrt(np.einsum("ij,ij->i", shares, shares))[:, None]
        inside: Array = shares * np.minimum(
            largest / float(self.data_norm), 1.0 / np.maximum(norms, 1.0)
        )
        return inside

    def _within_one(self, rows: Array) -> Array:
        """Rows, those longer than 1 scaled down to it."""
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        slack = 1.0 + (rows.shape[1] + 8.0) * np.finfo(np.float64).eps
        cut: Array = rows / np.maximum(lengths * slack, 1.0)[:, None]
        return cut

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.allow_nan = False
        return tags
