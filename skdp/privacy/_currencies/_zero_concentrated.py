"""Zero-concentrated differential privacy as a filter (Whitehouse, Ramdas, Rogers and Wu 2023)."""

from __future__ import annotations

from .._conversion import largest_budget_per_order, renyi_epsilon
from .._exact import Exact
from ..events import ZCDP, Script
from ..spec import Spec
from ._currency import Currency

__all__ = ["ZeroConcentrated"]


class ZeroConcentrated(Currency):
    """Sums of rho (Bun and Steinke 2016), converted at the best real order."""

    name = "zcdp"
    unit = "rho"

    def budget(self, spec: Spec, order: int | None) -> float:
        """The largest rho whose Renyi divergences, rho times the order, prove the promise."""
        return largest_budget_per_order(spec.epsilon, spec.delta)

    def _epsilon(self, amount: Exact, delta: float, order: int | None) -> float:
        rho = float(amount)
        return renyi_epsilon(lambda a: a * rho, delta)

    def allowance(self, amount: float, order: int | None) -> Script:
        """Any release of so much rho."""
        return ((ZCDP(amount), 1),)
