"""Convert Renyi divergence at all orders to (epsilon, delta), and back.

Canonne, Kamath and Steinke 2020, Proposition 12:
    eps = inf over a > 1 of  R(a) + log(1 - 1/a) - (log delta + log a) / (a - 1).
Every order gives a valid bound, so the search over orders can only lose, never lie. The function
has more than one minimum near eps = 0: a grid first, then finer ones around its best order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "best_order",
    "budget_at",
    "largest_budget_per_order",
    "least",
    "renyi_delta",
    "renyi_epsilon",
    "renyi_epsilon_at",
]

Array = NDArray[np.float64]
Renyi = Callable[[Array], Array]

_GRID = np.linspace(-12.0, 40.0, 400)
_ROUND_OFF = 1e-14
_ZOOM, _ZOOMS = np.linspace(-1.0, 1.0, 17), 4


def _log1m_inverse(orders: Array) -> Array:
    """log(1 - 1/a) without cancellation at orders near one or far from it."""
    return np.where(orders < 2, np.log(orders - 1) - np.log(orders), np.log1p(-1 / orders))


def renyi_epsilon_at(divergence: Array, orders: Array, delta: float) -> Array:
    """Epsilon that each single order proves (may be negative)."""
    surplus = _log1m_inverse(orders) - (math.log(delta) + np.log(orders)) / (orders - 1)
    return divergence + surplus


def budget_at(epsilon: float, delta: float, orders: Array) -> Array:
    """Divergence that each single order may reach while proving (epsilon, delta)."""
    return epsilon - renyi_epsilon_at(np.zeros(len(orders)), orders, delta)


def largest_budget_per_order(epsilon: float, delta: float) -> float:
    """sup over real orders of B(a) / a: the largest rho-zCDP that proves (epsilon, delta)."""
    return -least(lambda a: -budget_at(epsilon, delta, a) / a)[0]


def best_order(epsilon: float, delta: float) -> int:
    """Whole order with the largest budget per order, for a Renyi filter fixed in advance."""
    real = least(lambda a: -budget_at(epsilon, delta, a) / a)[1]
    whole = np.arange(max(2, math.floor(real) - 2), max(2, math.ceil(real)) + 3, dtype=float)
    return int(whole[(budget_at(epsilon, delta, whole) / whole).argmax()])


def renyi_epsilon(renyi: Renyi, delta: float, orders: Sequence[float] = ()) -> float:
    """Smallest epsilon >= 0 that the divergences prove at delta; ``orders`` as in `least`."""
    if delta <= 0:
        return math.inf
    found = least(lambda a: renyi_epsilon_at(renyi(a), a, delta), orders)[0]
    return max(0.0, found) * (1 + _ROUND_OFF)


def renyi_delta(renyi: Renyi, epsilon: float, orders: Sequence[float] = ()) -> float:
    """Smallest delta <= 1 that the divergences prove at epsilon; ``orders`` as in `least`."""
    if math.isinf(epsilon):
        return 0.0

    def log_delta(orders: Array) -> Array:
        divergence = renyi(orders)
        round_off = _ROUND_OFF * (divergence + epsilon)  # large orders magnify it
        surplus = divergence - epsilon + round_off + _log1m_inverse(orders)
        return (orders - 1) * surplus - np.log(orders)

    return math.exp(min(0.0, least(log_delta, orders)[0]))


def least(objective: Renyi, orders: Sequence[float] = ()) -> tuple[float, float]:
    """Smallest value over log(a - 1), and its order: a grid, then finer ones around the best.

    ``orders`` within the grid's range, where divergences keep their digits, are tried too: where one
    is known up to one order only, the objective may be least at that very order, and a grid stops
    beside it.
    """
    grid, best, at = _GRID, math.inf, float(_GRID[0])
    for _ in range(1 + _ZOOMS):
        value, lowest = _lowest(objective, 1 + np.exp(grid))
        if value < best:
            best, at = value, float(grid[lowest])
        cell = grid[1] - grid[0]
        grid = np.clip(at + cell * _ZOOM, _GRID[0], _GRID[-1])
        if not math.isfinite(best):
            break
    within = [a for a in orders if _GRID[0] <= math.log(a - 1) <= _GRID[-1]]
    if within:
        value, lowest = _lowest(objective, np.array(within))
        if value < best:
            return value, within[lowest]
    return best, 1 + math.exp(at)


def _lowest(objective: Renyi, orders: Array) -> tuple[float, int]:
    """Smallest value at these orders, and which of them has it."""
    with np.errstate(over="ignore", invalid="ignore"):
        values = objective(orders)
    values = np.where(np.isnan(values), np.inf, values)
    lowest = int(values.argmin())
    return float(values[lowest]), lowest
