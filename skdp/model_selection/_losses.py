"""Losses by which a search compares models: each in [0, 1], of which a noisy sum or a private choice is released."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..entry import LARGEST_LOG_LOSS, LossColumn, LossColumns
from ..fitting.release import Query
from ..mechanisms import BestColumn, MeanLoss, Public

__all__ = ["SCORES", "Choice", "LossOfRun", "Scoring", "bounds_of", "public_of"]


@dataclass(frozen=True)
class Scoring:
    """A figure by the name that it has in scikit-learn, where more is better.

    Parameters
    ----------
    classes : int
        The most classes that it knows; 0: it is of regressors.
    figure : callable
        From the mean loss to what is called the score.
    """

    classes: int
    figure: Callable[[float, Any], float]

    def serves(self, classes: int) -> bool:
        """Return True if the scoring suits estimators with this number of classes, 0 for regressors."""
        return bool(classes) == bool(self.classes) and classes <= self.classes


def bounds_of(last: Any) -> tuple[float, float]:
    """Return the declared bounds of the targets; those of losses where there are classes."""
    if not hasattr(last, "y_bounds"):
        return 0.0, 1.0
    low, high = np.asarray(last.y_bounds, dtype=np.float64)
    return float(low), float(high)


def _width(last: Any) -> float:
    low, high = bounds_of(last)
    return high - low


SCORES = {
    "accuracy": Scoring(2**20, lambda mean, last: 1.0 - mean),
    "neg_log_loss": Scoring(2, lambda mean, last: -LARGEST_LOG_LOSS * mean),
    "neg_brier_score": Scoring(2, lambda mean, last: -mean),
    "neg_mean_squared_error": Scoring(0, lambda mean, last: -mean * _width(last) ** 2),
}


def public_of(n: int | None, neighbors: str, columns: int = 1) -> Public:
    """Facts of a vault of losses."""
    return Public(n, columns, 0.0, neighbors)


@dataclass(frozen=True)
class LossOfRun(Query):
    """The noisy sum of a run's losses: as a score, where more is better, and as a mean.

    Parameters
    ----------
    n : int or None
        Number of records, where it is public.
    scoring : str
        Name of the score.
    low, high : float
        Bounds of targets, where they are numbers.
    """

    n: int | None
    scoring: str
    low: float
    high: float

    name: ClassVar[str] = "score of a run"

    def questions(self, scale: float) -> list[MeanLoss]:
        """Return the single question: one sum."""
        return [MeanLoss(multiplier=scale)]

    def ask(self, put: Callable[..., Any], scale: float) -> tuple[float, float]:
        """The score, and the mean."""
        sums = np.asarray(put(*self.questions(scale)))
        if self.n is not None:
            return -float(sums[0]), _cut(float(sums[0]) / self.n)
        half = max(float(sums[0]), 0.5)
        return -float(sums[1]), _cut(0.5 + 0.5 * float(sums[1]) / half)

    @property
    def outcome(self) -> LossColumn:
        """Loss of each record."""
        return LossColumn(self.scoring, self.low, self.high)


@dataclass(frozen=True)
class Choice(Query):
    """Choice of the column of losses with the least sum.

    Parameters
    ----------
    columns : int
        Number of columns.
    scoring : str
        Name of the score.
    low, high : float
        Bounds of targets, where they are numbers.
    """

    columns: int
    scoring: str
    low: float
    high: float

    name: ClassVar[str] = "choice among pilots"

    @property
    def unit(self) -> float:
        """Divisor that turns the losses of a record into a row of norm at most 1."""
        return float(2.0 ** math.ceil(0.5 * math.log2(self.columns)))

    def questions(self, scale: float) -> list[BestColumn]:
        """Return the single question: one choice."""
        return [BestColumn(epsilon=1.0 / scale if scale else math.inf, unit=self.unit)]

    def ask(self, put: Callable[..., Any], scale: float) -> int:
        """The column."""
        return int(put(*self.questions(scale)))

    @property
    def outcome(self) -> LossColumns:
        """Losses of each record, as a row."""
        return LossColumns(self.scoring, self.low, self.high, unit=self.unit)


def _cut(mean: float) -> float:
    return min(1.0, max(0.0, mean))
