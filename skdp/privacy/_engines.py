"""One accountant per composition theorem, all on reduced scripts (counts of distinct events)."""

from __future__ import annotations

import math
from typing import Any, Protocol

from scipy.optimize import brentq

from skdp.exceptions import NotSupported
from skdp.privacy._compose import exact_mu, total, total_rdp
from skdp.privacy._conversion import renyi_delta, renyi_epsilon
from skdp.privacy._gaussian import gaussian_delta, gaussian_epsilon
from skdp.privacy.curves import cost, priced
from skdp.privacy.events import Event, Gaussian

__all__ = ["ENGINES", "Engine"]

Counts = dict[Event, int]


class Engine(Protocol):
    """How one composition theorem prices a reduced script."""

    def supports(self, counts: Counts, neighbors: str) -> bool:
        """Whether the theorem covers every event."""

    def epsilon(self, counts: Counts, delta: float, neighbors: str) -> float:
        """Smallest epsilon at delta."""

    def delta(self, counts: Counts, epsilon: float, neighbors: str) -> float:
        """Smallest delta at epsilon."""


class _Additive:
    """What the additive currencies share: every event must be priced in it."""

    currency: str

    def supports(self, counts: Counts, neighbors: str) -> bool:
        return all(priced(event, self.currency, neighbors) for event in counts)


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
    """Renyi divergence at all real orders."""

    currency = "rdp"

    def epsilon(self, counts: Counts, delta: float, neighbors: str) -> float:
        return renyi_epsilon(lambda a: total_rdp(counts, a, neighbors), delta) if counts else 0.0

    def delta(self, counts: Counts, epsilon: float, neighbors: str) -> float:
        return renyi_delta(lambda a: total_rdp(counts, a, neighbors), epsilon) if counts else 0.0


class _Pure(_Additive):
    """Basic composition: epsilons add; at a positive delta, the profile of randomised response."""

    currency = "pure"

    def epsilon(self, counts: Counts, delta: float, neighbors: str) -> float:
        epsilon = total(counts, "pure", neighbors)
        if delta == 0 or math.isinf(epsilon):
            return epsilon
        kept = 1 - delta - delta * math.exp(-epsilon)
        return max(0.0, epsilon + math.log(kept)) if kept > 0 else 0.0

    def delta(self, counts: Counts, epsilon: float, neighbors: str) -> float:
        spent = total(counts, "pure", neighbors)
        if epsilon >= spent:
            return 0.0
        return 1.0 if math.isinf(spent) else -math.expm1(epsilon - spent) / (1 + math.exp(-spent))


class _Profile:
    """A single event with its own privacy profile, next to any number of Gaussians."""

    def supports(self, counts: Counts, neighbors: str) -> bool:
        others = [(e, k) for e, k in counts.items() if not isinstance(e, Gaussian)]
        if len(others) != 1 or others[0][1] != 1:
            return exact_mu(counts) is not None
        return priced(others[0][0], "profile", neighbors)

    def delta(self, counts: Counts, epsilon: float, neighbors: str) -> float:
        mu = exact_mu({e: k for e, k in counts.items() if isinstance(e, Gaussian)})
        for event in counts:
            if not isinstance(event, Gaussian):
                curve = cost(event, "profile", neighbors)
                value = curve(event, epsilon, neighbors, extra_mu=mu)
                return min(1.0, max(0.0, float(value)))
        return float(gaussian_delta(epsilon, mu))

    def epsilon(self, counts: Counts, delta: float, neighbors: str) -> float:
        def excess(e: float) -> float:
            value = self.delta(counts, e, neighbors)
            return math.log(max(value, 1e-320) / max(delta, 1e-310))

        if delta == 0:  # a tail that underflows is not a tail of zero
            return math.inf
        if excess(0.0) <= 0:
            return 0.0
        high = 1.0
        while excess(high) > 0:
            high *= 2
            if high > 1e9:
                return math.inf
        root = brentq(excess, 0.0, high, xtol=1e-14, rtol=1e-14, maxiter=500)
        return _private_side(lambda e: excess(e) <= 0, root, high)


def _private_side(keeps: Any, root: float, high: float) -> float:
    """Step up from a root until the promise really holds."""
    step = 1e-13 * max(root, 1e-3)
    while not keeps(root) and root < high:
        root, step = root + step, 2 * step
    return min(root, high)


class _Pld:
    """Privacy-loss distribution: numerically tight and pessimistic, for scripts fixed beforehand."""

    def supports(self, counts: Counts, neighbors: str) -> bool:
        try:
            from skdp.privacy import _pld
        except ImportError:
            return False
        return bool(counts) and all(_pld.supports(event, neighbors) for event in counts)

    def epsilon(self, counts: Counts, delta: float, neighbors: str) -> float:
        from skdp.privacy import _pld

        return float(_pld.epsilon(tuple(counts.items()), delta, neighbors))

    def delta(self, counts: Counts, epsilon: float, neighbors: str) -> float:
        from skdp.privacy import _pld

        return float(_pld.delta(tuple(counts.items()), epsilon, neighbors))


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
