"""Two-sided prices: an interval that provably holds epsilon at a delta, or delta at an epsilon, of a script."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..exceptions import NotSupported
from . import _pld, accountants
from ._arithmetic import own_arithmetic
from ._compose import exact_mu
from ._discrete import outcomes
from ._gaussian import gaussian_delta
from ._pld_below import Below, below
from ._pld_compose import compose
from ._pld_plan import Counted, finer, plan_for_epsilon, plan_with
from ._sampled_pure import branches, mixtures
from .events import (
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    Gaussian,
    Laplace,
    MixtureOfGaussians,
    PoissonGaussian,
    PoissonLaplace,
    PoissonPure,
    PureDP,
    RandomizedResponse,
    Script,
    ShuffledEpoch,
    WithoutReplacementGaussian,
    WorstPair,
    checked,
    tally,
)
from .spec import check_delta, check_neighbors

__all__ = ["Enclosure", "attained", "enclose"]

_FINE, _ROUGH = 1e-7, 1e-3  # accuracies that grids of the engine are planned with
_FREE = 2**17  # so many grid points take no time to speak of
_CLOSED = 1e-11  # relative error of a closed form
_BRANCH, _OFFSET = 1e-12, 3e-12  # of a mixture: relative error of weights per step, and of losses
_HALVINGS = 30
_ROUNDS, _CUT = 4, 1e-7  # looks for a window outside of which there is so little of delta
_LARGEST = 600.0  # epsilons beyond which next to impossible answers count as told for certain

Curve = Callable[[float], float]


@dataclass(frozen=True)
class Enclosure:
    """An interval that holds the price of a script, and why.

    Parameters
    ----------
    low, high : float
        The price is at least and at most this.
    witness : dict
        How the lower end was proved: the method, the grid, and the account of its errors.

    See Also
    --------
    enclose : What makes one.
    """

    low: float
    high: float
    witness: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def width(self) -> float:
        """Relative width, 0 where both ends are the same."""
        return 0.0 if self.low == self.high else (self.high - self.low) / self.high

    def __contains__(self, value: float) -> bool:
        return bool(self.low <= value <= self.high)


def _symmetric(event: Any, neighbors: str) -> bool:
    removing, adding = outcomes(event, neighbors)
    return neighbors == "add_remove" or removing is adding


# Events whose dominating pair is that of two neighbours under a mechanism which the event describes.
_ATTAINED: dict[type[Event], Callable[[Any, str], bool]] = {
    DiscreteGaussian: lambda event, _: event.enumerable,
    DiscreteLaplace: lambda event, _: event.enumerable,
    Gaussian: lambda event, _: True,
    Laplace: lambda event, _: True,
    MixtureOfGaussians: lambda event, neighbors: (
        neighbors == "add_remove" or event.back in ((), event.weights)
    ),
    PoissonGaussian: lambda event, _: True,
    PoissonLaplace: lambda event, _: True,
    PoissonPure: lambda event, neighbors: neighbors == "add_remove" or event.rate in (0.0, 1.0),
    PureDP: lambda event, _: True,
    RandomizedResponse: lambda event, _: True,
    ShuffledEpoch: lambda event, _: True,
    WithoutReplacementGaussian: lambda event, neighbors: (
        neighbors == "replace_one" and event.rate == 1
    ),
    WorstPair: _symmetric,
}


def attained(event: Event, neighbors: str) -> bool:
    """Return whether the price of an event is known from below, as a step among others."""
    known = _ATTAINED.get(type(event))
    return known is not None and known(event, neighbors)


@own_arithmetic
def enclose(
    script: Script | Event,
    *,
    delta: float | None = None,
    epsilon: float | None = None,
    neighbors: str = "replace_one",
) -> Enclosure:
    """Enclose epsilon at a delta, or delta at an epsilon, between proved bounds.

    Parameters
    ----------
    script : tuple of (Event, int), or Event
        What is released; fixed before the data is touched. Every event must have a dominating pair that is attained:
        Gaussians, Laplace noise, pure steps, Poisson-sampled Gaussian and Laplace steps, groups of sampled rows,
        Poisson-sampled pure steps under add/remove, integer noise, randomised response and `WorstPair`, in any
        composition.
    delta, epsilon : float
        One of them: the other is enclosed.
    neighbors : {"replace_one", "add_remove"}
        The neighbour relation.

    Returns
    -------
    Enclosure
        Its upper end is never above what `skdp.privacy.epsilon` or `skdp.privacy.delta` says.

    See Also
    --------
    epsilon : The upper end alone, faster.
    certificate : The interval with a witness that a stand-alone program verifies.

    Examples
    --------
    >>> from skdp.privacy import enclose, epsilon
    >>> from skdp.privacy.events import PoissonGaussian
    >>> script = ((PoissonGaussian(1.0, 0.01), 100),)
    >>> found = enclose(script, delta=1e-6, neighbors="add_remove")
    >>> found.low <= found.high <= epsilon(script, 1e-6, "add_remove"), found.width < 1e-5
    (True, True)
    """
    runs = ((script, 1),) if isinstance(script, Event) else checked(script)
    check_neighbors(neighbors)
    if (delta is None) == (epsilon is None):
        raise ValueError("enclose needs delta= or epsilon=, one of the two.")
    for event in tally(runs):
        if not attained(event, neighbors):
            raise NotSupported(
                f"Only an upper bound is known for {type(event).__name__} under {neighbors}; "
                "use skdp.privacy.epsilon, or enclose the other events without it."
            )
    if delta is not None:
        return _epsilons(runs, check_delta(delta), neighbors)
    assert epsilon is not None
    if not 0 <= epsilon <= _LARGEST:
        raise ValueError(f"epsilon={epsilon!r} must be between 0 and {_LARGEST:g}.")
    return _deltas(runs, float(epsilon), neighbors)


def _epsilons(script: Script, delta: float, neighbors: str) -> Enclosure:
    price = accountants.epsilon(script, delta, neighbors)
    counts = _pld.live(script, neighbors)
    if price in (0.0, math.inf) or not counts:
        known = price == 0 or delta == 0 or not _pld.composed(counts)
        return Enclosure(price if known else 0.0, price, {"method": "limit"})
    if delta == 0:
        return Enclosure(price * (1 - _CLOSED), price, {"method": "sum of largest losses"})
    closed = _closed_form(counts, neighbors)
    if closed is not None:
        return Enclosure(_below_price(closed, price, delta), price, _closed_witness())
    found = _grids(
        counts, neighbors, price, lambda grid: grid.upper.epsilon(delta), _pld.largest_loss
    )
    high, (grid, name) = found
    high = min(high, price)
    return Enclosure(_below_price(grid.delta, high, delta), high, _witness(grid, name))


def _deltas(script: Script, epsilon: float, neighbors: str) -> Enclosure:
    price = accountants.delta(script, epsilon, neighbors)
    counts = _pld.live(script, neighbors)
    mu = exact_mu(counts)
    if price == 0 or not counts or (mu is None and not _pld.composed(counts)):
        return Enclosure(price, price, {"method": "limit"})
    closed = _closed_form(counts, neighbors)
    if closed is not None:
        return Enclosure(min(closed(epsilon), price), price, _closed_witness())
    high, (grid, name) = _grids(
        counts,
        neighbors,
        epsilon,
        lambda grid: grid.upper.delta(epsilon),
        lambda pairs: float(epsilon < _pld.largest_loss(pairs)),
    )
    high = min(high, price)
    return Enclosure(min(grid.delta(epsilon), high), high, _witness(grid, name))


def _closed_form(counts: dict[Event, int], neighbors: str) -> Curve | None:
    """Delta by a closed form, rounded down; None where there is none."""
    mu = exact_mu(counts)
    if mu is not None:
        return lambda epsilon: float(gaussian_delta(epsilon, mu)) * (1 - _CLOSED)
    kinds = (Gaussian, PoissonPure, PureDP)
    if not all(isinstance(event, kinds) for event in counts):
        return None
    if not math.isfinite(branches(counts, neighbors)):
        return None
    known, steps = mixtures(tuple(counts.items()), neighbors), sum(counts.values())
    pure = math.fsum(k * getattr(event, "epsilon", 0.0) for event, k in counts.items())
    share = 1 - _CLOSED - _BRANCH * (steps + 500)
    return lambda epsilon: share * max(one.delta(epsilon + _OFFSET * pure) for one in known)


def _grids(
    counts: dict[Event, int],
    neighbors: str,
    epsilon: float,
    price: Callable[[Any], float],
    most: Callable[[Counted], float],
) -> tuple[float, tuple[Below, str]]:
    """The larger price of the directions on fine grids, ``most`` at most, and the grid of the direction that has it."""
    directions = _pld.directions_of(counts, neighbors)
    names = ("removing", "adding") if len(directions) > 1 else ("both",)
    if neighbors == "replace_one":
        names = ("replacing",)

    def rough(pairs: Counted) -> float:
        tail = compose(pairs, plan_for_epsilon(pairs, epsilon, _ROUGH))
        return min(float(price(_Rough(tail))), most(pairs))

    order = sorted(zip(directions, names), key=lambda one: -rough(one[0]))
    high, worst = -math.inf, None
    for pairs, name in order:
        if worst is not None and rough(pairs) <= high:
            continue
        grid = _fine(pairs, epsilon)
        told = min(price(grid), most(pairs))
        if worst is None or told > high:
            high, worst = told, (grid, name)
    assert worst is not None
    return high, worst


def _fine(pairs: Counted, epsilon: float) -> Below:
    """A fine grid around an epsilon with ends that are far enough, or the one that proves most."""
    plan, found = plan_for_epsilon(pairs, epsilon, _FINE, fewer=1), []
    for _ in range(_ROUNDS):
        plan = finer(pairs, plan, max(_FREE * plan.step / plan.width, 1.0))
        grid = below(pairs, plan)
        found.append(grid)
        least = _CUT * grid.upper.delta(epsilon)
        outside = grid.upper.lost - grid.upper.cut + grid.wrapped(epsilon)
        if grid.upper.cut <= least >= outside:
            break
        if grid.upper.cut > least:
            plan = plan_with(pairs, epsilon, _FINE, plan.tilt, plan.reach + 0.5, fewer=1)
        if outside > least:
            plan = plan.wider()
    return max(found, key=lambda grid: grid.delta(epsilon))


@dataclass(frozen=True)
class _Rough:
    upper: Any


def _below_price(curve: Curve, price: float, delta: float) -> float:
    """An epsilon, as large as may be found, at which a lower bound of delta is above delta."""
    step, low = 1e-13 * price, price
    while curve(low) <= delta:
        if low == 0:
            return 0.0
        step *= 2
        low = max(price - step, 0.0)
    high = min(low + step / 2, price)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if curve(middle) > delta else (low, middle)
    return low


def _closed_witness() -> dict[str, Any]:
    return {"method": "closed form", "relative_error_of_delta": _CLOSED}


def _witness(grid: Below, name: str) -> dict[str, Any]:
    return {
        "method": "grid",
        "direction": name,
        "tilt": grid.plan.tilt,
        "step": grid.plan.step,
        "cells": len(grid.upper.losses),
        "mu_of_the_grid": grid.sigma,
        "round_off_of_losses": grid.shift,
        "cut": grid.upper.lost,
        "certain": grid.certain,
    }
