"""Means of clipped losses of probabilities: log-loss and Brier score."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..fitting.data import Array
from ..fitting.release import Asked, release
from ..mechanisms import MeanLoss
from ..mechanisms.mean_loss import KAPPA
from ..privacy import Receipt, Spec, noise_multiplier
from ._confusion import public_of
from ._intervals import Interval, mean

__all__ = ["brier", "log_loss"]

_WHERE_N_IS_PRIVATE = 5.0  # largest log-loss


def brier(
    held: Any, n: int, spec: Spec, level: float, given: dict[str, Any]
) -> tuple[Interval, Receipt]:
    """Mean squared distance of the probability of the second class from what happened."""
    return _mean_loss(
        lambda: (1.0 - _right(held)) ** 2, n, spec, level, ("brier_score", 1.0), given
    )


def log_loss(
    held: Any, n: int, spec: Spec, level: float, given: dict[str, Any]
) -> tuple[Interval, Receipt]:
    """Of the model whose probabilities are clipped from below, so that no bias is hidden."""
    size = _size(n, spec)

    def losses() -> Array:
        return np.minimum(-np.log(np.maximum(_right(held), math.exp(-size))) / size, 1.0)

    return _mean_loss(losses, n, spec, level, ("log_loss", size), given)


def _right(held: Any) -> Array:
    """Probability of what happened."""
    p = held.probabilities()[:, 1]
    return np.where(held.codes == 1, p, 1.0 - p)


def _size(n: int, spec: Spec) -> float:
    """Largest log-loss: noise grows with it, so no larger than n and the promise bear."""
    if spec.neighbors != "replace_one":
        return _WHERE_N_IS_PRIVATE
    noise = noise_multiplier(spec.epsilon, spec.delta) if spec.delta else 1.0 / spec.epsilon
    return min(max(math.log(max(n / max(noise, 1e-9), 1.0)), 1.0), 8.0)


def _mean_loss(
    losses: Callable[[], Array],
    n: int,
    spec: Spec,
    level: float,
    what: tuple[str, float],
    given: dict[str, Any],
) -> tuple[Interval, Receipt]:
    """Ask once, and undo the scale of the losses."""
    public, (name, size) = public_of(n, spec), what

    def question(scale: float) -> MeanLoss:
        return MeanLoss(multiplier=scale)

    def ask(put: Callable[[Any], Any], scale: float) -> Interval:
        sd = scale * question(scale).bound(public)
        sums = put(question(scale))
        found = _with_n(sums, sd, n, level) if public.n else _without_n(sums, sd, level)
        return size * found[0], size * found[1], size * found[2]

    declared = {"largest loss": size} | ({"n": n} if public.n else {})
    asked = Asked(lambda scale: [question(scale)], ask, name, declared)
    return release(asked, spec, public, lambda: (np.zeros((n, 1)), losses()), **given)


def _with_n(sums: Array, sd: float, n: int, level: float) -> Interval:
    m = float(sums[0]) / n
    return mean(m, m - m * m - float(sums[1]) / (KAPPA * n), n, sd / n, level)


def _without_n(sums: Array, sd: float, level: float) -> Interval:
    """From a noisy half of n; the variance is at most m (1 - m)."""
    count = 2.0 * float(sums[0])
    if not count > 4.0 * sd:
        return 0.5, 0.0, 1.0
    m = min(1.0, max(0.0, 0.5 + float(sums[1]) / count))
    noise = sd * math.sqrt(1.0 + 4.0 * (m - 0.5) ** 2) / count
    return mean(m, m * (1.0 - m), count, noise, level)
