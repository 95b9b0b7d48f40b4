"""Pure differential privacy as a filter (Rogers, Roth, Ullman and Vadhan 2016): epsilons add."""

from __future__ import annotations

from .._exact import Exact, at_least, at_most, meant, pure_price
from ..events import PureDP, Script
from ..spec import Spec
from ._currency import NOTHING, Counts, Currency

__all__ = ["PurePrivacy"]


class PurePrivacy(Currency):
    """Sums of pure epsilons, as the decimals that were written: nothing is rounded or shaved."""

    name = "pure"
    unit = "epsilon"
    needs_delta = False

    def budget(self, spec: Spec, order: int | None) -> float:
        """The promise itself."""
        return spec.epsilon

    def offered(self, budget: float) -> float:
        """All of it."""
        return budget

    def limit(self, budget: float) -> Exact:
        """The decimal that was written."""
        return meant(budget)

    def left(self, budget: float, spent: Exact) -> float:
        """The largest double that means no more than what is left."""
        return max(0.0, at_most(meant(budget) - spent))

    def _sum(self, counts: Counts, neighbors: str, order: int | None) -> Exact:
        return sum((pure_price(e, neighbors) * k for e, k in counts.items()), NOTHING)

    def _epsilon(self, amount: Exact, delta: float, order: int | None) -> float:
        return at_least(amount)

    def allowance(self, amount: float, order: int | None) -> Script:
        """Any release of so much epsilon."""
        return ((PureDP(amount), 1),)
