"""Share of each event in a script's price, in a currency that adds up."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..exceptions import NotSupported
from . import accountants
from ._arithmetic import own_arithmetic
from ._compose import reduced, total, total_rdp
from ._engines import ENGINES
from .events import Event, Script, tally
from .spec import check_delta, check_neighbors

__all__ = ["Share", "breakdown"]

_ORDERS = 1 + np.geomspace(1e-3, 1e5, 400)


@dataclass(frozen=True)
class Share:
    """Share of a script's price that equal events take together.

    Parameters
    ----------
    event : Event
        The event.
    count : int
        How often it is on the script.
    share : float
        Its part of the whole, in the currency in which costs add up; parts sum to 1.
    alone : float
        Epsilon of these events and nothing else.
    without : float
        Epsilon of the script without them.

    See Also
    --------
    breakdown : Makes one for each event of a script.
    """

    event: Event
    count: int
    share: float
    alone: float
    without: float


@own_arithmetic
def breakdown(script: Script, delta: float, neighbors: str = "replace_one") -> tuple[Share, ...]:
    """Split the price of a script among its events, the costliest first.

    Costs add up in squares of mu where that is known of every event; else in Renyi divergence at the
    order that prices the whole at `delta`; else in pure epsilon. Where no currency covers all,
    shares are those of the events' epsilons alone.

    Parameters
    ----------
    script : tuple of (Event, int)
        What is released; fixed before the data is touched.
    delta : float
        In [0, 1).
    neighbors : {"replace_one", "add_remove"}
        The neighbour relation.

    Returns
    -------
    tuple of Share
        Equal events are one entry.

    See Also
    --------
    epsilon : The price of the whole.

    Examples
    --------
    >>> from skdp.privacy import breakdown
    >>> from skdp.privacy.events import Gaussian
    >>> for part in breakdown(((Gaussian(10.0), 3), (Gaussian(5.0), 1)), 1e-6):
    ...     print(part.count, part.event, round(part.share, 3), round(part.alone, 3))
    1 Gaussian(multiplier=5.0) 0.571 0.834
    3 Gaussian(multiplier=10.0) 0.429 0.715
    """
    check_delta(delta)
    counts = tally(script)
    runs = [((event, count),) for event, count in counts.items()]
    weights = _weights(runs, tuple(counts.items()), delta, check_neighbors(neighbors))
    parts = []
    for run, share in zip(runs, _normalised(weights)):
        rest = tuple(item for item in counts.items() if item != run[0])
        alone = _price(run, delta, neighbors)
        parts.append(Share(*run[0], share, alone, _price(rest, delta, neighbors)))
    return tuple(sorted(parts, key=lambda part: -part.share))


@own_arithmetic
def shares(script: Script, delta: float, neighbors: str) -> dict[Event, float]:
    """Parts alone, without the prices of what is left out: cheap enough to draw."""
    counts = tally(script)
    runs = [((event, count),) for event, count in counts.items()]
    weights = _weights(runs, tuple(counts.items()), delta, neighbors)
    return dict(zip(counts, _normalised(weights)))


def _price(script: Script, delta: float, neighbors: str) -> float:
    try:
        return accountants.epsilon(script, delta, neighbors)
    except NotSupported:
        return math.inf


def _normalised(weights: list[float]) -> list[float]:
    """Parts of a whole; what is infinite takes it all."""
    if any(map(math.isinf, weights)):
        weights = [float(math.isinf(weight)) for weight in weights]
    whole = math.fsum(weights)
    return [weight / whole if whole else 0.0 for weight in weights]


def _weights(runs: Sequence[Script], script: Script, delta: float, neighbors: str) -> list[float]:
    cost = _currency(script, delta, neighbors)
    return [cost(run) for run in runs]


def _currency(script: Script, delta: float, neighbors: str) -> Callable[[Script], float]:
    """A cost that adds up over events, in the first currency that covers all of them."""
    costs = [
        _additive("gdp", neighbors),
        _renyi(script, delta, neighbors),
        _additive("pure", neighbors),
    ]
    able = (cost for cost in costs if cost is not None and _finite(cost, script))
    return next(able, lambda run: _price(run, delta, neighbors))


def _finite(cost: Callable[[Script], float], script: Script) -> bool:
    try:
        return math.isfinite(cost(script))
    except NotSupported:
        return False


def _additive(currency: str, neighbors: str) -> Callable[[Script], float]:
    return lambda run: total(reduced(run, neighbors), currency, neighbors)


def _renyi(script: Script, delta: float, neighbors: str) -> Callable[[Script], float] | None:
    """Divergence at the one order that prices the whole."""
    if delta == 0 or not ENGINES["rdp"].supports(reduced(script, neighbors), neighbors):
        return None
    order = _order(script, delta, neighbors)
    return lambda run: float(total_rdp(reduced(run, neighbors), order, neighbors)[0])


def _order(script: Script, delta: float, neighbors: str) -> NDArray[np.float64]:
    """The order at which divergence proves the least epsilon (Canonne, Kamath and Steinke 2020)."""
    divergence = total_rdp(reduced(script, neighbors), _ORDERS, neighbors)
    excess = np.log1p(-1 / _ORDERS) - (math.log(delta) + np.log(_ORDERS)) / (_ORDERS - 1)
    best = int(np.argmin(np.where(np.isfinite(divergence), divergence + excess, np.inf)))
    return _ORDERS[best : best + 1]
