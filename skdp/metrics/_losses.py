"""Means of clipped losses of probabilities: log-loss and Brier score."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from ..entry import LogLoss, SquaredLoss
from ..fitting.data import Array
from ..mechanisms import MeanLoss, Public
from ..mechanisms.evaluation import KAPPA
from ..privacy import Spec, noise_multiplier
from ._figure import Facts, Figure
from ._intervals import Interval, mean

__all__ = ["brier", "log_loss"]

_WHERE_N_IS_PRIVATE = 5.0  # largest log-loss


def brier(facts: Facts) -> Figure:
    """Mean squared distance of the probability of the second class from what happened."""
    return _Brier(facts.n, facts.level, 1.0)


def log_loss(facts: Facts) -> Figure:
    """Make the figure of the log loss with probabilities clipped from below, so that the figure hides no bias."""
    return _LogLoss(facts.n, facts.level, _size(facts.n, facts.spec))


def _size(n: int | None, spec: Spec) -> float:
    """Return the largest log loss: noise grows with it, so it is no larger than n and the budget allow."""
    if n is None:
        return _WHERE_N_IS_PRIVATE
    noise = noise_multiplier(spec.epsilon, spec.delta) if spec.delta else 1.0 / spec.epsilon
    return min(max(math.log(max(n / max(noise, 1e-9), 1.0)), 1.0), 8.0)


@dataclass(frozen=True)
class _MeanLoss(Figure):
    """Mean loss from one question, on the original scale of the losses."""

    level: float
    size: float

    needs: ClassVar[str] = "probabilities"

    @property
    def declared(self) -> dict[str, Any]:
        return {"largest loss": self.size} | super().declared

    def questions(self, scale: float) -> list[MeanLoss]:
        return [MeanLoss(multiplier=scale)]

    def ask(self, put: Callable[..., Any], scale: float) -> Interval:
        (question,), n = self.questions(scale), self.n
        relation = "add_remove" if n is None else "replace_one"
        sd = scale * question.bound(Public(n, 1, 0.0, relation))
        sums = put(question)
        found = _without_n(sums, sd, self.level) if n is None else _with_n(sums, sd, n, self.level)
        return self.size * found[0], self.size * found[1], self.size * found[2]


@dataclass(frozen=True)
class _Brier(_MeanLoss):
    name: ClassVar[str] = "brier_score"

    @property
    def outcome(self) -> SquaredLoss:
        return SquaredLoss()


@dataclass(frozen=True)
class _LogLoss(_MeanLoss):
    name: ClassVar[str] = "log_loss"

    @property
    def outcome(self) -> LogLoss:
        return LogLoss(self.size)


def _with_n(sums: Array, sd: float, n: int, level: float) -> Interval:
    m = float(sums[0]) / n
    return mean(m, m - m * m - float(sums[1]) / (KAPPA * n), n, sd / n, level)


def _without_n(sums: Array, sd: float, level: float) -> Interval:
    """Return the mean loss and its interval from sums with a noisy half of n; its variance is at most m (1 - m)."""
    count = 2.0 * float(sums[0])
    if not count > 4.0 * sd:
        return 0.5, 0.0, 1.0
    m = min(1.0, max(0.0, 0.5 + float(sums[1]) / count))
    noise = sd * math.sqrt(1.0 + 4.0 * (m - 0.5) ** 2) / count
    return mean(m, m * (1.0 - m), count, noise, level)
