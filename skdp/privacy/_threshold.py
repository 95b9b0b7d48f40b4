"""Registered costs of the sparse vector technique (AboveThreshold), Laplace and Gaussian.

The Laplace bound holds for any number of adaptive queries. Given the noisy threshold, each query is
a coin, and the chain rule reduces the run to the worst single coin: with S, F the tails of the
query noise and t the shift of the noise at one step,

    R(a) <= min over s in [0, 1] of Lap(a; s e1) + log V / (a - 1),
    V = sup over c and t = s +- 1 of  S(c-t)^a S(c)^(1-a) / (1 - F(c-t)^a F(c)^(1-a)),

where s is how much of the change the threshold noise absorbs. Outside min(0,t) <= c <= max(0,t) the
ratio is quasi-convex in e^-|c| and its ends are in the interval, so the search is there only.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ._cost_registry import register
from ._costs import laplace_renyi, pure_mu, pure_renyi
from .events import AboveThreshold, GaussianAboveThreshold

__all__: list[str] = []

Array = NDArray[np.float64]

_CELLS, _ZOOMS = np.linspace(0.0, 1.0, 17), 4
_LARGEST = 1e4  # beyond this order the pure bound is as good
_SEARCH_MARGIN = 1 + 1e-5
_HOPELESS = 50.0  # a log V beyond this is treated as infinite: some coin cannot be bounded


def _pure(event: AboveThreshold) -> float:
    return event.threshold_epsilon + 2 * event.query_epsilon


@register(AboveThreshold, "pure")
def _threshold_epsilon(event: AboveThreshold, neighbors: str) -> float:
    return _pure(event)


@register(AboveThreshold, "gdp")
def _threshold_mu(event: AboveThreshold, neighbors: str) -> float:
    return pure_mu(_pure(event))


@register(AboveThreshold, "zcdp")
def _threshold_rho(event: AboveThreshold, neighbors: str) -> float:
    return _pure(event) ** 2 / 2


@register(AboveThreshold, "rdp")
def _threshold_renyi(event: AboveThreshold, orders: Array, neighbors: str) -> Array:
    """Least over the share that the threshold absorbs: every share is a valid bound."""
    e1, e2 = event.threshold_epsilon, event.query_epsilon
    best = pure_renyi(_pure(event), orders)
    low = orders < _LARGEST
    if math.isinf(e2) or not low.any():
        return best
    share = np.zeros(low.sum())
    found = _bound(event, orders[low], share)
    step = 0.25 if math.isfinite(e1) else 0.0
    for start in (0.25, 0.5, 0.75, 1.0) if step else ():
        found, share = _better(event, orders[low], found, share, np.full(len(share), start))
    while step > 0.002:
        step /= 2
        for probe in (share - step, share + step):
            found, share = _better(event, orders[low], found, share, np.clip(probe, 0, 1))
    best[low] = np.minimum(best[low], found)
    return best


def _better(
    event: AboveThreshold, orders: Array, found: Array, share: Array, probe: Array
) -> tuple[Array, Array]:
    value = _bound(event, orders, probe)
    return np.minimum(found, value), np.where(value < found, probe, share)


def _bound(event: AboveThreshold, orders: Array, share: Array) -> Array:
    e1, e2 = event.threshold_epsilon, event.query_epsilon
    coins = np.maximum(
        _log_worst_coin(orders, e2 * (share + 1)), _log_worst_coin(orders, e2 * (share - 1))
    )
    threshold = laplace_renyi(share * e1, orders) if share.any() else 0.0
    return threshold + _SEARCH_MARGIN * coins / (orders - 1)


def _log_worst_coin(orders: Array, shift: Array) -> Array:
    """log V for one shift t an order (in units of the query noise), by a zooming grid over c."""
    a, t = orders[:, None], shift[:, None]
    first, last = np.minimum(0.0, t), np.maximum(0.0, t)
    low, high = first, last
    best = np.zeros(len(orders))
    for _ in range(_ZOOMS):
        c = low + (high - low) * _CELLS
        values = _log_coin(a, c, t)
        best = np.maximum(best, values.max(axis=1))
        peak = np.take_along_axis(c, values.argmax(axis=1)[:, None], axis=1)
        cell = (high - low) * _CELLS[1]
        low, high = np.maximum(peak - cell, first), np.minimum(peak + cell, last)
    return np.where(best < _HOPELESS, best, np.inf)


def _log_coin(a: Array, c: Array, shift: Array) -> Array:
    """log of S(c-t)^a S(c)^(1-a) / (1 - F(c-t)^a F(c)^(1-a)); infinite where the ratio is."""
    stop = a * _log_tail(c - shift) + (1 - a) * _log_tail(c)
    go = a * _log_tail(shift - c) + (1 - a) * _log_tail(-c)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(go < 0, stop - np.log(-np.expm1(np.minimum(go, 0.0))), np.inf)


def _log_tail(x: Array) -> Array:
    """log P(nu >= x) for the unit Laplace law."""
    with np.errstate(over="ignore"):
        return np.where(x > 0, math.log(0.5) - x, np.log1p(-0.5 * np.exp(np.minimum(x, 0.0))))


# Gaussian noise: the noise of many queries concentrates, so only an enforced number is priced


def _fixed_queries_mu(event: GaussianAboveThreshold) -> float:
    """K noisy differences lie within Mahalanobis distance sqrt(K) / sigma2 of each other."""
    if event.query_multiplier == 0:
        return math.inf
    return math.sqrt(event.max_queries) / event.query_multiplier


@register(GaussianAboveThreshold, "gdp")
def _gaussian_threshold_mu(event: GaussianAboveThreshold, neighbors: str) -> float:
    return _fixed_queries_mu(event)


@register(GaussianAboveThreshold, "zcdp")
def _gaussian_threshold_rho(event: GaussianAboveThreshold, neighbors: str) -> float:
    return _fixed_queries_mu(event) ** 2 / 2


@register(GaussianAboveThreshold, "rdp")
def _gaussian_threshold_renyi(
    event: GaussianAboveThreshold, orders: Array, neighbors: str
) -> Array:
    """The smaller of the exact Gaussian bound and the per-outcome one with its sum over outcomes.

    Bounding one outcome gives a / (2 s1^2) + 2 a / s2^2; summing over the K + 1 stopping times adds
    log(K + 1) / (a - 1) by Hoelder's inequality.
    """
    s1, s2 = event.threshold_multiplier, event.query_multiplier
    exact = orders * _gaussian_threshold_rho(event, neighbors)
    if s1 == 0 or s2 == 0:
        return exact
    outcomes = math.log(event.max_queries + 1) / (orders - 1)
    return np.minimum(exact, orders * (0.5 / s1**2 + 2 / s2**2) + outcomes)
