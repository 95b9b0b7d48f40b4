"""Step sizes and batches of hidden descents, and how far one record can move where they end.

One object feeds both the optimiser and the sensitivity, so they cannot disagree. The recursion
(after Wu et al. 2017): every step multiplies the distance of two neighbouring runs by at
most rho = max(|1 - eta mu|, |1 - eta (beta + mu)|), and the step on the batch that holds the
changed record adds sensitivity_factor * eta * L / |batch|. The penalty is common to both worlds, so L is the
bound of the loss alone. Proof: docs/proofs/hidden_descent.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._kernels import UNIT

__all__ = ["Schedule", "distances", "minimiser_distance", "reached"]

Array = np.ndarray[Any, Any]
ROUND_UP = 1.0 + 1e-12
_LARGEST_EXPONENT = 700.0  # of a double, in natural logarithms


def exactly(step: float, furthest: float) -> float:
    """Real numbers: a computed step is the exact one."""
    return 0.0


@dataclass(frozen=True, eq=False)
class Schedule:
    """Passes over fixed batches, in the same order each time.

    Parameters
    ----------
    steps : ndarray of shape (epochs, batches)
        Step sizes on the mean objective of a batch.
    sizes : tuple of int
        Records in each batch; they may differ.
    period : int or None
        Every so many epochs the iterate is replaced by the mean of the iterates since the last
        time; None for never.

    See Also
    --------
    distances : What it lets one record do.
    HiddenDescent : Runs it.

    Examples
    --------
    >>> from skdp.mechanisms import Schedule
    >>> plan = Schedule.harmonic(1.0, epochs=3, sizes=(50, 50))
    >>> plan.steps.round(3).tolist()
    [[1.0, 1.0], [0.5, 0.5], [0.333, 0.333]]
    """

    steps: Array
    sizes: tuple[int, ...]
    period: int | None = None

    def __post_init__(self) -> None:
        if self.steps.ndim != 2 or self.steps.shape[1] != len(self.sizes):
            raise ValueError(
                f"steps of shape {self.steps.shape} need one column for each of "
                f"{len(self.sizes)} batches."
            )
        if min(self.sizes) < 1 or not (self.steps >= 0).all():
            raise ValueError("batches need a record or more, and step sizes must be 0 or more.")

    @classmethod
    def constant(cls, step: float, epochs: int, sizes: tuple[int, ...]) -> Schedule:
        """Make a schedule with a single step size."""
        return cls(np.full((epochs, len(sizes)), float(step)), sizes)

    @classmethod
    def harmonic(
        cls, first: float, epochs: int, sizes: tuple[int, ...], period: int | None = None
    ) -> Schedule:
        """Step first / h in the h-th epoch since the last restart, which the published listing forgets."""
        since = np.arange(epochs) % (period or epochs) + 1
        return cls(np.repeat(first / since[:, None], len(sizes), axis=1), sizes, period)

    @classmethod
    def inverse(
        cls, curvature: float, convexity: float, epochs: int, sizes: tuple[int, ...]
    ) -> Schedule:
        """Step min(1/beta, 1/(mu t)) at the t-th step (Wu et al. 2017)."""
        t = np.arange(1, epochs * len(sizes) + 1).reshape(epochs, len(sizes))
        return cls(np.minimum(1.0 / curvature, 1.0 / (convexity * t)), sizes)

    def averages_after(self, epoch: int) -> bool:
        """Return whether a mean replaces the iterate after this epoch, counted from 0."""
        return self.period is not None and (epoch + 1) % self.period == 0

    def runs(self) -> Iterator[tuple[float, int]]:
        """Equal steps of a single batch, and how many in a row."""
        steps = self.steps[:, 0]
        ends = np.append(np.flatnonzero(np.diff(steps)) + 1, len(steps))
        return zip(steps[ends - 1].tolist(), np.diff(ends, prepend=0).tolist())

    def passes(self) -> Iterator[tuple[Array, bool]]:
        """Step sizes of each epoch, and whether it ends in averaging."""
        for epoch, steps in enumerate(self.steps):
            yield steps, self.averages_after(epoch)


def distances(
    schedule: Schedule,
    slope: float,
    curvature: float,
    convexity: float,
    sensitivity_factor: float = 2.0,
    roughness: Callable[[float, float], float] = exactly,
) -> Array:
    """Bound the distance of the ends of two neighbouring runs, by the batch that holds the changed record.

    Parameters
    ----------
    schedule : Schedule
        What both runs do.
    slope : float
        Bound L on the norm of one record's gradient of the loss.
    curvature : float
        Bound beta on the norm of its Hessian.
    convexity : float
        Weight mu of half the squared norm, part of every batch's mean objective.
    sensitivity_factor : float
        2 where a record is replaced.
    roughness : callable
        From a step size and a bound on the iterates' norm to how far a computed step may be from the exact one.

    Returns
    -------
    ndarray of shape (batches,)

    See Also
    --------
    Schedule : The plan of both runs.

    Examples
    --------
    >>> from skdp.mechanisms import Schedule, distances
    >>> plan = Schedule.constant(1.0, epochs=10, sizes=(100,))
    >>> distances(plan, slope=1.0, curvature=0.25, convexity=0.0).round(6)  # it adds up
    array([0.2])
    >>> distances(plan, slope=1.0, curvature=0.25, convexity=0.5).round(6)  # and is forgotten
    array([0.039961])
    """
    kick = sensitivity_factor * slope / np.asarray(schedule.sizes, dtype=float)
    if len(kick) == 1 and schedule.period is None:
        return _of_one_batch(schedule, kick, slope, curvature, convexity, roughness)
    distance, window, counted = np.zeros_like(kick), np.zeros_like(kick), 0
    furthest = 0.0
    for steps, averaged in schedule.passes():
        rho = _contraction(steps, curvature, convexity)
        kept, spread = _tails(rho)
        furthest = _reached(furthest, steps, slope, convexity)
        rough = 2.0 * roughness(float(steps.max()), furthest)
        if schedule.period is not None:
            window += distance * np.cumprod(rho).sum() + steps * kick * spread
            window += rough * spread.sum()
            counted += len(rho)
        distance = distance * np.prod(rho) + steps * kick * kept + rough * kept.sum()
        if averaged:
            # A mean of T numbers is off by T + 1 units of the largest.
            distance = window / counted + 4.0 * (counted + 1.0) * UNIT * furthest
            window, counted = np.zeros_like(kick), 0
        # More than an epoch's roundings, each a unit of the distance at most.
        distance *= ROUND_UP + 4.0 * len(rho) * UNIT
    return distance


def _of_one_batch(
    schedule: Schedule,
    kick: Array,
    slope: float,
    curvature: float,
    convexity: float,
    roughness: Callable[[float, float], float],
) -> Array:
    """`distances` where every step sees all records: runs of equal steps are geometric sums."""
    distance, furthest = np.zeros_like(kick), 0.0
    for step, count in schedule.runs():
        rho = float(_contraction(np.asarray(step), curvature, convexity))
        furthest = _after_run(furthest, step, count, slope, convexity)
        added, times = step * kick + 2.0 * roughness(step, furthest), _geometric(rho, count)
        if math.isinf(times):  # beyond the doubles, whatever follows
            return np.full_like(kick, math.inf)
        distance = (distance * rho**count + added * times) * ROUND_UP
    return distance


def _contraction(steps: Array, curvature: float, convexity: float) -> Array:
    """Return the factor by which each step changes the distance of two runs on a record that both see."""
    return np.asarray(
        np.maximum(np.abs(1 - steps * convexity), np.abs(1 - steps * (curvature + convexity)))
    )


def _geometric(ratio: float, count: int) -> float:
    """1 + ratio + ... + ratio^(count - 1), with a few units of relative error; ratio is 0 or more."""
    if ratio == 1.0:
        return float(count)
    if ratio == 0.0:
        return 1.0
    exponent = count * math.log1p(ratio - 1.0)
    return math.inf if exponent > _LARGEST_EXPONENT else math.expm1(exponent) / (ratio - 1.0)


def reached(schedule: Schedule, slope: float, convexity: float) -> float:
    """Bound on the norm of every iterate, from a start at 0."""
    furthest = 0.0
    if len(schedule.sizes) == 1:
        for step, count in schedule.runs():
            furthest = _after_run(furthest, step, count, slope, convexity)
        return furthest
    for steps, _ in schedule.passes():
        furthest = _reached(furthest, steps, slope, convexity)
    return furthest


def _reached(furthest: float, steps: Array, slope: float, convexity: float) -> float:
    """Bound on the norm of the iterates of one more epoch, those before it included."""
    if (steps == steps[0]).all():
        return _after_run(furthest, float(steps[0]), len(steps), slope, convexity)
    w = furthest
    for step in steps.tolist():
        w = abs(1.0 - step * convexity) * w * ROUND_UP + step * slope * ROUND_UP
        furthest = max(furthest, w)
    return furthest


def _after_run(furthest: float, step: float, count: int, slope: float, convexity: float) -> float:
    """Bound the norms of the iterates of equal steps: the bounds are monotone, so an end is the largest."""
    shrink = abs(1.0 - step * convexity)
    if shrink > 1.0 and count * math.log(shrink) > _LARGEST_EXPONENT:
        return math.inf
    w = shrink**count * furthest + step * slope * _geometric(shrink, count)
    return max(furthest, w * ROUND_UP)


def _tails(rho: Array) -> tuple[Array, Array]:
    """Return for each position the product of all later ratios, and the sum of all partial products."""
    first, count = float(rho[0]), len(rho)
    if 0.0 < first != 1.0 and (rho == first).all():
        follow = np.arange(count - 1, -1, -1)
        return first**follow, np.expm1((follow + 1) * math.log1p(first - 1.0)) / (first - 1.0)
    kept, spread = np.empty_like(rho), np.empty_like(rho)
    product = total = 1.0
    for j, ratio in zip(range(len(rho) - 1, -1, -1), rho[::-1].tolist()):
        kept[j], spread[j] = product, total
        product, total = product * ratio, 1.0 + total * ratio
    return kept, spread


def minimiser_distance(
    slope: float, convexity: float, tolerance: float, sensitivity_factor: float
) -> float:
    """Bound the distance of the certified minimisers of two neighbouring sums of losses.

    sensitivity_factor * L / lam for exact ones (strong convexity), and tolerance / lam for each certificate.
    """
    return (sensitivity_factor * slope + 2.0 * tolerance) / convexity * ROUND_UP
