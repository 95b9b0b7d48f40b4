"""R2 of a regressor on held-out records, from three sums of bounded numbers.

The first two are of squared errors, and of targets, whose second moment costs nothing (docs/proofs/mean_loss.md). The
third is of what one record adds to the error of the quotient: its variance, which the sampling part of the interval
needs, comes with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..exceptions import NotSupported
from ..fitting.data import Array
from ..fitting.release import Asked, release
from ..mechanisms import MeanLoss
from ..mechanisms.mean_loss import KAPPA
from ..privacy import Receipt, Spec
from ._confusion import public_of
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
        """Of m - m^2 - v, with noise on m and 1 / KAPPA of it on v."""
        return self.noise * math.hypot(1.0 - 2.0 * self.mean, 1.0 / KAPPA)


def r2(
    held: Any, bounds: tuple[float, float], spec: Spec, level: float, given: dict[str, Any]
) -> tuple[Interval, Receipt]:
    """Of predictions and targets that are cut to public bounds."""
    if spec.neighbors != "replace_one":
        raise NotSupported(
            "scoring='r2' needs a public number of records; use neighbors='replace_one'."
        )
    n, (low, high) = len(held.codes), bounds
    public = public_of(n, spec)

    def placed(numbers: Array) -> Array:
        return np.clip((np.clip(numbers, low, high) - low) / (high - low), 0.0, 1.0)

    def load() -> tuple[Array, Array]:
        return np.zeros((n, 1)), np.column_stack([placed(held.codes), placed(held.numbers())])

    def questions(scale: float) -> list[MeanLoss]:
        return [MeanLoss(multiplier=scale / math.sqrt(share)) for share in _SHARES]

    def ask(put: Callable[..., Any], scale: float) -> Interval:
        def moments(question: MeanLoss, of: Callable[[Array], Array]) -> _Moments:
            m, v = (float(total) / n for total in put(question, of))
            noise = question.multiplier * question.bound(public) / n
            return _Moments(m, m - m * m - v / KAPPA, noise)

        of_errors, of_targets, of_terms = questions(scale)
        error = moments(of_errors, _errors)
        target = moments(of_targets, lambda seen: seen[:, 0])
        term, width = _terms(error, target)
        spread = min(0.25, max(0.0, moments(of_terms, term).variance)) * width**2
        noises = error.noise, target.noise_of_variance
        found = quotient(error.mean, target.variance, *noises, spread / n, level)
        return 1.0 - found[0], 1.0 - found[2], 1.0 - found[1]

    asked = Asked(questions, ask, "r2", {"n": n, "y_bounds": [low, high]})
    return release(asked, spec, public, load, **given)


def _errors(seen: Array) -> Array:
    return np.square(seen[:, 0] - seen[:, 1])


def _terms(error: _Moments, target: _Moments) -> tuple[Callable[[Array], Array], float]:
    """What a record adds to ``errors - quotient * variance``, put into [0, 1], and the width of its range.

    It is 0 in the mean and seldom more than some mean errors; the narrower the range, the better is the variance known.
    """
    left = min(_MOST, max(0.0, error.mean) / target.variance) if target.variance > 0 else _MOST
    middle = min(1.0, max(0.0, target.mean))
    widest = max(1.0, left * max(middle, 1.0 - middle) ** 2)
    reach = min(widest, _REACH * (max(0.0, error.mean) + 2.0 * error.noise))

    def terms(seen: Array) -> Array:
        added = _errors(seen) - left * np.square(seen[:, 0] - middle)
        return 0.5 + 0.5 * np.clip(added / reach, -1.0, 1.0)

    return terms, 2.0 * reach
