"""A promise in one currency: what it allows, what events take of it, what a total proves.

Nothing here changes: totals are kept by `Filter` and `Ledger`, as exact numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

from ..exceptions import NotSupported
from ._arithmetic import own_arithmetic
from ._counting import Counted, amount, down, up
from ._currencies import NOTHING, Currency, currency_named
from ._exact import Exact, meant, short
from .events import Event, Script
from .spec import Spec

__all__ = ["Book", "largest_share"]


@dataclass(frozen=True)
class Book:
    """Budget and prices of one promise in one currency; see `Filter` for the parameters."""

    spec: Spec
    kind: str
    order: int | None = None

    @own_arithmetic
    def __post_init__(self) -> None:
        if self.spec.private and self.spec.delta == 0 and self.currency.needs_delta:
            raise NotSupported(f"A {self.kind} filter needs delta > 0; use kind='pure' or a delta.")
        object.__setattr__(self, "order", self.currency.order(self.spec, self.order))
        _ = self.budget  # refuses an order that proves nothing

    @cached_property
    def currency(self) -> Currency:
        """Currency that the book is kept in."""
        return currency_named(self.kind)

    @cached_property
    def budget(self) -> float:
        """Largest total that still proves the promise."""
        return self.currency.budget(self.spec, self.order) if self.spec.private else math.inf

    @cached_property
    def offered(self) -> float:
        """Budget that a caller may count on."""
        return self.currency.offered(self.budget)

    @cached_property
    def _limit(self) -> Exact:
        return self.currency.limit(self.budget)

    @property
    def unit(self) -> str:
        """The currency in words."""
        return self.currency.unit.format(order=self.order)

    @property
    def allowance(self) -> Script:
        """All that the book lets pass, as a script."""
        return self.currency.allowance(self.offered, self.order)

    def price(self, event: Event) -> Exact:
        """Return the price of one event."""
        if not self.spec.private:
            return NOTHING
        return _price(event, self.currency, self.order, self.spec.neighbors)

    def cost(self, script: Script) -> Exact:
        """Return the price of a script, an exact sum."""
        out = NOTHING
        for event, count in script:
            out = out + self.price(event) * count
        return out

    def plus(self, spent: Exact, script: Script) -> Exact:
        """The total with one more script."""
        return short(spent + self.cost(script))

    def holds(self, spent: Exact) -> bool:
        """Return whether the promised guarantee covers the total."""
        return not self.spec.private or bool(spent <= self._limit)

    @own_arithmetic
    def left(self, spent: Exact) -> float:
        """Return the unspent budget, rounded down."""
        return self.currency.left(self.budget, spent) if self.spec.private else math.inf

    @own_arithmetic
    def epsilon_of(self, amount: Exact, delta: float) -> float:
        """Epsilon that a total proves at delta; 0 for nothing."""
        return self.currency.epsilon(amount, delta, self.order)

    # What a ledger counts in, see `_counting`.

    @cached_property
    def _ways(self) -> dict[Script, tuple[Counted, ...]]:
        return {}

    def level(self, total: Counted) -> int:
        """Return the pricing level, always 0: the prices of a currency do not depend on what was spent."""
        return 0

    def ways(self, script: Script, level: int = 0) -> tuple[Counted, ...]:
        """Prices of the script, of which any one may be charged; none if it is infinite."""
        if script not in self._ways:
            price = up(self.cost(script))
            self._ways[script] = () if price is None else (price,)
        return self._ways[script]

    @cached_property
    def caps(self) -> Counted:
        """The largest totals that are let pass."""
        return down(self._limit if self.spec.private else math.inf)

    def share(self, total: Counted) -> float:
        """Return the share of the caps that a total takes."""
        return largest_share(total, self.caps)

    def reading(self, total: Counted, delta: float) -> float:
        """Epsilon that a total proves at delta."""
        return self.epsilon_of(amount(*total), delta)

    def room(self, total: Counted, delta: float) -> float:
        """Epsilon of what may still be spent."""
        return self.epsilon_of(meant(self.left(amount(*total))), delta)


def largest_share(total: Counted, caps: Counted) -> float:
    """The largest part of its cap that a total takes; infinite where it takes something of nothing."""
    return max((a / b if b else math.inf for a, b in zip(total, caps) if a), default=0.0)


@lru_cache(maxsize=4096)
@own_arithmetic
def _price(event: Event, currency: Currency, order: int | None, neighbors: str) -> Exact:
    return currency.price(event, neighbors, order)
