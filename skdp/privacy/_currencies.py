"""The currencies of filters: one class says what a promise allows, what events cost, what a total proves.

Only currencies with a proof for prices that depend on answers: zCDP (sum of rho; Whitehouse et al.
2023), Gaussian DP (sum of mu^2; Smith and Thakurta 2022, Koskela, Tobaben and Honkela 2022), Renyi
at ONE order fixed beforehand (Feldman and Zrnic 2021), and sums of pure epsilons (Rogers et al.
2016). A currency holds no state: totals are kept by `Filter` and `Ledger`, as exact numbers. A new
one is a class and a line of `CURRENCIES`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..exceptions import NotSupported
from ._arithmetic import round_up
from ._compose import reduced, total, total_rdp
from ._conversion import (
    best_order,
    budget_at,
    largest_budget_per_order,
    renyi_epsilon,
    renyi_epsilon_at,
)
from ._exact import Exact, at_least, at_most, exact, meant, pure_price
from ._gaussian import gaussian_epsilon, gaussian_mu
from .curves import priced
from .events import ZCDP, Event, Gaussian, PureDP, RenyiDP, Script
from .spec import Spec

__all__ = [
    "CURRENCIES",
    "FILTERS",
    "NOTHING",
    "Currency",
    "GaussianPrivacy",
    "PurePrivacy",
    "RenyiPrivacy",
    "ZeroConcentrated",
    "currency_named",
]


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


_PLANNED = 512  # orders that are tried for a script fixed beforehand


class RenyiPrivacy(Currency):
    """Sums of Renyi divergences at one whole order that is fixed beforehand."""

    name = "rdp"
    unit = "divergence at order {order}"

    def order(self, spec: Spec, order: int | None) -> int | None:
        """A whole order of 2 or more; without one, that of the largest budget per order."""
        if order is None:
            return best_order(spec.epsilon, spec.delta) if spec.private else 2
        if int(order) != order or order < 2:
            raise ValueError(f"order={order!r} must be a whole number, 2 or more.")
        return int(order)

    def planned_order(self, spec: Spec, script: Script) -> int | None:
        """Order at which the budget holds most repetitions of the script."""
        if not spec.private or not self.covers(script, spec.neighbors):
            return None
        known = [e.order for e, _ in script if isinstance(e, RenyiDP) and 2 <= e.order < math.inf]
        fallback = best_order(spec.epsilon, spec.delta)
        orders = np.array([*range(2, _PLANNED + 1), fallback, *map(math.floor, known)], dtype=float)
        price = total_rdp(reduced(script, spec.neighbors), orders, spec.neighbors)
        budget = budget_at(spec.epsilon, spec.delta, orders)
        useful = (budget > 0) & np.isfinite(price)
        if not price.any() or not useful.any():
            return None
        with np.errstate(divide="ignore"):
            return int(orders[useful][(budget[useful] / price[useful]).argmax()])

    def budget(self, spec: Spec, order: int | None) -> float:
        """The divergence at the order that proves the promise, if any does."""
        budget = float(budget_at(spec.epsilon, spec.delta, _as_array(order))[0])
        if budget <= 0:
            raise ValueError(
                f"order={order} proves nothing at epsilon={round_up(spec.epsilon)}, delta={round_up(spec.delta)}; "
                f"use order={best_order(spec.epsilon, spec.delta)}."
            )
        return budget

    def _sum(self, counts: Counts, neighbors: str, order: int | None) -> Exact:
        return exact(float(total_rdp(counts, _as_array(order), neighbors)[0]))

    def _epsilon(self, amount: Exact, delta: float, order: int | None) -> float:
        divergence = np.array([float(amount)])
        return max(0.0, float(renyi_epsilon_at(divergence, _as_array(order), delta)[0]))

    def allowance(self, amount: float, order: int | None) -> Script:
        """Any release of so much divergence at the order."""
        assert order is not None
        return ((RenyiDP(order, amount), 1),)


def _as_array(order: int | None) -> NDArray[np.float64]:
    return np.array([float(order or 0)])


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


CURRENCIES: dict[str, Currency] = {
    currency.name: currency
    for currency in (ZeroConcentrated(), GaussianPrivacy(), RenyiPrivacy(), PurePrivacy())
}
FILTERS = tuple(CURRENCIES)

_NOT_A_FILTER = {
    "pld": "kind='pld' is not a filter: stopping when the privacy loss composed so far reaches the "
    "target has no proof when later prices depend on earlier answers; use 'zcdp', 'gdp' or 'rdp'."
}


def currency_named(kind: str) -> Currency:
    """The registered currency of that name, or a refusal that lists them."""
    if kind not in CURRENCIES:
        unknown = f"kind={kind!r} is unknown; use one of {FILTERS}."
        raise NotSupported(_NOT_A_FILTER.get(kind, unknown))
    return CURRENCIES[kind]
