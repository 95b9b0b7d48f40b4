"""R2 of a regressor on held-out records, from three sums of bounded numbers.

The first two are of squared errors, and of targets, whose second moment costs nothing (docs/proofs/mean_loss.md). The
third is of what one record adds to the error of the quotient: its variance, which the sampling part of the interval
needs, comes with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from ..entry import CutNumbers, Errors, FirstColumn, Terms
from ..exceptions import NotSupported
from ..mechanisms import MeanLoss, Public
from ..mechanisms.evaluation import KAPPA
from ._figure import Facts, Figure
from ._intervals import Interval, quotient

__all__ = ["r2"]

# Of mu squared: errors, targets, and the sampling variance. Between the first two about as their noise counts where R2
# is near 0; the third has to be right within a third or so.
_SHARES = (0.7, 0.2, 0.1)
_MOST = 100.0  # largest share of the variance that is left, for what a record adds
_REACH = 20.0  # mean squared errors: 4.5 standard deviations of the residuals


class _Moments(NamedTuple):
    """Mean and variance of numbers in [0, 1], and the noise of the two sums that they are made of, by n."""

    mean: float
    variance: float
    noise: float

    @property
    def noise_of_variance(self) -> float:
        """Return the noise scale of m - m^2 - v, where m carries the noise and v 1 / KAPPA of it."""
        return self.noise * math.hypot(1.0 - 2.0 * self.mean, 1.0 / KAPPA)


def r2(facts: Facts, bounds: tuple[float, float]) -> Figure:
    """Make the figure of predictions and targets that are cut to public bounds."""
    if facts.n is None:
        raise NotSupported(
            "scoring='r2' needs a public number of records; use neighbors='replace_one'."
        )
    return _R2(facts.n, facts.level, *bounds)


@dataclass(frozen=True)
class _R2(Figure):
    """Three sums, of which the first two say how the third is asked for."""

    n: int
    level: float
    low: float
    high: float

    name: ClassVar[str] = "r2"
    needs: ClassVar[str] = "numbers"

    @property
    def declared(self) -> dict[str, Any]:
        return {"n": self.n, "y_bounds": [self.low, self.high]}

    def questions(self, scale: float) -> list[MeanLoss]:
        return [MeanLoss(multiplier=scale / math.sqrt(share)) for share in _SHARES]

    def ask(self, put: Callable[..., Any], scale: float) -> Interval:
        of_errors, of_targets, of_terms = self.questions(scale)
        error = self._moments(put, of_errors, Errors())
        target = self._moments(put, of_targets, FirstColumn())
        terms = _terms(error, target)
        variance = self._moments(put, of_terms, terms).variance
        spread = min(0.25, max(0.0, variance)) * (2.0 * terms.reach) ** 2
        noises = error.noise, target.noise_of_variance
        found = quotient(error.mean, target.variance, *noises, spread / self.n, self.level)
        return 1.0 - found[0], 1.0 - found[2], 1.0 - found[1]

    def _moments(self, put: Callable[..., Any], question: MeanLoss, of: Any) -> _Moments:
        m, v = (float(total) / self.n for total in put(question, of))
        bound = question.bound(Public(self.n, 1, 0.0, "replace_one"))
        return _Moments(m, m - m * m - v / KAPPA, question.multiplier * bound / self.n)

    @property
    def outcome(self) -> CutNumbers:
        return CutNumbers(self.low, self.high)


def _terms(error: _Moments, target: _Moments) -> Terms:
    """Choose the range of what a record adds, by answers: the narrower, the better is its variance known.

    It is 0 in the mean and seldom more than some mean errors.
    """
    left = min(_MOST, max(0.0, error.mean) / target.variance) if target.variance > 0 else _MOST
    middle = min(1.0, max(0.0, target.mean))
    widest = max(1.0, left * max(middle, 1.0 - middle) ** 2)
    reach = min(widest, _REACH * (max(0.0, error.mean) + 2.0 * error.noise))
    return Terms(float(left), float(middle), float(reach))
