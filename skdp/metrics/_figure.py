"""Private figure of held-out records: public numbers, questions by them, and a result from the answers.

Private figure with its interval and its cost.

Intervals that cover sampling and privacy noise at once, for rates, means and areas.

What is released is a sum with Gaussian noise of known deviation, so the pivot of each interval has both variances: that
of a fresh sample at the value that is tried, as Wilson (1927) does it, and that of the noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import ndtri, owens_t

from ..fitting.release import Query, release
from ..mechanisms import Public
from ..privacy import Receipt, Spec
from ..privacy._arithmetic import round_up

__all__ = [
    "Estimate",
    "Facts",
    "Figure",
    "Interval",
    "area",
    "average",
    "difference",
    "mean",
    "measure",
    "quantile",
    "quotient",
    "rate",
]


class Facts(NamedTuple):
    """Public facts that a figure may use before it asks.

    Parameters
    ----------
    n : int or None
        Number of records, where it is public.
    classes : int
        Number of the model's classes, 0 for numbers.
    spec : Spec
        The promise.
    level : float
        Coverage of the interval.
    """

    n: int | None
    classes: int
    spec: Spec
    level: float


@dataclass(frozen=True)
class Figure(Query):
    """Base of the figures, which `skdp.fitting.release` asks; they see no record.

    Parameters
    ----------
    n : int or None
        Number of records, where it is public.
    """

    n: int | None

    needs: ClassVar[str] = "predicted"  # which outcomes of `Held`

    @property
    def reach(self) -> float:
        """The largest target of a record."""
        return 1.0

    @property
    def declared(self) -> dict[str, Any]:
        """The number of records, where it is public."""
        return {} if self.n is None else {"n": self.n}


def measure(figure: Figure, spec: Spec, held: Any, given: dict[str, Any]) -> tuple[Any, Receipt]:
    """Release a figure of held records, or refuse before anything is paid where the model has no such outcomes."""
    public = Public(figure.n, 1, 0.0, spec.neighbors, target_bound=figure.reach)
    held.refuse_without(figure.needs, public.most)
    return release(figure, spec, public, held, **given)


@dataclass(frozen=True)
class Estimate:
    """A private figure of held-out records.

    Parameters
    ----------
    value : float
        The figure.
    low, high : float
        Ends of an interval for what it would be on the population that the records were drawn from: privacy noise and
        sampling are both in it.
    level : float
        How often such an interval holds, nominally.
    name : str
        Of what.
    privacy : Receipt
        What it cost.

    See Also
    --------
    dp_score : Makes one.
    """

    value: float
    low: float
    high: float
    level: float
    name: str
    privacy: Receipt

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        return (
            f"Estimate({self.name} = {self.value:.4g}, {100 * self.level:g} % interval "
            f"[{self.low:.4g}, {self.high:.4g}], epsilon = {round_up(self.privacy.epsilon, 4)})"
        )


Interval = tuple[float, float, float]  # value, low, high


def quantile(level: float) -> float:
    """Return the number of standard deviations that a two-sided interval of this level reaches."""
    return float(ndtri(0.5 + 0.5 * level))


def rate(
    hits: float,
    others: float,
    sd: float,
    level: float,
    cells: tuple[int, int] = (1, 1),
    projected: int = 0,
) -> Interval:
    """Share of hits among hits and others, both noisy.

    Parameters
    ----------
    hits, others : float
        Noisy counts.
    sd : float
        Standard deviation of the noise of one cell, before any projection.
    level : float
        Coverage.
    cells : (int, int)
        How many cells were added up for hits, and for others.
    projected : int
        Of how many cells the sum was put on the public total; 0 for none.
    """
    whole, z2 = hits + others, quantile(level) ** 2
    if not whole > 0:
        return 0.5, 0.0, 1.0
    first, both = cells[0], cells[0] + cells[1]
    shared = 1.0 / projected if projected else 0.0
    noise0 = sd * sd * (first - shared * first**2)
    noise1 = sd * sd * (-2 * first + 2 * shared * first * both)
    noise2 = sd * sd * (both - shared * both**2)
    # (hits - r whole)^2 <= z^2 (r (1 - r) whole + noise0 + noise1 r + noise2 r^2)
    value = min(1.0, max(0.0, hits / whole))
    square = whole**2 + z2 * (whole - noise2)
    middle = 2 * hits * whole + z2 * (whole + noise1)
    return _between(value, square, middle, hits**2 - z2 * noise0)


def _between(value: float, square: float, middle: float, rest: float) -> Interval:
    """Roots of square r^2 - middle r + rest; nothing is known where these do not enclose an interval."""
    under = middle**2 - 4 * square * rest
    if square <= 0 or under < 0:
        return value, 0.0, 1.0
    low, high = ((middle + sign * math.sqrt(under)) / (2 * square) for sign in (-1, 1))
    return value, min(value, max(0.0, low)), max(value, min(1.0, high))


def average(parts: Sequence[Interval]) -> Interval:
    """Mean of independent rates, from their intervals (Zou and Donner 2008, MOVER)."""
    k = len(parts)
    value = math.fsum(part[0] for part in parts) / k
    down = math.sqrt(math.fsum((r - low) ** 2 for r, low, _ in parts)) / k
    up = math.sqrt(math.fsum((high - r) ** 2 for r, _, high in parts)) / k
    return value, max(0.0, value - down), min(1.0, value + up)


def difference(one: Interval, other: Interval) -> Interval:
    """Return the difference of independent rates with its interval (Zou and Donner 2008, MOVER)."""
    value = one[0] - other[0]
    down = math.hypot(one[0] - one[1], other[2] - other[0])
    up = math.hypot(one[2] - one[0], other[0] - other[1])
    return value, max(-1.0, value - down), min(1.0, value + up)


def quotient(
    over: float, under: float, noise_over: float, noise_under: float, sampling: float, level: float
) -> Interval:
    """A quotient of two means, 0 or more (Fieller 1954); 1 and no bound where the lower one may be 0.

    Parameters
    ----------
    over, under : float
        Noisy means.
    noise_over, noise_under : float
        Standard deviations of their noise.
    sampling : float
        Variance of ``over - quotient * under`` by the choice of the records.
    level : float
        Coverage.
    """
    z2 = quantile(level) ** 2
    # (over - r under)^2 <= z^2 (noise_over^2 + r^2 noise_under^2 + sampling)
    square = under**2 - z2 * noise_under**2
    if not (under > 0 and square > 0):
        return 1.0, 0.0, math.inf
    value, middle = max(0.0, over / under), over * under
    rest = over**2 - z2 * (noise_over**2 + sampling)
    reach = math.sqrt(max(0.0, middle**2 - square * rest))
    low, high = (middle - reach) / square, (middle + reach) / square
    return value, min(value, max(0.0, low)), max(value, high)


def mean(value: float, variance: float, n: float, noise: float, level: float) -> Interval:
    """A mean in [0, 1] of n records with this variance, and noise of this deviation on it."""
    if not n > 1:
        return min(1.0, max(0.0, value)), 0.0, 1.0
    reach = quantile(level) * math.sqrt(min(0.25, max(0.0, variance)) / n + noise**2)
    value = min(1.0, max(0.0, value))
    return value, max(0.0, value - reach), min(1.0, value + reach)


def area(
    u: float, ones: float, zeros: float, sd_of_u: float, sd_of_ones: float, level: float
) -> Interval:
    """Area under a ROC curve from a noisy rank sum and noisy class sizes; variance of two normal classes."""
    if min(ones, zeros) < max(2.0, 4 * sd_of_ones):
        return 0.5, 0.0, 1.0
    value = 0.5 + u / (ones * zeros)
    a = min(1 - 1e-6, max(1e-6, value))
    # the chance that two of one class lie beyond one of the other, for normal scores of equal spread
    q = a - 2 * float(owens_t(ndtri(a), 1 / math.sqrt(3)))
    sampling = (a * (1 - a) + (ones + zeros - 2) * (q - a * a)) / (ones * zeros)
    sizes = ((a - 0.5) * sd_of_ones) ** 2 * (1 / ones - 1 / zeros) ** 2
    variance = (sd_of_u / (ones * zeros)) ** 2 + sizes + max(0.0, sampling)
    reach = quantile(level) * math.sqrt(variance)
    value = float(np.clip(value, 0.0, 1.0))
    return value, max(0.0, min(value, value - reach)), min(1.0, value + reach)
