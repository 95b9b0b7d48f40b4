"""Linear discriminant analysis of noisy class sums.

Fisher (1936), "The use of multiple measurements in taxonomic problems", of class means that are shrunk by their noise.

Privacy: post-processing of one noisy second moment, of one noisy sum of row norms, of one release of class sums in the
coordinates that they give, and of one noisy count where n is private. Coordinates follow from answers, prices do not.

Variance of class means around the common one, from noisy means: what decides how far they are shrunk.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..mechanisms import ClassSums, Public
from ._ranges import share_of_budget
from ._solver import Array, Asked, Budget, OracleLike, Solver, Task, count_asked, record_count
from ._whitening import buy_whitening, refuse_other_penalties, share_left, stand_in, whitening_asked

__all__ = ["LDA"]


ROUNDS = 20
HOPEFUL = 3.0  # deviations that are added to the common estimate: too much shrinking costs more than too little
LEAST_SPREAD = 1e-9  # of the variance of a column


def spread_of_classes(apart: Array, noise: Array, total: Array) -> Array:
    """Estimate the variance of the class means in each column.

    Means apart from the common one are taken for normal, with this variance and that of their noise. In units of the
    variance of its column a first estimate is common to all columns, by weights that suit it; that of a column by
    itself is drawn to it as far as its own error is larger than how columns differ (empirical Bayes, Efron and Morris
    1975). Chosen on tables and labels that no figure is reported of.

    Parameters
    ----------
    apart : ndarray of shape (K, d)
        Noisy class means apart from the common one.
    noise : ndarray of shape (K, 1) or (K, d)
        Variance of their noise.
    total : ndarray of shape (d,)
        Variances of the columns, above 0.

    Returns
    -------
    ndarray of shape (d,)
        Above 0, and no more than the variances of the columns.
    """
    squares, noise = apart**2 / total, noise / total
    unit = float(noise.min())  # weights are of noise in this unit: they neither overflow nor vanish
    found = 1.0
    for _ in range(ROUNDS):
        weights = ((found + unit) / (found + noise)) ** 2
        error = (found + unit) * np.sqrt(2.0 / weights.sum())
        found = (weights * (squares - noise)).sum() / weights.sum() + HOPEFUL * error
        found = min(max(float(found), LEAST_SPREAD), 1.0)
    weights = ((found + unit) / (found + noise)) ** 2
    own = (weights * (squares - noise)).sum(axis=0) / weights.sum(axis=0)
    error = (found + unit) ** 2 * 2.0 / weights.sum(axis=0)
    differ = max(float(np.average((own - found) ** 2 - error, weights=1.0 / error)), 0.0)
    drawn = found + differ / (differ + error) * (own - found)
    return np.asarray(np.clip(drawn, LEAST_SPREAD, 1.0) * total)


LEAST = (
    2.0  # deviations of the noise on a count below which a class counts as one of so many records
)
WITHIN = 1e-3  # least variance within classes, over that of a direction,
LOUD = 3.0  # and more by the noise on a mean times root of the width, where directions are known less well
TINY = 1e-12


@dataclass(frozen=True)
class LDA(Solver):
    """Linear discriminant analysis of class sums, at a price that no number of classes raises.

    Parameters
    ----------
    moment_share, norm_share : float
        Shares of the budget for the second moment and for the typical norm of a whitened row.
    """

    name: ClassVar[str] = "lda"
    needs: ClassVar[frozenset[str]] = frozenset({"several_classes"})

    moment_share: float = share_of_budget(0.1)
    norm_share: float = share_of_budget(0.02)

    def asks(self, public: Public, task: Task, budget: Budget) -> Asked:
        """A count where n is private, the coordinates, and the sums in them."""
        refuse_other_penalties(self, task)
        white = stand_in(public)
        yield from count_asked(public, budget)
        yield from whitening_asked(self, public, budget)
        yield white.question(self._sums(white.public, task, budget)), 1

    def _sums(self, seen: Public, task: Task, budget: Budget) -> ClassSums:
        one = ClassSums(classes=task.shape[1], multiplier=1.0)
        moved = one.sensitivity(seen) / (seen.sensitivity_factor * one.bound(seen))
        noise = budget.noise * moved / math.sqrt(share_left(self))
        return ClassSums(classes=task.shape[1], multiplier=noise)

    def solve(self, oracle: OracleLike, task: Task, budget: Budget) -> Array:
        """Return the coefficients of the discriminant, in the given coordinates."""
        public, n = oracle.public, record_count(oracle, budget)
        white = buy_whitening(self, oracle, task, n, budget)
        question = self._sums(white.public, task, budget)
        answer = np.asarray(oracle.ask(white.question(question)))
        counts, sums, _ = question.split(answer)
        noise = question.multiplier * question.bound(white.public)
        # The moment was divided by the number of records, whatever these weigh.
        heavy = max(float(counts.sum()) / n, LEAST * noise / n) if public.shares else 1.0
        weights, offsets = discriminant(counts, sums, noise, n * heavy, white.scale**-2.0 / heavy)
        w = white.back(weights)
        if public.intercept:
            w[-1] += offsets / public.intercept
        return np.asarray(w)


def discriminant(
    counts: Array, sums: Array, noise: float, n: float, total: float
) -> tuple[Array, Array]:
    """Weights and offsets of the classes, of rows with the same second moment in all directions.

    Class means are shrunk as far as noise hides them, coordinate by coordinate. What they leave of the moment is the
    variance within classes, in the directions in which they differ; what noise adds there is taken out.

    Parameters
    ----------
    counts, sums : ndarray of shape (K,) and (K, d)
        Noisy ones, of the classes.
    noise : float
        Its deviation.
    n : float
        Number of records.
    total : float
        Mean square of a row along any direction.

    Returns
    -------
    weights : ndarray of shape (d, K)
    offsets : ndarray of shape (K,)
    """
    size = np.maximum(counts, max(LEAST * noise, 1.0))[:, None]
    columns = size / size.sum()
    middle = sums.sum(axis=0) / size.sum()
    apart = sums / size - middle
    # A constant column is among the rows, so that no class differs from others along the common mean.
    apart -= np.outer(apart @ middle, middle) / max(float(middle @ middle), TINY)
    unsure = np.maximum((noise / size) ** 2, TINY * total)
    between = spread_of_classes(apart, unsure, np.full(len(middle), total))
    kept = between / (between + unsure)
    mean, unknown = kept * apart, columns.T @ (kept * unsure)
    found, turn = np.linalg.eigh((columns * mean).T @ mean + np.diag(unknown[0]))
    added = float((columns * kept**2 * unsure).sum()) / min(len(counts) - 1, len(middle))
    level = noise * len(middle) / n
    least = min(WITHIN + LOUD * level, 0.5) * total
    within = np.maximum(total - np.maximum(found - added, 0.0), least)
    variance = within + (unknown @ np.square(turn))[0]
    mean, middle = mean @ turn, middle @ turn
    weights = mean / variance
    offsets = np.log(columns[:, 0]) - weights @ middle - 0.5 * (mean * weights).sum(axis=1)
    return turn @ weights.T, offsets
