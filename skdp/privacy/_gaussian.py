"""The exact privacy profile of the Gaussian mechanism, stable over the whole range of doubles.

delta(eps; mu) = Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu) is the exact cost of a Gaussian
release with sensitivity / sd = mu (Balle and Wang 2018, Theorem 8) and the dual of mu-Gaussian DP
(Dong, Roth and Su 2022). The difference cancels, so it is computed from Mills ratios.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._scipy import brentq, erfcx, ndtr

__all__ = [
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_log_delta",
    "gaussian_mu",
]

Array = NDArray[np.float64]

LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(80)
_NODES, _WEIGHTS = (_NODES + 1) / 2, _WEIGHTS / 2
_ROUND_UP = 1e-12
_ROUND_OFF = 2e-13  # of a log delta, relative to what it or its complement holds; found: 4e-14
_BLOCK = 8192


def _mills(x: Array) -> Array:
    return math.sqrt(math.pi / 2) * erfcx(x / math.sqrt(2))


def _mills_gap(center: Array, mu: Array) -> Array:
    """r(center - mu/2) - r(center + mu/2) as a positive integral, free of cancellation."""
    out = np.empty_like(center)
    for start in range(0, len(center), _BLOCK):
        block = slice(start, start + _BLOCK)
        span = 46 / (center[block] + 4)  # beyond, the damping is below 1e-16 of the integral
        t = span[:, None] * _NODES
        damping = np.exp(-t * t / 2 - center[block, None] * t)
        out[block] = span * ((2 * np.sinh(mu[block, None] * t / 2) * damping) @ _WEIGHTS)
    return out


def _log_delta_positive(epsilon: Array, mu: Array) -> Array:
    """Log of the profile for flat arrays with epsilon >= 0 and 0 < mu < inf."""
    center = epsilon / mu
    low, high = center - mu / 2, center + mu / 2
    out = np.empty_like(low)
    far = low < -1  # delta near one, of which only the distance from one has digits
    if far.any():
        x = low[far]
        tail = np.exp(-x * x / 2 - LOG_SQRT_2PI) * _mills(high[far])  # e^eps Phi(-high)
        out[far] = np.log1p(-(ndtr(x) + tail))
    near = ~far
    if near.any():
        x, y = low[near], high[near]
        top = _mills(x)
        gap = top - _mills(y)
        weak = gap < 3e-2 * top
        if weak.any():
            gap[weak] = _mills_gap(center[near][weak], mu[near][weak])
        with np.errstate(divide="ignore"):
            out[near] = np.log(gap) - x * x / 2 - LOG_SQRT_2PI
    return out


def gaussian_log_delta(epsilon: Any, mu: Any) -> Any:
    """Natural logarithm of the Gaussian profile; arrays broadcast.

    Parameters
    ----------
    epsilon : float or array
        Any real number.
    mu : float or array
        Sensitivity over standard deviation, in [0, inf].
    """
    eps, m = np.broadcast_arrays(np.asarray(epsilon, float), np.asarray(mu, float))
    shape, eps, m = eps.shape, eps.ravel(), m.ravel()
    out = np.full(eps.shape, -np.inf)
    infinite = np.isposinf(m)
    out[infinite] = np.where(np.isposinf(eps[infinite]), -np.inf, 0.0)
    live = (m > 0) & ~infinite & np.isfinite(eps)
    if live.any():
        out[live] = _log_delta_positive(np.abs(eps[live]), m[live])
    negative = eps < 0
    if negative.any():  # H(-e) = 1 - e^-e + e^-e H(e) for a symmetric pair
        e = eps[negative]
        out[negative] = np.log(-np.expm1(e) + np.exp(e + out[negative]))
    return out.reshape(shape)[()]


def gaussian_delta(epsilon: Any, mu: Any) -> Any:
    """Smallest delta at which a Gaussian with sensitivity / sd = mu is (epsilon, delta)-private."""
    return np.exp(gaussian_log_delta(epsilon, mu))


def gaussian_mu(epsilon: float, delta: float) -> float:
    """Largest sensitivity / sd that is (epsilon, delta)-private, rounded down by 1e-12."""
    if delta <= 0:
        return 0.0 if math.isfinite(epsilon) else math.inf
    if math.isinf(epsilon):
        return math.inf
    target = _target(delta)

    def excess(log_mu: float) -> float:
        return float(gaussian_log_delta(epsilon, math.exp(log_mu))) - target

    # A mu is private where eps >= mu^2/2 + mu t, for then delta(eps; mu) <= Phi(-t) < delta, and
    # where mu <= delta, for delta(eps; mu) <= delta(0; mu) < mu/2.
    tail = math.sqrt(2 * math.log(1 / delta)) + 1
    low = math.log(max(epsilon / (tail + math.sqrt(tail * tail + 2 * epsilon)) / math.e, delta))
    high = math.log(2 * (tail + math.sqrt(tail * tail + 2 * epsilon)))
    while excess(high) < 0:
        high += 1
    root = brentq(excess, low, high, xtol=1e-15, rtol=8.9e-16)
    return math.exp(root) * (1 - _ROUND_UP)


def gaussian_epsilon(mu: float, delta: float) -> float:
    """Smallest epsilon >= 0 at which a Gaussian with sensitivity / sd = mu is private at delta."""
    if mu == 0:
        return 0.0
    if math.isinf(mu) or delta <= 0:
        return math.inf
    target = _target(delta)

    def excess(epsilon: float) -> float:
        return float(gaussian_log_delta(epsilon, mu)) - target

    if excess(0.0) <= 0:
        return 0.0
    # The tail of a Gaussian beyond t is below e^(-t^2/2); a little more, for that may round too.
    high = (mu * mu / 2 + mu * math.sqrt(-2 * target)) * (1 + _ROUND_UP)
    root = brentq(excess, 0.0, high, xtol=1e-300, rtol=8.9e-16, maxiter=500)
    return float(root) * (1 + _ROUND_UP)


def _target(delta: float) -> float:
    """log delta, lowered by what rounding can do to the profile's logarithm, which shrinks with it."""
    log_delta = math.log(delta)
    return log_delta - _ROUND_OFF * min(-log_delta, 1.0)
