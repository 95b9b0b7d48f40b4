"""Registered outcomes of held-out records: what a private figure asks of each, as the numbers that the vault takes in.

Each record's outcome is a function of that record, of a public model and of public numbers alone.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..mechanisms import Public, Records
from ..privacy.ledger import paid
from ._arrays import Array
from ._held import Held

__all__ = [
    "LARGEST_LOG_LOSS",
    "OUTCOMES",
    "TARGET_MAPS",
    "BinAndClass",
    "ClassAndPrediction",
    "CutNumbers",
    "Errors",
    "FirstColumn",
    "GroupAndRight",
    "LogLoss",
    "LossColumn",
    "LossColumns",
    "Outcome",
    "Outcomes",
    "Right",
    "Scores",
    "SquaredLoss",
    "Terms",
]


class Outcome(ABC):
    """Outcome of each record. Subclasses are frozen dataclasses of public numbers."""

    @abstractmethod
    def of(self, held: Any) -> tuple[Array, Array]:
        """Return rows and targets, once all is paid."""


class Outcomes:
    """Closed table of outcomes, which are made once they are paid for; seen as they are, or through a registered map.

    Parameters
    ----------
    outcome : Outcome
        Of a registered type, exactly.
    public : Public
        Facts of the vault.
    held : object
        Records, which nothing but the outcome is shown.
    """

    __slots__ = ("__held", "__made", "__outcome", "__public", "__vaults")

    def __init__(self, outcome: Outcome, public: Public, held: Any) -> None:
        if type(outcome) not in OUTCOMES:
            raise TypeError(
                f"{type(outcome).__name__} is no registered outcome; add it to OUTCOMES, with its proof."
            )
        self.__outcome, self.__public, self.__held = outcome, public, held
        self.__made: Any = None
        self.__vaults: dict[Any, Records] = {}

    def check(self, view: Any) -> None:
        """Check nothing: these outcomes cannot be looked at before they are paid."""

    def vault(self, view: Any) -> Records:
        """Admit the outcomes, whose targets a registered map may change record by record."""
        if view is not None and type(view) not in TARGET_MAPS:
            raise TypeError(
                f"{type(view).__name__} is no registered map of targets; add it to TARGET_MAPS, with its proof."
            )
        if self.__made is None:
            with paid():  # as in `Records.admit`
                self.__made = self.__outcome.of(self.__held)
        if view not in self.__vaults:
            rows, targets = self.__made
            seen = targets if view is None else view(targets)
            self.__vaults[view] = Records.admit(rows, seen, self.__public, 1.0)
        return self.__vaults[view]


def beside_nothing(targets: Array) -> tuple[Array, Array]:
    """Return rows of zeros, with the targets."""
    return np.zeros((len(targets), 1)), targets


# --- Of classifiers --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Right(Outcome):
    """Cells of wrong and right predictions: 0 and 1."""

    def of(self, held: Any) -> tuple[Array, Array]:
        """Compare codes."""
        return beside_nothing((held.predicted() == held.codes).astype(float))


@dataclass(frozen=True)
class ClassAndPrediction(Outcome):
    """Cell of class and prediction."""

    def of(self, held: Any) -> tuple[Array, Array]:
        """Number the cells by class, then by prediction."""
        return beside_nothing((len(held.classes) * held.codes + held.predicted()).astype(float))


@dataclass(frozen=True)
class GroupAndRight(Outcome):
    """Cell of group, and wrong or right."""

    def of(self, held: Any) -> tuple[Array, Array]:
        """Number the cells by group."""
        return beside_nothing((2 * held.groups + (held.predicted() == held.codes)).astype(float))


@dataclass(frozen=True)
class BinAndClass(Outcome):
    """Cell of the second class's probability, and of class.

    Parameters
    ----------
    bins : int
        Equal ones.
    """

    bins: int

    def of(self, held: Any) -> tuple[Array, Array]:
        """Number the cells by bin, then by class."""
        at = np.minimum((held.probabilities()[:, 1] * self.bins).astype(int), self.bins - 1)
        return beside_nothing((2 * at + held.codes).astype(float))


@dataclass(frozen=True)
class Scores(Outcome):
    """Score of the second class, on (-1, 1), and the label."""

    def of(self, held: Any) -> tuple[Array, Array]:
        """Map scores by an increasing function."""
        scores = held.scores()
        return (scores / (1.0 + np.abs(scores)))[:, None], held.codes.astype(float)


@dataclass(frozen=True)
class SquaredLoss(Outcome):
    """Squared distance of the label's probability from 1."""

    def of(self, held: Any) -> tuple[Array, Array]:
        """Square it."""
        return beside_nothing((1.0 - _right(held)) ** 2)


