"""From events to epsilon, and back."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from skdp.exceptions import NotSupported
from skdp.privacy import _costs  # noqa: F401  (registers the costs)
from skdp.privacy._compose import exact_mu, reduced
from skdp.privacy._gaussian import gaussian_delta, gaussian_epsilon, gaussian_mu
from skdp.privacy.events import Script
from skdp.privacy.spec import Spec

__all__ = ["calibrate", "choose", "delta", "epsilon"]


def _mu(script: Script, neighbors: str) -> float:
    mu = exact_mu(reduced(script, neighbors))
    if mu is None:
        raise NotSupported("Only Gaussian scripts are priced so far.")
    return mu


@lru_cache(maxsize=4096)
def epsilon(
    script: Script, delta: float, neighbors: str = "replace_one", accountant: str = "auto"
) -> float:
    """Smallest epsilon of the script at delta."""
    return gaussian_epsilon(_mu(script, neighbors), delta)


def delta(
    script: Script, epsilon: float, neighbors: str = "replace_one", accountant: str = "auto"
) -> float:
    """Smallest delta of the script at epsilon."""
    return float(gaussian_delta(epsilon, _mu(script, neighbors)))


def choose(script: Script, neighbors: str = "replace_one") -> str:
    """Name of the tightest valid accountant."""
    return "gdp"


def calibrate(script_at: Callable[[float], Script], spec: Spec, accountant: str = "auto") -> float:
    """Smallest noise scale at which the script keeps the promise."""
    if math.isinf(spec.epsilon):
        return 0.0
    mu = _mu(script_at(1.0), spec.neighbors)
    return mu / gaussian_mu(spec.epsilon, spec.delta) * (1 + 1e-12)
