"""One currency's books: what a promise allows in it, what events cost, what a total proves.

Only currencies with a proof for prices that depend on answers: zCDP (sum of rho; Whitehouse et al.
2023), Gaussian DP (sum of mu^2; Smith and Thakurta 2022, Koskela, Tobaben and Honkela 2022), Renyi
at ONE order fixed beforehand (Feldman and Zrnic 2021), and sums of pure epsilons (Rogers et al.
2016). Nothing here changes: totals are kept by `Filter` and `Ledger`, as exact numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from skdp.exceptions import NotSupported
from skdp.privacy import accountants  # noqa: F401  (registers the costs)
from skdp.privacy._compose import reduced, total, total_rdp
from skdp.privacy._conversion import (
    best_order,
    budget_at,
    largest_budget_per_order,
    renyi_epsilon,
    renyi_epsilon_at,
)
from skdp.privacy._exact import Exact, at_least, at_most, exact, meant, pure_price, short
from skdp.privacy._gaussian import gaussian_epsilon, gaussian_mu
from skdp.privacy.events import Event, RenyiDP, Script
from skdp.privacy.spec import Spec

__all__ = ["FILTERS", "NOTHING", "Book", "planned_order"]

FILTERS = ("zcdp", "gdp", "rdp", "pure")
NOTHING: Exact = Fraction(0)
_PLANNED = 512

# Budgets that are roots are shaved by 1e-12 before they are offered, and refused only past half of
# that, so that a caller who spends exactly what is left is not refused for round-off and nobody
# overspends. A pure budget is the number that the user wrote and is not shaved.
_OFFERED, _ENFORCED = 1 - 1e-12, 1 - 5e-13

_WHY_NO_PLD = (
    "kind='pld' is not a filter: stopping when the privacy loss composed so far reaches the target "
    "has no proof when later prices depend on earlier answers; use 'zcdp', 'gdp' or 'rdp'."
)
_UNITS = {"zcdp": "rho", "gdp": "mu squared", "pure": "epsilon"}


@dataclass(frozen=True)
class Book:
    """Budget and prices of one promise in one currency; see `Filter` for the parameters."""

    spec: Spec
    kind: str
    order: int | None = None

    def __post_init__(self) -> None:
        if self.kind not in FILTERS:
            why = f"kind={self.kind!r} is unknown; use one of {FILTERS}."
            raise NotSupported(_WHY_NO_PLD if self.kind == "pld" else why)
        if self.spec.private and self.spec.delta == 0 and self.kind != "pure":
            raise NotSupported(f"A {self.kind} filter needs delta > 0; use kind='pure' or a delta.")
        order = _order(self.spec, self.order) if self.kind == "rdp" else None
        object.__setattr__(self, "order", order)
        _ = self.budget  # refuses an order that proves nothing

    @cached_property
    def budget(self) -> float:
        """Largest total that still proves the promise."""
        return _budget(self.spec, self.kind, self.order)

    @cached_property
    def offered(self) -> float:
        """What a caller may count on."""
        return self.budget if self.kind == "pure" else self.budget * _OFFERED

    @cached_property
    def _limit(self) -> Exact:
        return meant(self.budget) if self.kind == "pure" else exact(self.budget * _ENFORCED)

    @property
    def unit(self) -> str:
        """The currency in words."""
        return _UNITS.get(self.kind, f"divergence at order {self.order}")

    def price(self, event: Event) -> Exact:
        """What one event takes."""
        if not self.spec.private:
            return NOTHING
        return _price(event, self.kind, self.order, self.spec.neighbors)

    def cost(self, script: Script) -> Exact:
        """What a script takes: an exact sum."""
        out = NOTHING
        for event, count in script:
            out = out + self.price(event) * count
        return out

    def plus(self, spent: Exact, script: Script) -> Exact:
        """The total with one more script."""
        return short(spent + self.cost(script))

    def holds(self, spent: Exact) -> bool:
        """Whether the promise covers the total."""
        return not self.spec.private or bool(spent <= self._limit)

    def left(self, spent: Exact) -> float:
        """What may still be spent, rounded down."""
        if not self.spec.private:
            return math.inf
        if self.kind == "pure":
            return max(0.0, at_most(self._limit - spent))
        return max(0.0, self.offered - float(spent))

    def epsilon_of(self, amount: Exact, delta: float) -> float:
        """Epsilon that a total proves at delta; 0 for nothing."""
        if amount == 0:
            return 0.0
        if math.isinf(amount):
            return math.inf
        return (
            at_least(amount)
            if self.kind == "pure"
            else _EPSILON[self.kind](float(amount), delta, self.order)
        )


@lru_cache(maxsize=4096)
def _price(event: Event, kind: str, order: int | None, neighbors: str) -> Exact:
    counts = reduced(((event, 1),), neighbors)
    if kind == "pure":
        return sum((pure_price(e, neighbors) * k for e, k in counts.items()), NOTHING)
    if kind == "rdp":
        return exact(float(total_rdp(counts, np.array([float(order or 0)]), neighbors)[0]))
    return exact(total(counts, kind, neighbors))


def planned_order(spec: Spec, script: Script) -> int:
    """Order at which the budget holds most repetitions of a script fixed beforehand."""
    fallback = _order(spec, None)
    known = [e.order for e, _ in script if isinstance(e, RenyiDP) and 2 <= e.order < math.inf]
    orders = np.array([*range(2, _PLANNED + 1), fallback, *map(math.floor, known)], dtype=float)
    price = total_rdp(reduced(script, spec.neighbors), orders, spec.neighbors)
    if not spec.private or not price.any():
        return fallback
    budget = budget_at(spec.epsilon, spec.delta, orders)
    useful = (budget > 0) & np.isfinite(price)
    if not useful.any():
        return fallback
    with np.errstate(divide="ignore"):
        return int(orders[useful][(budget[useful] / price[useful]).argmax()])


def _order(spec: Spec, order: int | None) -> int:
    if order is None:
        return best_order(spec.epsilon, spec.delta) if spec.private else 2
    if int(order) != order or order < 2:
        raise ValueError(f"order={order!r} must be a whole number, 2 or more.")
    return int(order)


def _budget(spec: Spec, kind: str, order: int | None) -> float:
    if not spec.private:
        return math.inf
    if kind == "pure":
        return spec.epsilon
    if kind == "gdp":
        return gaussian_mu(spec.epsilon, spec.delta) ** 2
    if kind == "zcdp":
        return largest_budget_per_order(spec.epsilon, spec.delta)
    assert order is not None
    budget = float(budget_at(spec.epsilon, spec.delta, np.array([float(order)]))[0])
    if budget <= 0:
        raise ValueError(
            f"order={order} proves nothing at epsilon={spec.epsilon:g}, delta={spec.delta:g}; "
            f"use order={best_order(spec.epsilon, spec.delta)}."
        )
    return budget


_EPSILON: dict[str, Callable[[float, float, int | None], float]] = {
    "gdp": lambda spent, delta, order: gaussian_epsilon(math.sqrt(spent), delta),
    "zcdp": lambda spent, delta, order: renyi_epsilon(lambda a: a * spent, delta),
    "rdp": lambda spent, delta, order: max(
        0.0,
        float(renyi_epsilon_at(np.array([spent]), np.array([float(order or 0)]), delta)[0]),
    ),
}
