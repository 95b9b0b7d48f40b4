"""Composition of events: the one place where repetition and composition are written.

Exact reductions come first (a sample of everybody is no sample, an epoch of disjoint batches is one
Gaussian, all Gaussians of a script are one Gaussian); then each currency adds in its own way.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._costs import inverse_up
from ._moved import furthest, parts
from .curves import cost, currencies
from .events import (
    BoundedRange,
    Event,
    Gaussian,
    Laplace,
    MixtureOfGaussians,
    PoissonBundle,
    PoissonGaussian,
    PoissonLaplace,
    PoissonPure,
    PureDP,
    RandomAllocation,
    RandomPosition,
    Script,
    ShuffledEpoch,
    WithoutReplacementGaussian,
    tally,
)

__all__ = ["exact_mu", "reduced", "total", "total_rdp"]

Reduction = Callable[[Any, str], Event]

_ROUND_OFF = 2e-15  # relative: covers the rounding of a computed epsilon
_LEAST_ALLOCATED, _MOST_BATCHES = 0.3, 2**20  # more batches never cost more
_LEAST_MOVED = 0.01  # sd over the largest move; with less, any loss is larger than a promise
_LEAST_LAPLACE = 1 / 256  # scale, over a contribution, whose exponentials are doubles
_POWERS = {"gdp": 2}  # mu adds in squares, every other price as it is


def _whole_sample(event: Any, neighbors: str) -> Event:
    """A sum over everybody: one record moves it by C, and replacing one by 2C."""
    sensitivity = 2.0 if neighbors == "replace_one" else 1.0
    return Gaussian(event.multiplier / sensitivity)


def _poisson_gaussian(event: PoissonGaussian, neighbors: str) -> Event:
    if event.rate == 0:
        return Gaussian(math.inf)
    return _whole_sample(event, neighbors) if event.rate == 1 else event


def _without_replacement(event: WithoutReplacementGaussian, neighbors: str) -> Event:
    if neighbors != "replace_one" or event.rate < 1:
        return event
    return _whole_sample(event, neighbors)


def _poisson_pure(event: PoissonPure, neighbors: str) -> Event:
    """A sample of nobody or of everybody is none; an answer without noise is one on everybody too."""
    largest = cost(event, "pure", neighbors)(event, neighbors)
    plain = event.rate in (0.0, 1.0) or largest in (0.0, math.inf)
    return PureDP(largest) if plain else event


def _poisson_laplace(event: PoissonLaplace, neighbors: str) -> Event:
    """A sample of nobody or of everybody is none, and with next to no noise there is only a pure bound."""
    times = 2.0 if neighbors == "replace_one" else 1.0
    if event.rate == 0 or math.isinf(event.multiplier):
        return PureDP(0.0)
    if event.rate == 1:
        return Laplace(event.multiplier / times)
    if event.multiplier < _LEAST_LAPLACE:
        epsilon = times * inverse_up(event.multiplier) * (1 + _ROUND_OFF)
        return _poisson_pure(PoissonPure(epsilon, event.rate), neighbors)
    return event


def _poisson_bundle(event: PoissonBundle, neighbors: str) -> Event:
    """A bundle of one kind only is that kind; pure steps on one sample add up before it."""
    epsilons = [e for e in event.epsilons if e > 0]
    if not epsilons:
        return _poisson_gaussian(PoissonGaussian(event.multiplier, event.rate), neighbors)
    if math.isinf(event.multiplier):
        return _poisson_pure(PoissonPure(math.fsum(epsilons), event.rate), neighbors)
    return event


def _mixture_of_gaussians(event: MixtureOfGaussians, neighbors: str) -> Event:
    """One move or none is a sample, a sure move is none, and in next to no noise the furthest move is as sure."""
    most, moves, up, down = parts(event, neighbors)
    if most == 0:
        return Gaussian(math.inf)
    sure = all(sum(w > 0 for w in side) == 1 for side in (up, down))
    if sure or not _LEAST_MOVED <= event.multiplier / most < math.inf:
        return Gaussian(event.multiplier / furthest(event, neighbors))
    same = up == down if neighbors == "replace_one" else not any(down[1:])
    if same and len(moves) == 2:
        return PoissonGaussian(event.multiplier / most, up[1])
    return event


def _random_allocation(event: RandomAllocation, neighbors: str) -> Event:
    """One batch is everybody; hardly any noise is priced as if all knew the batch, and so are most batches."""
    plain = event.batches == 1 or not _LEAST_ALLOCATED <= event.multiplier < math.inf
    if plain:
        return _whole_sample(event, neighbors)
    return RandomAllocation(event.multiplier, min(event.batches, _MOST_BATCHES))


def _random_position(event: RandomPosition, neighbors: str) -> Event:
    same = len(set(event.multipliers)) == 1
    return Gaussian(event.multipliers[0]) if same else event


def _known_by_epsilon(event: Event, neighbors: str) -> Event:
    """An event of which only a pure epsilon is proved is any release with that epsilon."""
    if currencies(event, neighbors) == ("pure",):
        return PureDP(cost(event, "pure", neighbors)(event, neighbors) * (1 + _ROUND_OFF))
    return event


_REDUCTIONS: dict[type[Event], Reduction] = {
    BoundedRange: lambda event, neighbors: event if event.epsilon else PureDP(0.0),
    MixtureOfGaussians: _mixture_of_gaussians,
    PoissonBundle: _poisson_bundle,
    PoissonGaussian: _poisson_gaussian,
    PoissonLaplace: _poisson_laplace,
    PoissonPure: _poisson_pure,
    RandomAllocation: _random_allocation,
    RandomPosition: _random_position,
    ShuffledEpoch: lambda event, neighbors: Gaussian(event.multiplier),
    WithoutReplacementGaussian: _without_replacement,
}


def reduced(script: Script, neighbors: str) -> dict[Event, int]:
    """Return the script as counts of distinct events that cost something, Gaussians in one."""
    counts: dict[Event, int] = {}
    precisions = []
    for event, count in tally(script).items():
        if count > 1 and hasattr(event, "repeated"):  # its own theorem composes it
            event, count = event.repeated(count), 1
        plain = _REDUCTIONS.get(type(event), _known_by_epsilon)(event, neighbors)
        if isinstance(plain, Gaussian):
            precisions.append(count * _precision(plain.multiplier))
        elif plain != PureDP(0.0):
            counts[plain] = counts.get(plain, 0) + count
    precision = math.fsum(precisions)
    if precision > 0:
        counts[Gaussian(_multiplier(precision))] = 1
    return counts


def _precision(multiplier: float) -> float:
    return math.inf if multiplier < 1e-150 else multiplier**-2


def _multiplier(precision: float) -> float:
    return 0.0 if math.isinf(precision) else precision**-0.5


def exact_mu(counts: dict[Event, int]) -> float | None:
    """The mu of a reduced script that is one Gaussian mechanism, or None."""
    if not counts:
        return 0.0
    if len(counts) == 1 and isinstance(event := next(iter(counts)), Gaussian):
        return math.sqrt(_precision(event.multiplier))
    return None


def total(counts: dict[Event, int], currency: str, neighbors: str) -> float:
    """Cost of a reduced script in ``gdp`` (mu squared), ``zcdp`` or ``pure``: all of them add."""
    power = _POWERS.get(currency, 1)
    return math.fsum(
        count * cost(event, currency, neighbors)(event, neighbors) ** power
        for event, count in counts.items()
    )


def total_rdp(
    counts: dict[Event, int], orders: NDArray[np.float64], neighbors: str
) -> NDArray[np.float64]:
    """Renyi divergence of a reduced script at every order: divergences of independent steps add."""
    out = np.zeros(len(orders))
    for event, count in counts.items():
        out = out + count * cost(event, "rdp", neighbors)(event, orders, neighbors)
    return out
