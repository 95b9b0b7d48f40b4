"""Accuracy that double precision can certify: public bounds on rounding in a gradient (docs/proofs/sums.md)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from ..exceptions import NotSupported
from ..losses import Loss
from ._engine import Rows
from ._kernels import PIECE, ROUNDINGS, UNIT
from ._mapped import FLOOR
from ._public import Public

__all__ = ["Limits", "norm"]

Array = np.ndarray[Any, Any]

WORST = 0.01  # largest tolerance, in bounds of one record's gradient, that a release is worth making with
ROOM = 8.0  # tolerance over the rounding of careful arithmetic: what is left moves an iterate, see `_minimise`
STEEPEST, STEEPEST_SPLIT = (
    1e11,
    1e9,
)  # curvature over strong convexity, beyond which rounds may be too many
TYPICAL = 1e6  # records that the tolerance is chosen for where n is private
PLENTY = 200  # columns beyond which the tolerance grows with them, so that ordinary products mostly meet it
LIBM = 16.0  # units that a loss's slope may be off
PATIENCE = 500  # rounds where nothing is promised: nobody has said what can be reached


@dataclass(frozen=True)
class Limits:
    """An objective in public numbers.

    Parameters
    ----------
    public : Public
        Facts about the records.
    loss : Loss
        Smooth and convex.
    bound : float
        Bound on the norm of one record's gradient.
    convexity : float
        Strong convexity of the whole.
    strength : float
        Largest weight of half a squared coordinate.
    linear : float
        Bound on the norm of the linear term.
    start : float
        Norm of the point that the minimisation starts from.
    split : bool
        Whether there is a penalty that is met by its prox.
    promised : bool
        Whether anything rests on the tolerance; without noise, what rounding leaves is near enough.
    """

    public: Public
    loss: Loss
    bound: float
    convexity: float
    strength: float
    linear: float = 0.0
    start: float = 0.0
    split: bool = False
    promised: bool = True

    def furthest(self) -> float:
        """Bound on the norm of the minimiser: it lies no higher than the start, and losses are not negative.

        Nor does it lie further from the start than the gradient there over the strong convexity, which is less where
        the strength outweighs all records. The start s is a penalty's prox of 0, where -s is a subgradient. Iterates
        that do not lie higher than the first obey it too; others are met by bounds on their own norm.
        """
        most, w = self.public.most, self.start
        loss = self.loss.value_bound(0.0, self.public.target_bound)
        height = most * (loss + self.bound * w) + 0.5 * self.strength * w * w + self.linear * w
        root = math.sqrt(self.linear**2 + 2.0 * self.convexity * height)
        gradient = most * self.bound + self.linear + (self.strength + 1.0) * w
        nearest = min(self.linear + root, 2.0 * gradient + self.convexity * w)
        return (1.0 + 1e-6) * nearest / self.convexity

    def steepness(self) -> float:
        """Bound on the second derivative of the smooth part."""
        beta = self.public.model.curvature(self.loss, self.public) or 0.0
        return 1.01 * (self.public.most * beta + self.strength)

    def quick(self, rows: Rows, slopes: Array, w: Array, pull: float) -> float:
        """Rounding of a gradient made of ordinary products, from the slopes that it was made of.

        Parameters
        ----------
        rows : Rows
            The records' rows, in double precision.
        slopes : ndarray
            Derivative of each record's loss in its score.
        w : ndarray
            The point.
        pull : float
            Norm of the strength times it, and of the linear term, together.

        Returns
        -------
        float
        """
        sizes = np.abs(slopes) if slopes.ndim == 1 else np.sqrt((slopes**2).sum(axis=1))
        reach = rows.reach()
        scores = float(self.loss.curvature or 0.0) * float(np.vdot(rows.norms, reach))
        scores *= rows.units_of_scores(w)
        sums = (ROUNDINGS + self.public.depth) * float(np.vdot(sizes, reach))
        sums += LIBM * float(np.vdot(sizes, rows.norms))
        return UNIT * (1.01 * (scores + sums) + 8.0 * pull)

    def careful(self, w: float, pull: float) -> float:
        """Bound the rounding of a gradient made of twofold products."""
        public, most = self.public, self.public.most
        depth = (public.width + public.depth + 8.0) ** 2 * UNIT
        scores = (
            float(self.loss.curvature or 0.0) * public.row_bound * w
        )  # for a unit error of each
        scores *= 6.0 * public.row_bound + depth * max(public.stretch, public.row_bound)
        sums = (most / PIECE + ROUNDINGS + public.depth) ** 2 * UNIT * self._longest()
        sums += (LIBM + 8.0) * self.bound
        return UNIT * (most * (scores + sums) + 8.0 * pull)

    def prox(self, w: float) -> float:
        """Rounding of a subgradient that a prox step gives, beside that of the gradient."""
        return 16.0 * UNIT * self.steepness() * w

    def tolerance(self) -> float:
        """Tolerance on a gradient that every data set can meet, or a refusal, before any is touched."""
        steepest = STEEPEST_SPLIT if self.split else STEEPEST
        if not self.convexity > 0.0 or (
            self.promised and self.steepness() > steepest * self.convexity
        ):
            raise NotSupported(
                f"double precision cannot certify a minimiser with strong convexity {self.convexity:.3g} beside "
                f"curvature {self.steepness():.3g} in a known time; raise the strength (a smaller C), smooth the loss "
                "(a larger h) or use a solver such as 'gd'."
            )
        w = self.furthest()
        # Where the strength pulls more than twice as much as all else, the gradient is as large as its half.
        pull = min(self.strength * w, 2.0 * (self.public.most * self.bound + self.linear))
        n = TYPICAL if self.public.n is None or not self.public.replace_one else self.public.n
        rounding = self.careful(w, pull + self.linear) + (self.prox(w) if self.split else 0.0)
        tolerance = 1e-12 * (n + 1e4) * self.bound * max(1.0, self._columns() / PLENTY)
        if not self.promised:
            return tolerance
        tolerance = max(tolerance, ROOM * rounding)
        if not tolerance <= WORST * self.bound:
            raise NotSupported(
                f"double precision cannot certify the minimiser: with strong convexity {self.convexity:.3g} and "
                f"curvature {self.loss.curvature:.3g} its gradient may be off by {tolerance / self.bound:.2g} records; "
                "raise the strength (a smaller C), smooth the loss (a larger h) or use a solver such as 'gd'."
            )
        return tolerance

    def enough(self, tolerance: float, error: float) -> float:
        """The tolerance, or where nothing is promised what can be told from rounding."""
        return tolerance if self.promised else max(tolerance, ROOM * error)

    def rounds(self) -> Iterable[int]:
        """Return the rounds that a search may take: with a promise until its certificate, else a fixed number."""
        return count() if self.promised else range(PATIENCE)

    def _columns(self) -> int:
        """Terms of a score, as rows lie in memory or as they are spoken of."""
        return max(self.public.width, self.public.depth)

    def _longest(self) -> float:
        """Largest norm of what one record adds, as it lies in memory."""
        slope = self.loss.slope
        within = self.bound / FLOOR if slope is None else min(slope, self.bound / FLOOR)
        return max(self.bound, self.public.stretch * within)


def norm(array: Any) -> float:
    """L2 norm of all entries."""
    return float(np.linalg.norm(array))
