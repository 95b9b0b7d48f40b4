"""Stage that asks for counts, sums and squares of classes, and what follows of its answer."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from ..entry import Rows, View
from ..fitting import Plan, Purchase, Stage
from ..fitting.stages import Known, Look, root_of
from ..mechanisms import ClassSums, Statement, state
from ..solvers import Budget

__all__ = ["ClassMoments", "Gaussians", "Moments"]

Array = np.ndarray[Any, Any]

# Weights of counts and squares that are free under replace-one (docs/proofs/class_sums.md): where cells are bounded,
# and where norms are.
IN_BOX = math.sqrt(0.25), math.sqrt(0.75)
IN_BALL = math.sqrt(0.75), 0.5
ABOVE = 1.0 + 1e-12  # so that a norm, and not the cap of the cells, is what bounds a row
LEAST = (
    2.0  # deviations of the noise on a count below which a class counts as one of so many records
)
DOUBT = 30.0  # weight of the noise on the variance of a class, in variances of all classes
RELATIVE = 1e-6  # least variance where there is noise, over the largest


@dataclass(frozen=True, eq=False)
class Moments:
    """Noisy counts, sums and sums of squares of classes, and the deviation of the noise on each.

    Parameters
    ----------
    counts : ndarray of shape (n_classes,)
        Number of records.
    sums, squares : ndarray of shape (n_classes, n_features)
        Sums of columns and of their squares.
    noise : (float, float, float)
        Deviation of the noise on an entry of each.
    n : float or None
        Number of records, where that is public and none weighs less than another.
    most : float
        Largest absolute number in a column.
    """

    counts: Array
    sums: Array
    squares: Array
    noise: tuple[float, float, float]
    n: float | None
    most: float = math.inf


@dataclass(frozen=True, eq=False, repr=False)
class ClassMoments(Stage):
    """Counts, sums and squares of the rows of each class, in one question.

    Parameters
    ----------
    classes : int
        How many there are.
    norm : float
        Declared bound on the norm of a row; where bounds are declared or bought, of columns on [-1, 1].
    bounds : ndarray of shape (n_features, 2) or None
        Declared bounds of the columns.
    bought : bool
        Whether bounds and a norm come from earlier stages.
    share : float
        Of what these have left: all.
    """

    classes: int
    norm: float = math.inf
    bounds: Array | None = field(default=None, repr=False)
    bought: bool = False
    share: float = 1.0

    parameter: ClassVar[str] = "classes"

    def __repr__(self) -> str:
        return f"ClassMoments(classes={self.classes})"

    def state(self, plan: Plan | Purchase, noise: float) -> Statement:
        """State the question; bought bounds and norms change nothing of its price."""
        return state([(self._question(plan, noise, self._norm(plan, Known())), 1)], plan.public)

    def views(self, plan: Plan | Purchase) -> tuple[View, ...]:
        """Return how rows are seen, where that rests on no answer."""
        return () if self.bought else (self._view(plan, Known()),)

    def run(
        self, look: Look, plan: Plan | Purchase, noise: float, budget: Budget, known: Known
    ) -> Known:
        """Ask, and put the answer on the scale of the columns."""
        norm, public = self._norm(plan, known), plan.public
        question = self._question(plan, noise, norm)
        answer = np.asarray(look(self._view(plan, known)).ask(question))
        counts, sums, squares = question.split(answer)
        deviation = question.multiplier * question.bound(public)
        of_squares = deviation * question.cap / question.squares
        levels = deviation / question.counts, norm * deviation, norm**2 * of_squares
        n = None if public.n is None or public.shares else float(public.n)
        given = counts, norm * sums, norm**2 * squares
        return replace(known, found=Moments(*given, levels, n, norm * question.cap))

    def _norm(self, plan: Plan | Purchase, known: Known) -> float:
        """Return the bound of a row; that of a box where nothing shorter is known."""
        if not self.bought and self.bounds is None:
            return self.norm
        norm = self.norm if known.norm is None else known.norm
        return min(norm, root_of(plan.public.n_features))

    def _question(self, plan: Plan | Purchase, noise: float, norm: float) -> ClassSums:
        """Ask for sums that take all that is left: noise is of a gradient, which a record moves by so many bounds."""
        public = plan.public
        root = root_of(public.n_features)
        boxed = self.bounds is not None and norm == root
        counts, squares = IN_BOX if boxed else IN_BALL
        cap = 1.0 / root if boxed else self._cap(norm, root)
        given: dict[str, Any] = {"classes": self.classes, "counts": counts, "squares": squares}
        one = ClassSums(cap=cap, multiplier=1.0, **given)
        moved = one.sensitivity(public) / (public.sensitivity_factor * one.bound(public))
        return ClassSums(cap=cap, multiplier=noise * moved / math.sqrt(self.share), **given)

    def _cap(self, norm: float, root: float) -> float:
        """Bound a cell of a row by its norm and, where columns lie on [-1, 1], by that."""
        if not self.bought and self.bounds is None:
            return 1.0
        return min(max(1.0 / norm, ABOVE / root), 1.0)

    def _view(self, plan: Plan | Purchase, known: Known) -> Rows:
        norm = self._norm(plan, known)
        if self.bought:
            return Rows(plan.public, norm, bounds=known.bounds, units=known.units)
        return Rows(plan.public, norm, bounds=self.bounds)


@dataclass(frozen=True, eq=False)
class Gaussians:
    """A normal density for each class and column.

    Parameters
    ----------
    mean, variance : ndarray of shape (n_classes, n_features)
        Of the densities.
    share : ndarray of shape (n_classes,)
        Of the records.
    total : ndarray of shape (n_features,)
        Variances of the columns, of all classes together.
    """

    mean: Array
    variance: Array
    share: Array
    total: Array

    @classmethod
    def of(cls, moments: Moments) -> Gaussians:
        """Fit the densities, and shrink what noise hides.

        Without noise these are plain means and variances. With noise a mean is its expectation given the answer where
        class means of a column are normal around the common one; the variance of a class is a geometric mean of its own
        and that of all classes, by the noise on it; and what is left unknown of a mean is added to the variance.

        Parameters
        ----------
        moments : Moments
            The answers.
        """
        of_count, of_sum, of_square = moments.noise
        least = LEAST * of_count if of_count else np.finfo(float).tiny
        counts = np.maximum(moments.counts, least)
        share = counts / counts.sum()
        n = max(moments.counts.sum(), least) if moments.n is None else moments.n
        counts, columns = n * share[:, None], share[:, None]
        mean, middle = moments.sums / counts, moments.sums.sum(axis=0) / n
        total = moments.squares.sum(axis=0) / n - middle**2
        square = moments.squares / counts
        if not of_sum:
            return cls(mean, np.maximum(square - mean**2, 0.0), share, total)
        unsure = (of_sum / counts) ** 2
        between = np.maximum((columns * ((mean - middle) ** 2 - unsure)).sum(axis=0), 0.0)
        kept = between / (between + unsure)
        pooled = _pooled(total - between, of_square * math.sqrt(len(counts)) / n)
        own = square - mean**2 + unsure
        doubt = (of_square / counts) ** 2 + 4.0 * mean**2 * unsure
        own = np.maximum(own, np.sqrt(doubt))
        variance = pooled * (own / pooled) ** (1.0 / (1.0 + DOUBT * doubt / pooled**2))
        shrunk = np.clip(middle + kept * (mean - middle), -moments.most, moments.most)
        return cls(shrunk, variance + kept * unsure, share, total)


def _pooled(found: Array, noise: float) -> Array:
    """Variances of columns, drawn to their mean by the noise on them, and no smaller than that."""
    spread = max(float(found.var()) - noise**2, 0.0)
    drawn = found.mean() + spread / (spread + noise**2) * (found - found.mean())
    return np.maximum(drawn, max(noise, RELATIVE * float(np.abs(found).max())))
