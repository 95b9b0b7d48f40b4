"""Registered costs of the unsampled events: Gaussian, Laplace, pure, bounded range, zCDP, mixtures.

Every function prices one event; `curves.register` says what the signatures are.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._cost_registry import register
from ._gaussian import gaussian_delta, gaussian_log_delta
from ._scipy import erfinv, logsumexp, ndtri_exp
from .events import (
    ZCDP,
    BoundedRange,
    Gaussian,
    Laplace,
    PureDP,
    RandomPosition,
    RenyiDP,
)

__all__ = ["inverse_up", "pure_mu", "pure_profile", "pure_renyi"]

Array = NDArray[np.float64]


def _inverse(value: float) -> float:
    return math.inf if value == 0 else 1 / value


def inverse_up(value: float) -> float:
    """The smallest double that is at least 1 / value."""
    near = _inverse(value)
    if math.isfinite(near) and math.isfinite(value) and Fraction(near) * Fraction(value) < 1:
        return math.nextafter(near, math.inf)
    return near


def pure_mu(epsilon: float) -> float:
    """Smallest mu whose trade-off curve lies below that of any epsilon-DP release.

    The curve of randomised response has its kink at errors 1 / (1 + e^epsilon) on both sides, and
    mu-Gaussian DP must pass below the kink.
    """
    if math.isinf(epsilon):
        return math.inf
    if epsilon < 1:  # by the total variation: near errors of 1/2 a quantile loses its digits
        return 2 * math.sqrt(2) * float(erfinv(math.tanh(epsilon / 2)))
    return -2 * float(ndtri_exp(-np.logaddexp(0.0, epsilon)))


def pure_renyi(epsilon: float, orders: Array) -> Array:
    """Renyi divergence of randomised response, the worst epsilon-DP release, at each order.

    (cosh((a - 1/2) eps) / cosh(eps / 2))^(1/(a-1)), with the difference of cosh turned into a
    product so that nothing cancels at small epsilon.
    """
    if epsilon > 500 or epsilon == 0:
        return np.full(len(orders), epsilon)
    x, y = orders * epsilon / 2, (orders - 1) * epsilon / 2
    log_product = x + y + np.log(-np.expm1(-2 * x)) + np.log(-np.expm1(-2 * y)) - math.log(2)
    log_gap = log_product - math.log(math.cosh(epsilon / 2))
    return np.minimum(np.logaddexp(0.0, log_gap) / (orders - 1), epsilon)


def pure_profile(epsilon0: float, epsilon: Any, extra_mu: float) -> Any:
    """Randomised response next to a Gaussian: average over the response, which shifts the loss."""
    if math.isinf(epsilon0):
        return np.ones(np.shape(epsilon))[()]
    yes = 1 / (1 + math.exp(-epsilon0))
    eps = np.asarray(epsilon, float)
    low, high = (gaussian_delta(eps + sign * epsilon0, extra_mu) for sign in (-1, 1))
    return yes * low + (1 - yes) * high


# Gaussian: every currency is exact


@register(Gaussian, "gdp")
def _gaussian_mu(event: Gaussian, neighbors: str) -> float:
    return _inverse(event.multiplier)


@register(Gaussian, "zcdp")
def _gaussian_rho(event: Gaussian, neighbors: str) -> float:
    return _inverse(event.multiplier) ** 2 / 2


@register(Gaussian, "rdp")
def _gaussian_renyi(event: Gaussian, orders: Array, neighbors: str) -> Array:
    return orders * _gaussian_rho(event, neighbors)


@register(Gaussian, "profile")
def _gaussian_profile(event: Gaussian, epsilon: Any, neighbors: str, extra_mu: float = 0.0) -> Any:
    return gaussian_delta(epsilon, math.hypot(_inverse(event.multiplier), extra_mu))


# Pure epsilon


@register(PureDP, "pure")
def _pure_epsilon(event: PureDP, neighbors: str) -> float:
    return event.epsilon


@register(PureDP, "gdp")
def _pure_event_mu(event: PureDP, neighbors: str) -> float:
    return pure_mu(event.epsilon)


@register(PureDP, "zcdp")
def _pure_rho(event: PureDP, neighbors: str) -> float:
    """sup over orders of divergence / order: eps^2 / 2 near order one (Bun and Steinke 2016)."""
    return event.epsilon**2 / 2


@register(PureDP, "rdp")
def _pure_event_renyi(event: PureDP, orders: Array, neighbors: str) -> Array:
    return pure_renyi(event.epsilon, orders)


@register(PureDP, "profile")
def _pure_event_profile(event: PureDP, epsilon: Any, neighbors: str, extra_mu: float = 0.0) -> Any:
    return pure_profile(event.epsilon, epsilon, extra_mu)


# A Renyi bound at one order: the divergence is nondecreasing in the order (Van Erven and Harremoes 2014)


@register(RenyiDP, "rdp")
def _one_order_renyi(event: RenyiDP, orders: Array, neighbors: str) -> Array:
    return np.where(orders <= event.order, event.divergence, math.inf)


# Laplace: pure, but its divergence is smaller than that of randomised response


@register(Laplace, "pure")
def _laplace_epsilon(event: Laplace, neighbors: str) -> float:
    return _inverse(event.multiplier)


@register(Laplace, "gdp")
def _laplace_mu(event: Laplace, neighbors: str) -> float:
    return pure_mu(_inverse(event.multiplier))


@register(Laplace, "zcdp")
def _laplace_rho(event: Laplace, neighbors: str) -> float:
    return _inverse(event.multiplier) ** 2 / 2


def laplace_renyi(epsilon: Any, orders: Array) -> Array:
    """Renyi divergence between Laplace laws of scale 1 / epsilon at distance one (Mironov 2017)."""
    if np.ndim(epsilon) == 0 and (epsilon > 500 or epsilon == 0):
        return np.full(len(orders), epsilon)
    grown = (orders - 1) * epsilon
    up, down = np.expm1(np.minimum(grown, 1.0)), np.expm1(-orders * epsilon)
    small = np.log1p((orders * up + (orders - 1) * down) / (2 * orders - 1))
    large = np.logaddexp(
        grown + np.log(orders / (2 * orders - 1)),
        np.log((orders - 1) / (2 * orders - 1)) - orders * epsilon,
    )
    divergence = np.where(grown < 1, small, large) / (orders - 1)
    return np.clip(divergence, 0.0, epsilon)


@register(Laplace, "rdp")
def _laplace_event_renyi(event: Laplace, orders: Array, neighbors: str) -> Array:
    return laplace_renyi(_inverse(event.multiplier), orders)


@register(Laplace, "profile")
def _laplace_profile(event: Laplace, epsilon: Any, neighbors: str, extra_mu: float = 0.0) -> Any:
    epsilon0 = inverse_up(event.multiplier)
    if extra_mu or math.isinf(epsilon0):
        return pure_profile(epsilon0, epsilon, extra_mu)
    eps = np.asarray(epsilon, float)
    inside = -np.expm1((np.clip(eps, -epsilon0, epsilon0) - epsilon0) / 2)
    return np.where(eps < -epsilon0, -np.expm1(np.minimum(eps, 0.0)), inside)[()]


# Bounded range


@register(BoundedRange, "pure")
def _range_epsilon(event: BoundedRange, neighbors: str) -> float:
    return event.epsilon


@register(BoundedRange, "zcdp")
def _range_rho(event: BoundedRange, neighbors: str) -> float:
    """b^2 / 8 (Cesar and Rogers 2021): a quarter of what pure b-DP would cost."""
    return event.epsilon**2 / 8


@register(BoundedRange, "gdp")
def _range_mu(event: BoundedRange, neighbors: str) -> float:
    """The symmetric member of the family (Dong, Durfee and Rogers 2020) has its kink at b / 2."""
    return pure_mu(event.epsilon / 2)


@register(BoundedRange, "rdp")
def _range_renyi(event: BoundedRange, orders: Array, neighbors: str) -> Array:
    """Two-point pairs with losses t and t - b, maximised over t in [0, b] in closed form."""
    b = event.epsilon
    linear = orders * b * b / 8
    if b == 0 or b > 500:
        return np.minimum(linear, b)
    # stationary point: e^(b-t) = a (1 - e^-(a-1)b) / ((a-1)(1 - e^-ab))
    log_ratio = np.log(np.expm1(-(orders - 1) * b) / np.expm1(-orders * b))
    t = b - np.log(orders / (orders - 1)) - log_ratio
    log_rest = np.log(np.expm1(-(orders - 1) * b) / np.expm1(-b)) - b - np.log(orders - 1)
    round_off = 4e-16 * (orders * t + np.abs(log_rest) + 1)
    return np.minimum(np.minimum(linear, (orders * t + log_rest + round_off) / (orders - 1)), b)


# zCDP


@register(ZCDP, "zcdp")
def _zcdp_rho(event: ZCDP, neighbors: str) -> float:
    return event.rho


@register(ZCDP, "rdp")
def _zcdp_renyi(event: ZCDP, orders: Array, neighbors: str) -> Array:
    return orders * event.rho


# Random position: replace-one only, since dropping a record would shift every later batch


def _position_mus(event: RandomPosition, extra_mu: float = 0.0) -> tuple[Array, Array]:
    mus = np.array([math.hypot(_inverse(m), extra_mu) for m in event.multipliers])
    return np.array(event.weights), mus


@register(RandomPosition, "profile", relations=("replace_one",))
def _position_profile(
    event: RandomPosition, epsilon: Any, neighbors: str, extra_mu: float = 0.0
) -> Any:
    """Average of the profiles over the position, by joint convexity of the divergence."""
    weights, mus = _position_mus(event, extra_mu)
    eps = np.asarray(epsilon, float)
    with np.errstate(divide="ignore"):
        logs = np.log(weights) + gaussian_log_delta(eps[..., None], mus)
    return np.exp(logsumexp(logs, axis=-1))


@register(RandomPosition, "rdp", relations=("replace_one",))
def _position_renyi(event: RandomPosition, orders: Array, neighbors: str) -> Array:
    """exp((a - 1) divergence) is jointly convex, so it averages too."""
    weights, mus = _position_mus(event)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(weights) + ((orders - 1) * orders)[:, None] * mus**2 / 2
    return logsumexp(logs, axis=1) / (orders - 1)


@register(RandomPosition, "gdp", relations=("replace_one",))
def _position_mu(event: RandomPosition, neighbors: str) -> float:
    """The worst position: its trade-off curve lies below the average."""
    return max(_inverse(m) for w, m in zip(event.weights, event.multipliers) if w > 0)


@register(RandomPosition, "zcdp", relations=("replace_one",))
def _position_rho(event: RandomPosition, neighbors: str) -> float:
    return _position_mu(event, neighbors) ** 2 / 2
