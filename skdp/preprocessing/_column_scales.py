"""Stages that estimate scales of columns privately for a transformer.

Location of a column's numbers, from noisy counts of powers of two: post-processing, which costs nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..entry import ColumnPlaces
from ..fitting import Plan, Purchase, Stage
from ..fitting.data import Array
from ..fitting.stages import Known, Look
from ..mechanisms import ColumnCounts, ColumnMoments, Public, Statement, state
from ..mechanisms._octaves import BINS, edges_of
from ..solvers import Budget
from ..solvers._column_scales import buy_bounds, counts_asked, norm_of, support_of

__all__ = ["ColumnMasses", "ColumnScales", "knots_of", "median_of"]


def knots_of(masses: Array) -> tuple[Array, Array]:
    """A monotone curve through the ends of the octaves that hold something: numbers, and the share below each.

    Parameters
    ----------
    masses : ndarray of shape (4096,)
        Counts that are not negative.

    Returns
    -------
    numbers, shares : ndarray
        In order; both empty where no octave holds anything. Within an octave the curve is straight.
    """
    bins = np.flatnonzero(masses > 0.0)
    if not len(bins):
        return np.empty(0), np.empty(0)
    tiny = np.finfo(np.float64).tiny
    low, high = edges_of(bins)
    low, high = np.where(low == high, -tiny, low), np.where(low == high, tiny, high)
    above = np.cumsum(masses[bins])
    ends = np.column_stack([low, high]).ravel()
    shares = np.column_stack([above - masses[bins], above]).ravel() / above[-1]
    keep = np.append(True, ends[1:] > ends[:-1])  # octaves that touch share an end
    return ends[keep], shares[keep]


def median_of(masses: Array) -> float:
    """The number that half of them lie below; 0 where nothing is known.

    Parameters
    ----------
    masses : ndarray of shape (4096,)
        Counts that are not negative.

    Returns
    -------
    float
    """
    numbers, shares = knots_of(masses)
    if not len(numbers):
        return 0.0
    found = float(np.interp(0.5, shares, numbers / 2.0)) * 2.0  # halved: a difference may overflow
    tiny = np.finfo(np.float64).tiny
    return 0.0 if abs(found) <= tiny else found


class _OfPlaces(Stage):
    """Base class of the stages that ask about places of cells."""

    def views(self, plan: Plan | Purchase) -> tuple[ColumnPlaces, ...]:
        """Return the places of all cells."""
        return (ColumnPlaces(plan.public, norm_of(plan.public.n_features)),)


@dataclass(frozen=True, repr=False)
class ColumnScales(_OfPlaces):
    """Counts of all octaves, and if wanted moments within the bounds that they show.

    Parameters
    ----------
    moments : bool
        Whether to ask for means and deviations, too; each question then takes half of the budget in mu squared.
    """

    moments: bool = False
    share: float = 1.0

    def __repr__(self) -> str:
        return f"ColumnScales({'bounds, means and deviations' if self.moments else 'bounds'})"

    def state(self, plan: Plan | Purchase, noise: float) -> Statement:
        """State the counts, and the moments within any bounds: their price does not depend on these."""
        public = plan.public
        asked = [(self._counts(public, noise), 1)]
        within = np.zeros((public.n_features, 2))
        if self.moments:
            return state([*asked, (self._moments(public, noise, within), 1)], public)
        return state(asked, public)

    def run(
        self, look: Look, plan: Plan | Purchase, noise: float, budget: Budget, known: Known
    ) -> Known:
        """Buy bounds of each column, and its mean and deviation on [-1, 1]."""
        public, oracle = plan.public, look(self.views(plan)[0])
        bounds, _, n = buy_bounds(oracle, self._counts(public, noise))
        told = np.tile([0.0, 1.0], (public.n_features, 1))
        if self.moments:
            second = self._moments(public, noise, bounds)
            told = _mean_and_deviation(oracle.ask(second), second, public, n)
            told[bounds[:, 0] == bounds[:, 1]] = 0.0, 1.0
        return replace(known, found=np.hstack([bounds, told]))

    def _counts(self, public: Public, noise: float) -> ColumnCounts:
        return counts_asked(public, noise * math.sqrt(1 + self.moments))

    def _moments(self, public: Public, noise: float, bounds: Array) -> ColumnMoments:
        # The share of a question is its multiplier over what a neighbour moves in bounds; so that both take half:
        counts, given = self._counts(public, noise), {"low": bounds[:, 0], "high": bounds[:, 1]}
        one = ColumnMoments(multiplier=1.0, scale=norm_of(public.n_features), **given)
        moved = one.sensitivity(public) / one.bound(public)
        moved /= counts.sensitivity(public) / counts.bound(public)
        return ColumnMoments(multiplier=counts.multiplier * moved, scale=one.scale, **given)


@dataclass(frozen=True, repr=False)
class ColumnMasses(_OfPlaces):
    """Counts of all octaves, of which those are kept that stand out of the noise."""

    share: float = 1.0

    def __repr__(self) -> str:
        return "ColumnMasses()"

    def state(self, plan: Plan | Purchase, noise: float) -> Statement:
        """State the counts."""
        return state([(counts_asked(plan.public, noise), 1)], plan.public)

    def run(
        self, look: Look, plan: Plan | Purchase, noise: float, budget: Budget, known: Known
    ) -> Known:
        """Buy how many records lie in each octave of each column; 0 where none stand out."""
        public, question = plan.public, counts_asked(plan.public, noise)
        answer = look(self.views(plan)[0]).ask(question)
        counts = np.asarray(answer).reshape(public.n_features, BINS)
        deviation = question.multiplier * question.bound(public)
        seen = np.array([support_of(column, deviation, len(counts)) for column in counts])
        return replace(known, found=np.where(seen, np.maximum(counts, 0.0), 0.0))


def _mean_and_deviation(answer: Array, question: ColumnMoments, public: Public, n: float) -> Array:
    """Return mean and deviation of each column on [-1, 1]; deviations are kept above the noise."""
    d = public.n_features
    sums, squares = answer[:d] / n, answer[d:] / (question.weight(public) * n)
    mean = np.clip(sums, -1.0, 1.0)
    noise = question.multiplier * question.bound(public) / n
    least = min(max(2.0 * noise, 0.0025), 1.0)
    return np.column_stack([mean, np.sqrt(np.clip(squares - mean**2, least, 1.0))])
