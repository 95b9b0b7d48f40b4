"""Registered costs of Laplace noise on the sum over a Poisson sample, by the pairs of `_pld_laplace`."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ._cost_registry import register
from ._costs import inverse_up, pure_mu, pure_renyi
from ._sampled import log_excess
from .events import PoissonLaplace

__all__: list[str] = []

Array = NDArray[np.float64]

_UNIT = 4e-15  # relative: covers the rounding of a computed loss
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_PANELS = 64
_RESOLVED = 8.0  # order times half a panel, up to which 16 points integrate to round-off


@register(PoissonLaplace, "pure")
def _largest(event: PoissonLaplace, neighbors: str) -> float:
    """Largest loss, rounded up: of a removal, or of a removal and an addition in one."""
    if event.rate == 0 or math.isinf(event.multiplier):
        return 0.0
    shift = inverse_up(event.multiplier)
    if shift > 700:
        return 2 * shift if neighbors == "replace_one" else shift
    out = math.log1p(event.rate * math.expm1(shift))
    if neighbors == "replace_one":
        out += _smallest(shift, event.rate)
    return out * (1 + _UNIT)


def _smallest(shift: float, rate: float) -> float:
    """-log(1 - q + q e^-shift)."""
    missing = rate * -math.expm1(-shift)
    if missing < 0.5:
        return -math.log1p(-missing)
    return -math.log((1 - rate) + rate * math.exp(-shift))


@register(PoissonLaplace, "gdp")
def _mu(event: PoissonLaplace, neighbors: str) -> float:
    return pure_mu(_largest(event, neighbors))


@register(PoissonLaplace, "zcdp")
def _rho(event: PoissonLaplace, neighbors: str) -> float:
    return _largest(event, neighbors) ** 2 / 2


@register(PoissonLaplace, "rdp")
def _renyi(event: PoissonLaplace, orders: Array, neighbors: str) -> Array:
    """Divergence of the exact pair where quadrature resolves it; of any step of this largest loss beyond.

    Removing costs more than adding, since a reflection exchanges the laws with and without the record (Mironov, Talwar
    and Zhang 2019, Theorem 5).
    """
    out = pure_renyi(_largest(event, neighbors), orders)
    shift = inverse_up(event.multiplier)
    fine = orders * shift / _PANELS <= _RESOLVED
    if 0 < event.rate < 1 and 0 < shift < 300 and fine.any():
        masses, toward, away = _quadrature(shift, event.rate, neighbors == "replace_one")
        a = np.maximum(orders[fine], 1 + 1e-3)[:, None]
        log_ratio = a * np.log1p(toward) + (1 - a) * np.log1p(away)
        logs = log_excess(log_ratio, a * toward + (1 - a) * away) + np.log(masses)
        top = np.clip(logs.max(axis=1, keepdims=True), -1e300, 1e300)
        with np.errstate(divide="ignore", over="ignore"):
            total = np.log(np.exp(logs - top).sum(axis=1)) + top[:, 0]
        exact = np.logaddexp(0.0, total + 1e-13) / (a[:, 0] - 1)
        out[fine] = np.minimum(out[fine], exact)
    return out


@lru_cache(maxsize=64)
def _quadrature(shift: float, rate: float, replaced: bool) -> tuple[Array, Array, Array]:
    """Masses of noise alone, and the ratios of both laws to it, less one: atoms at the ends, panels between them.

    The noise, over its scale, is x. A record at ``shift`` has the log ratio clip(2 x - shift, -shift, shift) there, and
    one at ``-shift`` that of -x.
    """
    edges = np.linspace(0.0, shift, _PANELS + 1)
    half = np.diff(edges)[:, None] / 2
    x = ((edges[1:] + edges[:-1])[:, None] / 2 + half * _POINTS).ravel()
    inner = np.exp(-x) / 2 * (half * _WEIGHTS).ravel()
    far, seen = math.exp(-shift) / 2, rate * np.expm1(2 * x - shift)
    none, most = rate * math.expm1(-shift), rate * math.expm1(shift)
    low = np.full(len(x), none)
    if not replaced:
        masses = np.concatenate([[0.5], inner, [far]])
        toward = np.concatenate([[none], seen, [most]])
        return masses, toward, np.zeros(len(masses))
    masses = np.concatenate([[far], inner, inner, [far]])
    toward = np.concatenate([[none], low, seen, [most]])
    return masses, toward, np.concatenate([[most], seen, low, [none]])
