"""Registered costs of pure steps on a Poisson sample, and the pairs of laws that dominate them.

Sampling keeps the largest loss at m = log1p(q expm1(epsilon)) and, what a pure step of m would not
tell, the total variation at q tanh(epsilon / 2). With a and b = 1 - a the odds of randomised
response, docs/proofs/poisson_batch.md proves that a step is dominated

* by (b + q(a - b), a - q(a - b)) against (b, a) if its record is removed, and by the reverse if it
  is added: both are attained;
* under replace-one, in both directions, by (b + q(a - b), (1 - q)(a - b), b) against its mirror
  image, whose losses are m, 0 and -m.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._cost_registry import register
from ._costs import pure_mu, pure_profile, pure_renyi
from ._gaussian import gaussian_delta
from ._sampled import log_excess
from .events import PoissonPure

__all__ = ["Atoms", "amplified", "atoms"]

Array = NDArray[np.float64]
Atoms = tuple[tuple[float, float], ...]  # (loss, mass under P), both rounded up

_UNIT = 2e-15  # relative: covers the rounding of a computed loss or mass
_LEAST = 1e-300  # no mass is counted as less, since logarithms are taken
_LARGE = 300.0  # epsilons beyond which moments are not computed, since they overflow


def amplified(event: PoissonPure) -> float:
    """Largest loss of a step, log1p(q expm1(epsilon)), rounded up."""
    epsilon, rate = event.epsilon, event.rate
    if epsilon > 700:
        grown = epsilon + math.log(rate)
        grown += 2.3e-16 * (epsilon - math.log(rate))
        largest = float(np.logaddexp(math.log1p(-rate), grown))
    else:
        largest = math.log1p(rate * math.expm1(epsilon))
    return min(largest * (1 + _UNIT), epsilon)


def atoms(event: PoissonPure, neighbors: str) -> tuple[Atoms, Atoms]:
    """Losses and their masses where a record is removed, and where one is added."""
    epsilon, rate, largest = event.epsilon, event.rate, amplified(event)
    odds = math.exp(-min(epsilon, 700.0))  # a smaller lie is counted as this one
    truth, lie = 1 / (1 + odds), odds / (1 + odds)
    gap = math.tanh(epsilon / 2)
    top = lie + rate * gap
    lowest = -largest * (1 - 1e-12)  # up, too
    if neighbors == "replace_one":
        both = _raised((largest, top), (0.0, (1 - rate) * gap), (lowest, lie))
        return both, both
    other = _smallest(epsilon, rate)
    removing = _raised((largest, top), (other, (1 - rate) * truth + rate * lie))
    return removing, _raised((-other, truth), (lowest, lie))


def _smallest(epsilon: float, rate: float) -> float:
    """log(1 - q + q e^-epsilon), the loss of the other answer."""
    missing = rate * -math.expm1(-epsilon)
    if missing < 0.5:
        return math.log1p(-missing)
    return math.log((1 - rate) + rate * math.exp(-epsilon))


def _raised(*pairs: tuple[float, float]) -> Atoms:
    return tuple(
        (loss + _UNIT * abs(loss), max(mass, _LEAST) * (1 + _UNIT / 2)) for loss, mass in pairs
    )


@register(PoissonPure, "pure")
def _sampled_epsilon(event: PoissonPure, neighbors: str) -> float:
    if event.rate in (0.0, 1.0):
        return event.epsilon if event.rate else 0.0  # infinity times 0 is no number
    return amplified(event)


@register(PoissonPure, "gdp")
def _sampled_mu(event: PoissonPure, neighbors: str) -> float:
    return pure_mu(_sampled_epsilon(event, neighbors))


@register(PoissonPure, "zcdp")
def _sampled_rho(event: PoissonPure, neighbors: str) -> float:
    return _sampled_epsilon(event, neighbors) ** 2 / 2


@register(PoissonPure, "profile")
def _sampled_profile(
    event: PoissonPure, epsilon: Any, neighbors: str, extra_mu: float = 0.0
) -> Any:
    """The larger of both directions, each averaged over the loss of the step."""
    if event.rate in (0.0, 1.0) or math.isinf(event.epsilon):
        return pure_profile(_sampled_epsilon(event, neighbors), epsilon, extra_mu)
    eps = np.asarray(epsilon, float)
    sums = [
        sum(mass * gaussian_delta(eps - loss, extra_mu) for loss, mass in side)
        for side in atoms(event, neighbors)
    ]
    return np.minimum(np.max(sums, axis=0), 1.0)[()]


@register(PoissonPure, "rdp")
def _sampled_renyi(event: PoissonPure, orders: Array, neighbors: str) -> Array:
    """Divergence of the pair of three answers, which dominates that of two; of two if that is all.

    Removing a record costs more than adding one, since randomised response is symmetric (Mironov,
    Talwar and Zhang 2019, Theorem 5).
    """
    largest = _sampled_epsilon(event, neighbors)
    out = pure_renyi(largest, orders)
    if event.rate in (0.0, 1.0) or event.epsilon > _LARGE or largest < _LEAST:
        return out
    out = np.minimum(out, _three_renyi(event, largest, orders))
    if neighbors == "add_remove":
        out = np.minimum(out, _two_renyi(event, orders))
    return out


def _three_renyi(event: PoissonPure, largest: float, orders: Array) -> Array:
    """1 + 2 q tanh(eps/2) sinh(a m/2) sinh((a-1) m/2) / sinh(m/2), as a logarithm over a - 1."""
    log_gap = math.log(2 * event.rate) + math.log(math.tanh(event.epsilon / 2))
    log_gap = log_gap + _log_sinh(orders * largest / 2) + _log_sinh((orders - 1) * largest / 2)
    log_gap = log_gap - _log_sinh(np.float64(largest / 2))
    return np.asarray(np.logaddexp(0.0, log_gap * (1 + 0 * orders)) / (orders - 1))


def _log_sinh(x: Any) -> Any:
    return x + np.log(-np.expm1(-2 * x)) - math.log(2)


def _two_renyi(event: PoissonPure, orders: Array) -> Array:
    """Mean under Q of (P/Q)^a - 1 - a (P/Q - 1), whose last part has mean zero; rounded up."""
    odds = math.exp(-event.epsilon)
    masses = (odds / (1 + odds), 1 / (1 + odds))
    rises = (event.rate * math.expm1(event.epsilon), event.rate * math.expm1(-event.epsilon))
    losses = (math.log1p(rises[0]), _smallest(event.epsilon, event.rate))
    total = np.full(len(orders), -np.inf)
    for mass, rise, loss in zip(masses, rises, losses):
        total = np.logaddexp(total, math.log(mass) + _excess(orders, rise, loss))
    return np.asarray(np.logaddexp(0.0, total) / (orders - 1))


def _excess(orders: Array, rise: float, loss: float) -> Array:
    """log of (1 + rise)^a - 1 - a rise, rounded up: a difference, or where it has no digits a series."""
    log_ratio, tangent = orders * loss, orders * rise
    top = np.maximum(log_ratio, 0.0)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        scale = np.where(log_ratio > 1, top + np.log1p(top), np.log(np.abs(tangent)))
        apart = np.logaddexp(log_excess(log_ratio, tangent), math.log(_UNIT) + scale)
        rest = np.ones(len(orders))
        for k in range(12, 1, -1):
            rest = 1 + (orders - k) * rise / (k + 1) * rest
        series = np.log(orders * (orders - 1) / 2 * rest) + 2 * math.log(abs(rise)) + 1e-13
    return np.asarray(np.where(np.abs(tangent) < 0.01, series, apart))
