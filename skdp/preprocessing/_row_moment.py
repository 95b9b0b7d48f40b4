"""Base classes of transformers that pay for the second moment of rows of a declared norm."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..entry import Facts, Rows
from ..fitting import Plan, Purchase, Stage
from ..fitting._fields import parameter
from ..fitting._parameters import RULES, Rule
from ..fitting.stages import Known, Look
from ..mechanisms import Public, SecondMoment, Statement, state
from ..solvers import Budget
from ..solvers._solver import count_asked, record_count
from ._bought import BoughtTransformer
from ._cells import Array

__all__ = ["MomentTransformer", "RowMoment", "error_of"]


@dataclass(frozen=True, repr=False)
class RowMoment(Stage):
    """The second moment of the rows, and their number where it is private.

    Parameters
    ----------
    norm : float
        Declared bound of the rows.
    """

    norm: float
    share: float = 1.0

    def __repr__(self) -> str:
        return "RowMoment()"

    def state(self, plan: Plan | Purchase, noise: float) -> Statement:
        """State the number, and the moment."""
        public, budget = plan.public, plan.budget(noise=noise)
        return state([*count_asked(public, budget), (SecondMoment(multiplier=noise), 1)], public)

    def views(self, plan: Plan | Purchase) -> tuple[Rows, ...]:
        """Return the rows."""
        return (Rows(plan.public, self.norm),)

    def run(
        self, look: Look, plan: Plan | Purchase, noise: float, budget: Budget, known: Known
    ) -> Known:
        """Pay for the moment and the number of records, and keep what the transformer makes of them."""
        oracle = look(self.views(plan)[0])
        n = record_count(oracle, plan.budget(noise=noise))
        moment = oracle.ask(SecondMoment(multiplier=noise)) / n
        return replace(known, found=self.made_of(moment, error_of(plan.public, noise, n)))

    def made_of(self, moment: Array, error: float) -> Array:
        """Return what is made of a mean moment, whose noise nearly always has no eigenvalue larger than `error`."""
        raise NotImplementedError


def error_of(public: Public, noise: float, n: float) -> float:
    """The largest eigenvalue of the noise in a mean moment: entries off the diagonal have noise over sqrt(2)."""
    return float(noise * public.row_bound**2 * np.sqrt(2.0 * public.width) / n)


_LIES, _TOLD = RULES["data_norm"]
DECLARED_NORM: Rule = lambda value: value is not None and _LIES(value), _TOLD


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

    data_norm: float = parameter(1.0, rule=DECLARED_NORM)
    _cells: ClassVar[str] = "numbers"

    @property
    def row_norm_(self) -> float:
        """Bound on the norm of transformed rows: 1, since each row is divided by the largest norm it may have."""
        return 1.0

    def _declare(self, facts: Facts) -> dict[str, Any]:
        return {"data_norm": float(self.data_norm)}

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
