"""Privacy filters: budgets that may be spent on events chosen after seeing earlier answers.

Only filters with a proof: zCDP (sum of rho; Whitehouse et al. 2023), Gaussian DP (sum of mu^2;
Smith and Thakurta 2022, Koskela, Tobaben and Honkela 2022), Renyi at ONE order fixed beforehand
(Feldman and Zrnic 2021), and sums of pure epsilons (Rogers et al. 2016).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from skdp.exceptions import BudgetExceeded, NotSupported
from skdp.privacy import accountants  # noqa: F401  (registers the costs)
from skdp.privacy._compose import reduced, total, total_rdp
from skdp.privacy._conversion import (
    best_order,
    budget_at,
    largest_budget_per_order,
    renyi_epsilon,
    renyi_epsilon_at,
)
from skdp.privacy._gaussian import gaussian_epsilon, gaussian_mu
from skdp.privacy._script import Recorder
from skdp.privacy.events import Event, RenyiDP, Script
from skdp.privacy.spec import Spec

__all__ = ["FILTERS", "Filter", "planned_order", "spent_epsilon"]

FILTERS = ("zcdp", "gdp", "rdp", "pure")
_PLANNED = 512

# The total is shaved by 1e-12 before it is offered, and refused only past half of that, so that a
# caller who spends exactly `unspent` is not refused for round-off and nobody overspends.
_OFFERED, _ENFORCED = 1 - 1e-12, 1 - 5e-13

_WHY_NO_PLD = (
    "kind='pld' is not a filter: stopping when the privacy loss composed so far reaches the target "
    "has no proof when later prices depend on earlier answers; use 'zcdp', 'gdp' or 'rdp'."
)


class Filter:
    """A budget for prices that depend on answers; refuses before anything is drawn.

    Parameters
    ----------
    spec : Spec
        The promise.
    kind : {"zcdp", "gdp", "rdp", "pure"}
        The currency: rho, mu squared, Renyi divergence at one order, or epsilon.
    order : int, optional
        For "rdp": the order, fixed in advance; by default the one with the largest budget per
        order, which suits unsampled Gaussians. For sampled events choose it from the planned
        schedule.
    """

    def __init__(self, spec: Spec, kind: str, order: int | None = None) -> None:
        if kind not in FILTERS:
            raise NotSupported(
                _WHY_NO_PLD if kind == "pld" else f"kind={kind!r} is unknown; use one of {FILTERS}."
            )
        if spec.private and spec.delta == 0 and kind != "pure":
            raise NotSupported(f"A {kind} filter needs delta > 0; use kind='pure' or a delta.")
        self.spec, self.kind = spec, kind
        self.order = _order(spec, order) if kind == "rdp" else None
        self._budget = _budget(spec, kind, self.order)
        self._prices: dict[float, int] = {}
        self._record = Recorder()

    def charge(self, event: Event, count: int = 1) -> None:
        """Pay for ``count`` equal events, or raise `BudgetExceeded` and change nothing."""
        self.charge_all(((event, count),))

    def charge_all(self, script: Script) -> None:
        """Pay for a whole script or for none of it."""
        added = [(self._price(event), count) for event, count in script if count > 0]
        if not self._fits(added):
            asked = math.fsum(price * count for price, count in added)
            raise BudgetExceeded(
                f"Asked for {asked:.6g}, spent {self.spent:.6g}, left {self.unspent:.6g} "
                f"({self._unit()}); nothing was released, so ask for less."
            )
        for (price, count), (event, _) in zip(added, [run for run in script if run[1] > 0]):
            self._prices[price] = self._prices.get(price, 0) + count
            self._record.charge(event, count)

    def cost(self, script: Script) -> float:
        """What a script takes, in the filter's currency."""
        return math.fsum(self._price(event) * count for event, count in script)

    def affords(self, *events: Event) -> bool:
        """Whether all the events together could be paid for now."""
        return self._fits([(self._price(event), 1) for event in events])

    def share(self, event: Event) -> float:
        """Which part of the whole budget one event takes, whatever has been spent."""
        return self._price(event) / self.total

    def _fits(self, added: list[tuple[float, int]]) -> bool:
        if not self.spec.private:
            return True
        spent = [price * count for price, count in (*self._prices.items(), *added)]
        return math.fsum(spent) <= self._budget * _ENFORCED

    def _price(self, event: Event) -> float:
        if not self.spec.private:
            return 0.0
        return event_price(event, self.kind, self.order, self.spec.neighbors)

    def _unit(self) -> str:
        return {
            "zcdp": "rho",
            "gdp": "mu squared",
            "rdp": f"divergence at order {self.order}",
            "pure": "epsilon",
        }[self.kind]

    @property
    def total(self) -> float:
        """The whole budget, in the filter's currency."""
        return self._budget * _OFFERED

    @property
    def spent(self) -> float:
        """What has been paid, in the filter's currency."""
        return math.fsum(price * count for price, count in self._prices.items())

    @property
    def unspent(self) -> float:
        """What is left, in the filter's currency; spending exactly this is allowed."""
        return max(0.0, self.total - self.spent) if self.spec.private else math.inf

    @property
    def script(self) -> Script:
        """What has been charged, in order."""
        return self._record.script


@lru_cache(maxsize=4096)
def event_price(event: Event, kind: str, order: int | None, neighbors: str) -> float:
    """Price of one event in a filter's currency."""
    counts = reduced(((event, 1),), neighbors)
    if kind == "rdp":
        return float(total_rdp(counts, np.array([float(order or 0)]), neighbors)[0])
    return total(counts, kind, neighbors)


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
    """Largest total that still proves the promise."""
    if not spec.private:
        return math.inf
    if kind == "pure":
        return spec.epsilon
    if kind == "gdp":
        return gaussian_mu(spec.epsilon, spec.delta) ** 2
    if kind == "rdp":
        assert order is not None
        budget = float(budget_at(spec.epsilon, spec.delta, np.array([float(order)]))[0])
        if budget <= 0:
            raise ValueError(
                f"order={order} proves nothing at epsilon={spec.epsilon:g}, delta={spec.delta:g}; "
                f"use order={best_order(spec.epsilon, spec.delta)}."
            )
        return budget
    return largest_budget_per_order(spec.epsilon, spec.delta)


_EPSILON: dict[str, Callable[[float, Spec, int | None], float]] = {
    "pure": lambda spent, spec, order: spent,
    "gdp": lambda spent, spec, order: gaussian_epsilon(math.sqrt(spent), spec.delta),
    "zcdp": lambda spent, spec, order: renyi_epsilon(lambda a: a * spent, spec.delta),
    "rdp": lambda spent, spec, order: max(
        0.0,
        float(renyi_epsilon_at(np.array([spent]), np.array([float(order or 0)]), spec.delta)[0]),
    ),
}


def spent_epsilon(spent: float, spec: Spec, kind: str, order: int | None) -> float:
    """Epsilon at the promised delta that a filter total proves; 0 for nothing."""
    return 0.0 if spent == 0 else _EPSILON[kind](spent, spec, order)
