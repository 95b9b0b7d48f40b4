"""The privacy profile that a claim stands for, at a few epsilons."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy.special import ndtr

from ._pairs import Array

__all__ = ["LARGEST", "claim", "gaussian_profile", "sampled_epsilons"]

LARGEST = 64.0
POINTS = 48


def sampled_epsilons(around: float) -> Array:
    """Return the epsilons at which profiles are sampled: from 0 to well beyond the claim."""
    return np.linspace(0.0, min(2.0 * around + 4.0, 2.0 * LARGEST), POINTS)


@cache
def claim(epsilon: float, delta: float, curve: str) -> tuple[Array, Array]:
    """Points of the profile that the claim stands for."""
    if curve == "any":
        return np.array([epsilon]), np.array([delta])
    low, high = 0.0, 50.0  # of mu: the Gaussian's delta at epsilon grows with it
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if gaussian_profile(epsilon, middle) <= delta else (low, middle)
    epsilons = sampled_epsilons(epsilon)
    return epsilons, gaussian_profile(epsilons, high)


def gaussian_profile(epsilon: Any, mu: float) -> Any:
    """Profile of a Gaussian of noise 1 / mu over its sensitivity (Balle and Wang 2018)."""
    delta = ndtr(mu / 2 - epsilon / mu) - np.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)
    return np.maximum(delta, 0.0)
