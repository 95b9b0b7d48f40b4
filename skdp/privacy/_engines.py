"""Accountants, a class for each composition theorem, all on reduced scripts (counts of distinct events)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..exceptions import NotSupported
from ._compose import total, total_rdp
from ._conversion import renyi_delta, renyi_epsilon
from ._exact import at_least, pure_price
from ._gaussian import gaussian_delta, gaussian_epsilon
from ._sampled_pure import branches, mixtures
from ._scipy import brentq
from .curves import cost, priced
from .events import (
    BestOf,
    Event,
    Gaussian,
    Laplace,
    PoissonPure,
    PureDP,
    RandomAllocation,
    RandomPosition,
    RenyiDP,
    Script,
)

__all__ = ["ENGINES", "Engine"]

Counts = dict[Event, int]

_ROUND_OFF = 1e-15


class Engine(Protocol):
    """Protocol of an accountant: one composition theorem that prices reduced scripts."""

    def supports(self, counts: Counts, neighbors: str) -> bool:
        """Return whether the theorem covers every event."""

    def epsilon(self, counts: Counts, delta: float, neighbors: str) -> float:
        """Smallest epsilon at delta."""

    def delta(self, counts: Counts, epsilon: float, neighbors: str) -> float:
        """Smallest delta at epsilon."""

    def profile(self, counts: Counts, epsilons: NDArray[np.float64], neighbors: str) -> Any:
        """Delta at each of some rising epsilons: cheaper together where one composition holds for several."""
        return np.array([self.delta(counts, float(e), neighbors) for e in epsilons])

    def tight(self, counts: Counts, neighbors: str) -> bool:
        """Return whether no other engine is known to give a smaller epsilon."""

    def exact(self, counts: Counts, neighbors: str) -> bool:
        """Return whether no price can be smaller, at any epsilon or delta."""


class _Additive(Engine):
    """Base class of the additive currencies, which need a price for every event."""

    currency: str

    def supports(self, counts: Counts, neighbors: str) -> bool:
        return all(priced(event, self.currency, neighbors) for event in counts)

    def tight(self, counts: Counts, neighbors: str) -> bool:
        return False

    exact = tight


class _Gdp(_Additive):
    """mu-Gaussian DP: mu^2 adds, and a script of Gaussians is priced exactly."""

    currency = "gdp"

    def epsilon(self, counts: Counts, delta: float, neighbors: str) -> float:
        return gaussian_epsilon(math.sqrt(total(counts, "gdp", neighbors)), delta)

    def delta(self, counts: Counts, epsilon: float, neighbors: str) -> float:
        return float(gaussian_delta(epsilon, math.sqrt(total(counts, "gdp", neighbors))))


class _Zcdp(_Additive):
    """rho-zCDP: rho adds; converted at the best real order."""

    currency = "zcdp"

    def epsilon(self, counts: Counts, delta: float, neighbors: str) -> float:
        rho = total(counts, "zcdp", neighbors)
        return 0.0 if rho == 0 else renyi_epsilon(lambda a: a * rho, delta)

    def delta(self, counts: Counts, epsilon: float, neighbors: str) -> float:
        rho = total(counts, "zcdp", neighbors)
        return 0.0 if rho == 0 else renyi_delta(lambda a: a * rho, epsilon)


class _Rdp(_Additive):
    """Renyi divergence at all real orders, those at which an event is known among them."""

    currency = "rdp"

    def epsilon(self, counts: Counts, delta: float, neighbors: str) -> float:
        divergence = _divergence(counts, neighbors)
        return renyi_epsilon(divergence, delta, _known_orders(counts)) if counts else 0.0

    def delta(self, counts: Counts, epsilon: float, neighbors: str) -> float:
        divergence = _divergence(counts, neighbors)
        return renyi_delta(divergence, epsilon, _known_orders(counts)) if counts else 0.0


def _known_orders(counts: Counts) -> list[float]:
    """Orders beyond which nothing is known of an event."""
    return [event.order for event in counts if isinstance(event, RenyiDP)]


def _divergence(counts: Counts, neighbors: str) -> Callable[[NDArray[np.float64]], Any]:
    """Divergence of a script by order; a curve asks for the same first grid at every point."""
    runs = tuple(counts.items())
    return lambda orders: _divergence_at(runs, neighbors, orders.tobytes())


@lru_cache(maxsize=256)
def _divergence_at(runs: Script, neighbors: str, orders: bytes) -> NDArray[np.float64]:
    out = total_rdp(dict(runs), np.frombuffer(orders), neighbors)
    out.setflags(write=False)
    return out


class _Pure(_Additive):
    """Basic composition: epsilons add; at a positive delta, the profile of randomised response."""

    currency = "pure"

    def epsilon(self, counts: Counts, delta: float, neighbors: str) -> float:
        if delta == 0:
            return at_least(sum(pure_price(e, neighbors) * k for e, k in counts.items()))
        epsilon = total(counts, "pure", neighbors) * (1 + _ROUND_OFF)
        kept = delta + delta * math.exp(-epsilon)
        if math.isinf(epsilon) or kept >= 1:
            return epsilon if kept < 1 else 0.0
        return max(0.0, min(epsilon, (epsilon + math.log1p(-kept)) + _ROUND_OFF * epsilon))

    def delta(self, counts: Counts, epsilon: float, neighbors: str) -> float:
        spent = total(counts, "pure", neighbors) * (1 + _ROUND_OFF)
        if epsilon >= spent:
            return 0.0
        return 1.0 if math.isinf(spent) else -math.expm1(epsilon - spent) / (1 + math.exp(-spent))


class _Profile(Engine):
    """Pure steps, sampled or not, Gaussians and random positions in closed form, beside one event with a curve."""

    def supports(self, counts: Counts, neighbors: str) -> bool:
        return _split(counts, neighbors) is not None

    def tight(self, counts: Counts, neighbors: str) -> bool:
        split = _split(counts, neighbors)
        return split is not None and split.tight

    def exact(self, counts: Counts, neighbors: str) -> bool:
        split = _split(counts, neighbors)
        return split is not None and split.exact

    def delta(self, counts: Counts, epsilon: float, neighbors: str) -> float:
        return self._curve(counts, neighbors)(epsilon)

    @staticmethod
    def _curve(counts: Counts, neighbors: str) -> Callable[[float], float]:
        split = _split(counts, neighbors)
        assert split is not None
        known, event = mixtures(tuple(split.known.items()), neighbors), split.special
        if event is None:
            return lambda epsilon: max(one.delta(epsilon) for one in known)
        price = cost(event, "profile", neighbors)

        def beside(epsilon: Any, mu: float) -> Any:
            return np.clip(price(event, epsilon, neighbors, extra_mu=mu), 0.0, 1.0)

        return lambda epsilon: max(one.delta(epsilon, beside) for one in known)

    def epsilon(self, counts: Counts, delta: float, neighbors: str) -> float:
        curve = self._curve(counts, neighbors)

        def excess(e: float) -> float:
            return math.log(max(curve(e), 1e-320) / max(delta, 1e-310))

        if delta == 0:  # a tail that underflows is not a tail of zero
            return math.inf
        if excess(0.0) <= 0:
            return 0.0
        high = 1.0
        while excess(high) > 0:
            high *= 2
            if high > 1e9:
                return math.inf
        root = brentq(excess, 0.0, high, xtol=1e-20, rtol=1e-14, maxiter=500)
        return _private_side(lambda e: excess(e) <= 0, root, high)


@dataclass(frozen=True)
class _Split:
    """A script as a mixture beside at most one event with a curve of its own."""

    known: Counts
    special: Event | None
    stand_ins: bool

    @property
    def exact(self) -> bool:
        """True if no price can be tighter."""
        gaussian = any(isinstance(event, Gaussian) for event in self.known)
        alone = self.special is None or (isinstance(self.special, Laplace) and not gaussian)
        own = isinstance(self.special, (BestOf, RandomAllocation))
        searched = own and not self.known  # others read this curve
        return (alone or searched) and not self.stand_ins

    @property
    def tight(self) -> bool:
        """True if no other accountant is known to be tighter."""
        return self.exact or not (
            self.stand_ins or isinstance(self.special, (BestOf, Laplace, RandomAllocation))
        )


def _split(counts: Counts, neighbors: str) -> _Split | None:
    """Sort a reduced script into what has a closed form, one curve, and stand-ins for the rest."""
    curves = [e for e in counts if priced(e, "profile", neighbors) and not _closed(e)]
    curves.sort(key=lambda e: priced(e, "pure", neighbors))  # those without a stand-in first
    special = curves[0] if curves and counts[curves[0]] == 1 else None
    rest = {e: k for e, k in counts.items() if e is not special}
    for closed in (_closed, _few):
        known = stood_in(rest, neighbors, closed)
        if known is None or not all(priced(e, "profile", neighbors) for e in known):
            return None
        if math.isfinite(branches(known, neighbors)):
            crowded = special and any(_wide(e) for e in known)
            return None if crowded else _Split(known, special, known != rest)
    return None


def _closed(event: Event) -> bool:
    return isinstance(event, (Gaussian, PoissonPure, PureDP, RandomPosition))


def _few(event: Event) -> bool:
    """Events of fewest branches: a sampled pure step is a pure step of its largest loss at most."""
    return _closed(event) and not isinstance(event, PoissonPure)


def _wide(event: Event) -> bool:
    return isinstance(event, RandomPosition)


def stood_in(counts: Counts, neighbors: str, known: Callable[[Event], bool]) -> Counts | None:
    """The script with randomised response for every unknown event that is pure; None without one."""
    out: Counts = {}
    for event, count in counts.items():
        if not known(event):
            if not priced(event, "pure", neighbors):
                return None
            price = cost(event, "pure", neighbors)(event, neighbors)
            event = PureDP(price * (1 + _ROUND_OFF))
        out[event] = out.get(event, 0) + count
    return out


def _private_side(keeps: Any, root: float, high: float) -> float:
    """Step up from a root until the promise really holds."""
    step = 1e-13 * max(root, 1e-3)
    while not keeps(root) and root < high:
        root, step = root + step, 2 * step
    return min(root, high)


class _Pld(Engine):
    """Privacy-loss distribution: numerically tight and pessimistic, for scripts fixed beforehand.

    A pure event without a distribution of its own, such as AboveThreshold, enters as randomised
    response, which dominates it.
    """

    def supports(self, counts: Counts, neighbors: str) -> bool:
        return bool(counts) and self._counts(counts, neighbors) is not None

    def tight(self, counts: Counts, neighbors: str) -> bool:
        return self._counts(counts, neighbors) == counts

    def exact(self, counts: Counts, neighbors: str) -> bool:
        return False

    @staticmethod
    def _counts(counts: Counts, neighbors: str) -> Counts | None:
        from ._pld import supports

        return stood_in(counts, neighbors, lambda event: supports(event, neighbors))

    def epsilon(self, counts: Counts, delta: float, neighbors: str) -> float:
        known = self._counts(counts, neighbors)
        assert known is not None
        from ._pld import epsilon as price

        return float(price(tuple(known.items()), delta, neighbors))

    def delta(self, counts: Counts, epsilon: float, neighbors: str) -> float:
        known = self._counts(counts, neighbors)
        assert known is not None
        from ._pld import delta

        return float(delta(tuple(known.items()), epsilon, neighbors))

    def profile(self, counts: Counts, epsilons: NDArray[np.float64], neighbors: str) -> Any:
        known = self._counts(counts, neighbors)
        assert known is not None
        from ._pld import profile

        return profile(tuple(known.items()), epsilons, neighbors)


ENGINES: dict[str, Any] = {
    "gdp": _Gdp(),
    "pld": _Pld(),
    "profile": _Profile(),
    "rdp": _Rdp(),
    "zcdp": _Zcdp(),
    "pure": _Pure(),
}


def refuse(accountant: str, counts: Counts, neighbors: str) -> NotSupported:
    """The sentence that names the event an accountant cannot price, and who can."""
    for event in counts:
        if not ENGINES[accountant].supports({event: 1}, neighbors):
            able = [n for n, e in ENGINES.items() if e.supports({event: 1}, neighbors)]
            remedy = f"use accountant in {able}" if able else "use the other neighbour relation"
            name = type(event).__name__
            return NotSupported(
                f"accountant={accountant!r} cannot price {name} under {neighbors}; {remedy}."
            )
    return NotSupported(
        f"accountant={accountant!r} cannot compose these {len(counts)} events; use 'auto'."
    )
