"""Gaussian differential privacy as a filter (Smith and Thakurta 2022; Koskela, Tobaben and Honkela 2022)."""

from __future__ import annotations

import math

from .._exact import Exact
from .._gaussian import gaussian_epsilon, gaussian_mu
from ..events import Gaussian, Script
from ..spec import Spec
from ._currency import Currency

__all__ = ["GaussianPrivacy"]


class GaussianPrivacy(Currency):
    """Sums of mu squared (Dong, Roth and Su 2022), exact for Gaussians."""

    name = "gdp"
    unit = "mu squared"

    def budget(self, spec: Spec, order: int | None) -> float:
        """Mu squared of the Gaussian that keeps the promise exactly."""
        return gaussian_mu(spec.epsilon, spec.delta) ** 2

    def _epsilon(self, amount: Exact, delta: float, order: int | None) -> float:
        return gaussian_epsilon(math.sqrt(float(amount)), delta)

    def allowance(self, amount: float, order: int | None) -> Script:
        """The one Gaussian that costs as much: the worst of all that have this mu."""
        return ((Gaussian(1.0 / math.sqrt(amount)), 1),)
