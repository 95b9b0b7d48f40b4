"""Registered Renyi costs of sampled events: Poisson, without replacement, shared batches.

The dominating pairs are one-dimensional, so each divergence is an integral computed to round-off:
Poisson under add/remove is (1-q) N(0) + q N(1) against N(0) (Mironov, Talwar and Zhang 2019),
under replace-one the antipodal pair with means -1 and +1, without replacement the symmetric curve
h(eps) = q H(log1p(expm1(eps) / q); 2 / z).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._cost_registry import cost, register
from ._costs import pure_renyi
from ._gaussian import LOG_SQRT_2PI, gaussian_delta, gaussian_log_delta
from ._scipy import gammaln
from .events import (
    Gaussian,
    PoissonBundle,
    PoissonGaussian,
    RandomAllocation,
    WithoutReplacementGaussian,
)

__all__ = ["log_excess", "where_resolved"]

Array = NDArray[np.float64]

_LOWEST = 1 + 1e-3  # below, divergences (nondecreasing in the order) are bounded by this order's
_NODES = (512, 2048, 8192)
_SMALLEST = 0.03  # multiplier below which the antipodal pair's density ratios overflow
_BUNDLE_ORDERS = 512
_PANEL, _PANEL_WEIGHTS = np.polynomial.legendre.leggauss(16)


@register(PoissonGaussian, "rdp")
def _poisson_renyi(event: PoissonGaussian, orders: Array, neighbors: str) -> Array:
    """Quadrature where it resolves the integrand, the unsampled Gaussian beyond."""
    z, q = event.multiplier, event.rate
    sensitivity = 2.0 if neighbors == "replace_one" else 1.0
    unsampled = orders * (math.inf if z == 0 else (sensitivity / z) ** 2 / 2)
    if q == 0 or z == 0 or math.isinf(z):
        return unsampled if q and z == 0 else np.zeros(len(orders))
    if z < _SMALLEST and sensitivity == 2:
        return unsampled
    step = min(z / 3, 0.55 * z * z)  # the integrand's nearest singularity is at distance pi z^2
    # P^a Q^(1-a) has its last bump at a, or for the antipodal pair with q near one at 2a - 1; the
    # antipodal pair's tangent has one at -1
    first = 1 - sensitivity - 12 * z
    reach = (sensitivity * orders + 12 * z - first) / step
    x = first + step * np.arange(_fitting(reach))
    log_weight = math.log(step / z) - LOG_SQRT_2PI - (x / z) ** 2 / 2
    up, down = (2 * x - 1) / (2 * z * z), (-2 * x - 1) / (2 * z * z)
    toward, log_toward = q * _expm1(up), _log_mixed(up, q)
    away, log_away = 0 * x, 0 * x
    if sensitivity == 2:
        away, log_away = q * _expm1(down), _log_mixed(down, q)

    def log_moment(a: Array, nodes: int) -> Array:
        plus, minus = toward[:nodes], away[:nodes]
        log_ratio = a * log_toward[:nodes] + (1 - a) * log_away[:nodes]
        excess = log_excess(log_ratio, a * plus + (1 - a) * minus)
        return np.logaddexp(0.0, _log_sum_exp(excess + log_weight[:nodes]))

    return where_resolved(log_moment, orders, reach, unsampled)


def _fitting(reach: Array) -> int:
    """Nodes of a grid shared by all orders that it can resolve."""
    within = reach[reach <= _NODES[-1]]
    return next(n for n in _NODES if n >= within.max(initial=0.0))


def where_resolved(
    log_moment: Callable[[Array, int], Array], orders: Array, reach: Array, bound: Array
) -> Array:
    """Divergence from a log moment on as many nodes as each order needs, else its bound."""
    out, done = bound.copy(), reach > _NODES[-1]
    asked = np.maximum(orders, _LOWEST)
    for nodes in _NODES:
        now = ~done & (reach <= nodes)
        if now.any():
            distinct, back = np.unique(asked[now], return_inverse=True)
            divergence = log_moment(distinct[:, None], nodes) / (distinct - 1)
            out[now] = np.minimum(bound[now], divergence[back])
        done |= now
    return out


def _expm1(x: NDArray[Any]) -> Array:
    return np.asarray(np.expm1(np.minimum(x, 700.0)))


def _log_sum_exp(logs: Array) -> Array:
    """log of the sum of e^x along rows: scipy's is ten times slower for the few orders that a filter asks for."""
    top = np.clip(logs.max(axis=1, keepdims=True), -1e300, 1e300)
    with np.errstate(divide="ignore", over="ignore"):
        return np.asarray(np.log(np.exp(logs - top).sum(axis=1)) + top[:, 0])


def _log_mixed(y: NDArray[Any], q: float) -> NDArray[Any]:
    """log(1 - q + q e^y), however large y is."""
    with np.errstate(divide="ignore"):
        far = np.logaddexp(np.log1p(-q), math.log(q) + y)
    return np.asarray(np.where(y < 30, np.log1p(q * np.expm1(np.minimum(y, 30.0))), far))


def log_excess(log_ratio: Array, tangent: Array) -> Array:
    """log(ratio - 1 - tangent) >= -inf; the tangent integrates to zero, so this cancels nothing."""
    large = log_ratio > 1
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        rest = np.log1p(-(1 + tangent) * np.exp(-log_ratio))
        small = np.log(np.maximum(np.expm1(np.where(large, 0.0, log_ratio)) - tangent, 0.0))
    return np.where(large, log_ratio + rest, small)


