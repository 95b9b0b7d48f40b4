"""Renyi differential privacy at one order as a filter (Feldman and Zrnic 2021)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .._compose import reduced, total_rdp
from .._conversion import best_order, budget_at, renyi_epsilon_at
from .._exact import Exact, exact
from .._printed import round_up
from ..events import RenyiDP, Script
from ..spec import Spec
from ._currency import Counts, Currency

__all__ = ["RenyiPrivacy"]

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
