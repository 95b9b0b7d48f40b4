"""The algorithm that finds scales of columns: it states what it will ask, asks, and post-processes answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..mechanisms import ColumnCounts, ColumnMoments, Public
from ..mechanisms._octaves import BINS
from ._octave_rule import any_support, bounds_of, records_in, support_of
from ._solver import Array, Budget, OracleLike, Solver, Task

__all__ = ["ColumnMasses", "ColumnScales", "buy_bounds", "counts_asked", "norm_of"]


@dataclass(frozen=True, repr=False)
class ColumnScales(Solver):
    """Asks for the counts of all octaves, and if wanted for moments within the bounds that they show.

    Parameters
    ----------
    moments : bool
        Whether to ask for means and deviations, too; each question then takes half of the budget in mu squared.
    """

    moments: bool = False

    name: ClassVar[str] = "column-scales"

    def __repr__(self) -> str:
        return f"ColumnScales({'bounds, means and deviations' if self.moments else 'bounds'})"

    def asks(self, public: Public, task: Task, budget: Budget) -> list[tuple[Any, int]]:
        """The counts, and the moments within any bounds: their price does not depend on these."""
        d = public.n_features
        found = [(self._counts(public, budget), 1)]
        return found + [(self._moments(public, budget, np.zeros((d, 2))), 1)] * self.moments

    def solve(self, oracle: OracleLike, task: Task, budget: Budget) -> Array:
        """Bounds of each column, and its mean and deviation on [-1, 1]."""
        public = oracle.public
        bounds, n = buy_bounds(oracle, self._counts(public, budget))
        told = np.tile([0.0, 1.0], (public.n_features, 1))
        if self.moments:
            second = self._moments(public, budget, bounds)
            told = _mean_and_deviation(oracle.ask(second), second, public, n)
            told[bounds[:, 0] == bounds[:, 1]] = 0.0, 1.0
        return np.hstack([bounds, told])

    def _counts(self, public: Public, budget: Budget) -> ColumnCounts:
        return counts_asked(public, budget.noise * math.sqrt(1 + self.moments))

    def _moments(self, public: Public, budget: Budget, bounds: Array) -> ColumnMoments:
        # The share of a question is its multiplier over what a neighbour moves in bounds; so that both take half:
        counts, given = self._counts(public, budget), {"low": bounds[:, 0], "high": bounds[:, 1]}
        one = ColumnMoments(multiplier=1.0, scale=norm_of(public.n_features), **given)
        moved = one.sensitivity(public) / one.bound(public)
        moved /= counts.sensitivity(public) / counts.bound(public)
        return ColumnMoments(multiplier=counts.multiplier * moved, scale=one.scale, **given)


@dataclass(frozen=True, repr=False)
class ColumnMasses(Solver):
    """Asks for the counts of all octaves, and keeps those that stand out of the noise."""

    name: ClassVar[str] = "column-masses"

    def __repr__(self) -> str:
        return "ColumnMasses()"

    def asks(self, public: Public, task: Task, budget: Budget) -> list[tuple[Any, int]]:
        """The counts."""
        return [(counts_asked(public, budget.noise), 1)]

    def solve(self, oracle: OracleLike, task: Task, budget: Budget) -> Array:
        """How many records lie in each octave of each column, and 0 where none stand out."""
        public = oracle.public
        question = counts_asked(public, budget.noise)
        counts = np.asarray(oracle.ask(question)).reshape(public.n_features, BINS)
        deviation = question.multiplier * question.bound(public)
        known = np.array([support_of(column, deviation, len(counts)) for column in counts])
        return np.where(known, np.maximum(counts, 0.0), 0.0)


def counts_asked(public: Public, multiplier: float) -> ColumnCounts:
    """The counts of all octaves, of a table of places.

    Parameters
    ----------
    public : Public
        Facts about that table.
    multiplier : float
        Of the noise.
    """
    return ColumnCounts(multiplier=multiplier, scale=norm_of(public.n_features))


def buy_bounds(oracle: OracleLike, question: ColumnCounts) -> tuple[Array, float]:
    """Bounds of all columns, and the number of records: public, or a rough one that the counts show.

    Parameters
    ----------
    oracle : Oracle
        Answers, of a table of places.
    question : ColumnCounts
        The counts.

    Returns
    -------
    bounds : ndarray of shape (d, 2)
        Both are 0 where a column has no scale.
    n : float
    """
    public = oracle.public
    counts = np.asarray(oracle.ask(question)).reshape(public.n_features, BINS)
    deviation = question.multiplier * question.bound(public)
    n = float(public.n) if public.n is not None else records_in(counts, deviation)
    bounds = np.zeros((len(counts), 2))
    for j in np.flatnonzero(any_support(counts, deviation)):
        bounds[j] = bounds_of(counts[j], deviation, len(counts), n)
    return bounds, n


def norm_of(d: int) -> float:
    """Bound on the norm of a row of places, each in (-1, 1).

    Parameters
    ----------
    d : int
        Columns.

    Returns
    -------
    float
    """
    return math.sqrt(d) * (1.0 + 1e-9)


def _mean_and_deviation(answer: Array, question: ColumnMoments, public: Public, n: float) -> Array:
    """Mean and deviation of each column on [-1, 1], within what noise leaves."""
    d = public.n_features
    sums, squares = answer[:d] / n, answer[d:] / (question.weight(public) * n)
    mean = np.clip(sums, -1.0, 1.0)
    noise = question.multiplier * question.bound(public) / n
    least = min(max(2.0 * noise, 0.0025), 1.0)
    return np.column_stack([mean, np.sqrt(np.clip(squares - mean**2, least, 1.0))])
