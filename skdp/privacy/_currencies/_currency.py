"""Base class of the currencies, and the small reserve that is held back from a budget."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar

from .._compose import reduced, total
from .._exact import Exact, exact
from ..curves import priced
from ..events import Event, Script
from ..spec import Spec

__all__ = ["NOTHING", "Counts", "Currency"]

Counts = dict[Event, int]

NOTHING: Exact = exact(0.0)

# Budgets that are roots are shaved by 1e-12 before they are offered, and refused only past half of
# that, so that a caller who spends exactly what is left is not refused for round-off and nobody
# overspends. A pure budget is the number that the user wrote and is not shaved.
_OFFERED, _ENFORCED = 1 - 1e-12, 1 - 5e-13


class Currency(ABC):
    """Unit in which the costs of events add up; ``order`` is None except where a currency has one.

    A subclass says its ``name``, its ``unit`` (which may show the order) and whether it proves
    nothing at delta = 0.
    """

    name: ClassVar[str]
    unit: ClassVar[str]
    needs_delta: ClassVar[bool] = True

    def order(self, spec: Spec, order: int | None) -> int | None:
        """The order to keep, checked; None for a currency without one."""
        return None

    def planned_order(self, spec: Spec, script: Script) -> int | None:
        """The order that suits a script fixed beforehand; None to leave it to `order`."""
        return None

    @abstractmethod
    def budget(self, spec: Spec, order: int | None) -> float:
        """Largest total that still proves the promise, whose epsilon is finite."""

    def offered(self, budget: float) -> float:
        """Return the part of a budget that a caller may count on."""
        return budget * _OFFERED

    def limit(self, budget: float) -> Exact:
        """The largest total that is let pass."""
        return exact(budget * _ENFORCED)

    def left(self, budget: float, spent: Exact) -> float:
        """Return the unspent budget, rounded down."""
        return max(0.0, self.offered(budget) - float(spent))

    def covers(self, script: Script, neighbors: str) -> bool:
        """Return whether every event has a price."""
        return all(priced(event, self.name, neighbors) for event in reduced(script, neighbors))

    def price(self, event: Event, neighbors: str, order: int | None) -> Exact:
        """Return the price of one event."""
        return self._sum(reduced(((event, 1),), neighbors), neighbors, order)

    def _sum(self, counts: Counts, neighbors: str, order: int | None) -> Exact:
        return exact(total(counts, self.name, neighbors))

    def epsilon(self, amount: Exact, delta: float, order: int | None) -> float:
        """Epsilon that a total proves at delta; 0 for nothing."""
        if amount == 0:
            return 0.0
        return math.inf if math.isinf(amount) else self._epsilon(amount, delta, order)

    @abstractmethod
    def _epsilon(self, amount: Exact, delta: float, order: int | None) -> float:
        """Epsilon of a total that is positive and finite."""

    @abstractmethod
    def allowance(self, amount: float, order: int | None) -> Script:
        """All that a filter of this total may let pass, as a script for a shared ledger."""