@dataclass(frozen=True)
class LogLoss(Outcome):
    """Log-loss over the largest that counts.

    Parameters
    ----------
    size : float
        Largest log-loss: probabilities below exp(-size) count as that.
    """

    size: float

    def of(self, held: Any) -> tuple[Array, Array]:
        """Clip probabilities from below."""
        least = math.exp(-self.size)
        return beside_nothing(np.minimum(-np.log(np.maximum(_right(held), least)) / self.size, 1.0))


def _right(held: Any) -> Array:
    """Return the probability of the label that occurred."""
    p = held.probabilities()[:, 1]
    return np.where(held.codes == 1, p, 1.0 - p)


# --- Of regressors ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CutNumbers(Outcome):
    """Target and prediction, cut to public bounds and mapped to [0, 1].

    Parameters
    ----------
    low, high : float
        The bounds.
    """

    low: float
    high: float

    def of(self, held: Any) -> tuple[Array, Array]:
        """Cut, and scale."""
        both = np.column_stack([held.codes, held.numbers()])
        width = self.high - self.low
        cut = (np.clip(both, self.low, self.high) - self.low) / width
        return beside_nothing(np.clip(cut, 0.0, 1.0))


@dataclass(frozen=True)
class Errors:
    """Squared error of each record."""

    def __call__(self, seen: Array) -> Array:
        return np.square(seen[:, 0] - seen[:, 1])


@dataclass(frozen=True)
class FirstColumn:
    """Target of each record."""

    def __call__(self, seen: Array) -> Array:
        return seen[:, 0]


@dataclass(frozen=True)
class Terms:
    """Terms that records add to ``errors - left * variance``, scaled into [0, 1]; seldom cut.

    Parameters
    ----------
    left : float
        Rough share of the variance that is left.
    middle : float
        Rough mean target.
    reach : float
        Bound beyond which a record's term is cut.
    """

    left: float
    middle: float
    reach: float

    def __call__(self, seen: Array) -> Array:
        errors = np.square(seen[:, 0] - seen[:, 1])
        added = errors - self.left * np.square(seen[:, 0] - self.middle)
        return 0.5 + 0.5 * np.clip(added / self.reach, -1.0, 1.0)


# --- Of searches -----------------------------------------------------------------------------------------------------


LARGEST_LOG_LOSS = 5.0  # of a search: probabilities below exp(-5) count as that


@dataclass(frozen=True)
class LossColumn(Outcome):
    """Loss of each record under a model, in [0, 1].

    Parameters
    ----------
    scoring : str
        A key of `LOSSES`.
    low, high : float
        Bounds of targets, where they are numbers.
    """

    scoring: str
    low: float = 0.0
    high: float = 1.0

    def of(self, held: Any) -> tuple[Array, Array]:
        """Take losses as targets."""
        return beside_nothing(held.loss(partial(LOSSES[self.scoring], self)))


@dataclass(frozen=True)
class LossColumns(LossColumn):
    """Losses of each record under several models, as a row of norm at most 1.

    Parameters
    ----------
    unit : float
        Divisor that brings a row there.
    """

    unit: float = 1.0

    def of(self, held: Any) -> tuple[Array, Array]:
        """Divide."""
        losses = held.losses(partial(LOSSES[self.scoring], self))
        return losses / self.unit, np.zeros(len(losses))


def _wrong(asked: LossColumn, held: Held) -> Array:
    return (held.predicted() != held.codes).astype(np.float64)


def _of_label(held: Held) -> Array:
    """Return the probability of the label that occurred, among any number of classes."""
    found = held.probabilities()
    return np.asarray(found[np.arange(len(held.codes)), held.codes])


def _log(asked: LossColumn, held: Held) -> Array:
    least = math.exp(-LARGEST_LOG_LOSS)
    return np.minimum(-np.log(np.maximum(_of_label(held), least)) / LARGEST_LOG_LOSS, 1.0)


def _brier(asked: LossColumn, held: Held) -> Array:
    return np.asarray((1.0 - _of_label(held)) ** 2)


def _squared(asked: LossColumn, held: Held) -> Array:
    low, high = asked.low, asked.high
    residuals = held.numbers() - np.clip(held.codes, low, high)
    with np.errstate(all="ignore"):
        return np.minimum(np.nan_to_num(np.abs(residuals / (high - low)), nan=1.0), 1.0) ** 2


LOSSES: dict[str, Callable[[LossColumn, Held], Array]] = {
    "accuracy": _wrong,
    "neg_log_loss": _log,
    "neg_brier_score": _brier,
    "neg_mean_squared_error": _squared,
}

OUTCOMES: frozenset[type[Outcome]] = frozenset(
    {
        BinAndClass,
        ClassAndPrediction,
        CutNumbers,
        GroupAndRight,
        LogLoss,
        LossColumn,
        LossColumns,
        Right,
        Scores,
        SquaredLoss,
    }
)
TARGET_MAPS: frozenset[type] = frozenset({Errors, FirstColumn, Terms})
