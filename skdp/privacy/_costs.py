"""Registered costs of the plain events: Gaussian, Laplace, pure, bounded range, zCDP, mixtures."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp.privacy._gaussian import gaussian_delta
from skdp.privacy.curves import register
from skdp.privacy.events import Gaussian

Array = NDArray[np.float64]


def _inverse(value: float) -> float:
    return math.inf if value == 0 else 1 / value


# Gaussian: everything is exact


@register(Gaussian, "gdp")
def _gaussian_mu(event: Gaussian, neighbors: str) -> float:
    return _inverse(event.multiplier)


@register(Gaussian, "zcdp")
def _gaussian_rho(event: Gaussian, neighbors: str) -> float:
    return _inverse(event.multiplier) ** 2 / 2


@register(Gaussian, "rdp")
def _gaussian_rdp(event: Gaussian, orders: Array, neighbors: str) -> Array:
    return orders * _gaussian_rho(event, neighbors)


@register(Gaussian, "profile")
def _gaussian_profile(event: Gaussian, epsilon: Any, neighbors: str, extra_mu: float = 0.0) -> Any:
    return gaussian_delta(epsilon, math.hypot(_inverse(event.multiplier), extra_mu))