@register(WithoutReplacementGaussian, "rdp", relations=("replace_one",))
def _without_replacement_renyi(
    event: WithoutReplacementGaussian, orders: Array, neighbors: str
) -> Array:
    """e^((a-1) R) = 1 + int a (a-1) (e^((a-1) t) + e^(-a t)) h(t) dt over t >= 0.

    Integrated in u = log1p(expm1(t) / q), where h(t) = q H(u; 2 / z) is smooth, by panels.
    """
    z, q = event.multiplier, event.rate
    mu = math.inf if z == 0 else 2 / z
    if q == 0 or mu == 0:
        return np.zeros(len(orders))
    unsampled = orders * mu**2 / 2
    if math.isinf(mu):
        return unsampled
    width = min(mu, 1.0)
    reach = len(_PANEL) * (mu * mu * (orders + 0.5) + 14 * mu) / width
    panels = np.arange(_fitting(reach) // len(_PANEL))
    u = width * (panels[:, None] + (_PANEL + 1) / 2).ravel()
    t = np.where(u > 30, u + math.log(q), np.log1p(q * np.expm1(np.minimum(u, 30.0))))
    t = np.where(u > 30, np.logaddexp(t, math.log1p(-q) if q < 1 else -math.inf), t)
    log_weight = math.log(width / 2) + np.log(np.tile(_PANEL_WEIGHTS, len(panels)))
    log_density = log_weight + 2 * math.log(q) + gaussian_log_delta(u, mu) + u - t

    def log_moment(a: Array, nodes: int) -> Array:
        powers = np.log(a * (a - 1)) + np.logaddexp((a - 1) * t[:nodes], -a * t[:nodes])
        return np.logaddexp(0.0, _log_sum_exp(powers + log_density[:nodes]))

    return where_resolved(log_moment, orders, reach, unsampled)


@register(PoissonBundle, "rdp", relations=("add_remove",))
def _bundle_renyi(event: PoissonBundle, orders: Array, neighbors: str) -> Array:
    """Binomial identity at whole orders; (a-1) R is convex in a, so chords bound it between them.

    The product of a Gaussian pair and randomised responses is symmetric, so removing a record
    dominates adding one and the binomial sum needs no factor (Mironov, Talwar and Zhang 2019,
    Theorem 5).
    """
    unsampled = _bundle_batch_renyi(event, orders)
    moments = _bundle_log_moments(event)
    whole = np.arange(1, _BUNDLE_ORDERS + 1)
    chord = np.interp(orders, whole, moments) / (orders - 1)
    return np.where(orders <= _BUNDLE_ORDERS, np.minimum(chord, unsampled), unsampled)


def _bundle_batch_renyi(event: PoissonBundle, orders: Array) -> Array:
    """Cost of all steps of the bundle on the batch itself."""
    out = np.full(len(orders), np.inf)
    if event.multiplier > 0:
        out = orders / (2 * event.multiplier**2)
    for epsilon in event.epsilons:
        out = out + pure_renyi(epsilon, orders)
    return out


@lru_cache(maxsize=64)
def _bundle_log_moments(event: PoissonBundle) -> Array:
    """(a-1) R(a) at a = 1, 2, ..., by the binomial sum in logs."""
    q = event.rate
    if q == 0 or q == 1:
        a = np.arange(2, _BUNDLE_ORDERS + 1, dtype=float)
        return np.concatenate([[0.0], q * (a - 1) * _bundle_batch_renyi(event, a)])
    k = np.arange(_BUNDLE_ORDERS + 1, dtype=float)
    batch = np.zeros(len(k))
    batch[2:] = (k[2:] - 1) * _bundle_batch_renyi(event, k[2:])
    a = k[1:, None]
    with np.errstate(invalid="ignore"):
        log_binomial = gammaln(a + 1) - gammaln(k + 1) - gammaln(np.maximum(a - k, 0) + 1)
    terms = log_binomial + k * math.log(q) + (a - k) * math.log1p(-q) + _log_expm1(batch)
    terms = np.where((k <= a) & (k >= 2), terms, -np.inf)
    with np.errstate(invalid="ignore"):
        return np.logaddexp(0.0, _log_sum_exp(terms))


def _log_expm1(x: Array) -> Array:
    """log(e^x - 1): the binomial weights sum to one, so subtracting one from each term is exact."""
    with np.errstate(divide="ignore"):
        return np.where(x > 30, x, np.log(np.expm1(np.minimum(x, 30.0))))


# Random allocation: that of everybody in a batch that all know, by joint convexity; loss distributions know better


def _known_batch(event: RandomAllocation, neighbors: str) -> Gaussian:
    return Gaussian(event.multiplier / (2.0 if neighbors == "replace_one" else 1.0))


def _allocated(currency: str) -> None:
    whole = Gaussian(1.0)

    @register(RandomAllocation, currency)
    def _price(event: RandomAllocation, *rest: Any) -> Any:
        known = _known_batch(event, rest[-1])
        return cost(whole, currency, rest[-1])(known, *rest)


for _currency in ("gdp", "zcdp", "rdp"):
    _allocated(_currency)


@register(RandomAllocation, "profile")
def _allocated_profile(
    event: RandomAllocation, epsilon: Any, neighbors: str, extra_mu: float = 0.0
) -> Any:
    """Profile of the exact pair; beside a Gaussian, that of a batch that all know."""
    if extra_mu:
        known = _known_batch(event, neighbors)
        return gaussian_delta(epsilon, math.hypot(1.0 / known.multiplier, extra_mu))
    from ._pld_allocation import allocated_delta  # here, since few scripts need it

    eps = np.asarray(epsilon, float)
    found = [allocated_delta(event.multiplier, event.batches, e, neighbors) for e in eps.ravel()]
    return np.reshape(found, eps.shape)[()]
