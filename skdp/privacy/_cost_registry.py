"""The registry of costs, read through `curves`: one function per event type and currency, and what it assumes.

Kinds of cost: ``profile`` (delta as a function of epsilon), ``rdp`` (Renyi divergence at an array of
orders), ``gdp`` (mu), ``zcdp`` (rho), ``pure`` (epsilon). All but the profile add up, and are the
currencies of filters (`_currencies`). Each function prices ONE event; how equal events repeat and
different ones add up is written once, in `_compose`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..exceptions import NotSupported
from .events import Event
from .spec import NEIGHBORS, check_neighbors

__all__ = ["COSTS", "cost", "currencies", "priced", "register", "registered"]

COSTS = ("profile", "rdp", "gdp", "zcdp", "pure")

Curve = Callable[..., Any]

_CURVES: dict[tuple[type[Event], str, str], Curve] = {}


def register(
    event_type: type[Event], currency: str, relations: tuple[str, ...] = NEIGHBORS
) -> Callable[[Curve], Curve]:
    """Declare the decorated function as the cost of one event type in one currency.

    Parameters
    ----------
    event_type : type
        The event it prices.
    currency : {"profile", "rdp", "gdp", "zcdp", "pure"}
        Fixes the signature: ``profile(event, epsilon, neighbors, extra_mu=0.0)`` returns delta
        (arrays allowed) of the event composed with a Gaussian of that mu; ``rdp(event, orders,
        neighbors)`` an array; ``gdp``, ``zcdp`` and ``pure`` take ``(event, neighbors)``.
    relations : tuple of str
        The neighbour relations under which the function is proved.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from skdp.privacy import epsilon
    >>> from skdp.privacy.curves import register
    >>> from skdp.privacy.events import Event, inverse_noise_field
    >>> @dataclass(frozen=True)
    ... class Coin(Event):
    ...     epsilon: float = inverse_noise_field()
    >>> @register(Coin, "pure")
    ... def coin_epsilon(event, neighbors):
    ...     return event.epsilon
    >>> round(epsilon(((Coin(0.5), 3),), delta=0.0), 9)
    1.5
    """
    if currency not in COSTS:
        raise ValueError(f"currency={currency!r} is unknown; use one of {COSTS}.")

    def keep(curve: Curve) -> Curve:
        for neighbors in relations:
            key = (event_type, currency, check_neighbors(neighbors))
            if key in _CURVES:
                raise ValueError(f"{event_type.__name__} already has a {currency} cost.")
            _CURVES[key] = curve
        return curve

    return keep


def priced(event: Event, currency: str, neighbors: str) -> bool:
    """Return whether the event has a registered cost in this currency under this relation."""
    return (type(event), currency, neighbors) in _CURVES


def currencies(event: Event, neighbors: str) -> tuple[str, ...]:
    """Currencies in which the event has a registered cost under this relation."""
    return tuple(c for c in COSTS if priced(event, c, neighbors))


def registered() -> tuple[tuple[type[Event], str, str], ...]:
    """Every (event type, currency, relation) that has a cost."""
    return tuple(_CURVES)


def cost(event: Event, currency: str, neighbors: str) -> Curve:
    """Return the cost function of the event, or refuse with what would work."""
    try:
        return _CURVES[type(event), currency, neighbors]
    except KeyError:
        raise NotSupported(_refusal(event, currency, check_neighbors(neighbors))) from None


def _refusal(event: Event, currency: str, neighbors: str) -> str:
    name = type(event).__name__
    known = currencies(event, neighbors)
    if known:
        return f"{name} has no {currency} cost under {neighbors}; use one of {', '.join(known)}."
    other = next(n for n in NEIGHBORS if n != neighbors)
    if currencies(event, other):
        return f"{name} cannot be proved private under {neighbors}; use neighbors={other!r}."
    return f"{name} has no registered cost; register one in skdp.privacy.curves."
