"""Privacy loss distributions: the tightest price of sampled Gaussian steps fixed beforehand.

Every step is replaced by a dominating pair (`_pld_pairs`), put on a grid that dominates it, and the
losses of all steps are added by one tilted Fourier transform (`_pld_compose`). Under add/remove
the two directions are composed apart, since a record that is always removed and one that is always
added are different pairs, and the larger result counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..exceptions import NotSupported
from ._compose import exact_mu, reduced
from ._costs import inverse_up
from ._gaussian import gaussian_delta, gaussian_epsilon
from ._pld_compose import Tail, compose
from ._pld_lattice import Pair
from ._pld_other_pairs import AtomPair, LaplacePair, PurePair, SwapPair
from ._pld_pairs import AddPair, GaussianPair, RemovePair, ReplacePair
from ._pld_plan import Counted, plan_for_delta, plan_for_epsilon
from ._sampled_pure import atoms
from .events import (
    Event,
    Gaussian,
    Laplace,
    PoissonGaussian,
    PoissonPure,
    PureDP,
    Script,
    WithoutReplacementGaussian,
)
from .spec import check_neighbors

__all__ = [
    "composed",
    "delta",
    "delta_at_most",
    "directions_of",
    "epsilon",
    "largest_loss",
    "live",
    "parted",
    "supports",
    "tails_at",
]

ACCURACY = 2e-5  # relative error of epsilon that the grid is allowed
_COARSE = 2e-3
_BLUR = 0.01  # relative error of delta that the grid is allowed
_ROUNDS = 6
_FAINTEST = 1e-285
_ROUND_OFF = 1e-15


def _symmetric(pair: Pair) -> tuple[Pair, Pair]:
    return pair, pair


def _poisson(event: PoissonGaussian, neighbors: str) -> tuple[Pair, Pair]:
    shift, rate = 1 / event.multiplier, event.rate
    if neighbors == "replace_one":
        return _symmetric(ReplacePair(shift, rate))
    return RemovePair(shift, rate), AddPair(shift, rate)


def _poisson_pure(event: PoissonPure, neighbors: str) -> tuple[Pair, Pair]:
    removing, adding = atoms(event, neighbors)
    return AtomPair(removing), AtomPair(adding)


# one entry per event that a reduced script may hold: the pairs of removing and of adding a record
_PAIRS: dict[type[Event], Callable[[Any, str], tuple[Pair, Pair]]] = {
    Gaussian: lambda event, _: _symmetric(GaussianPair(1 / event.multiplier)),
    Laplace: lambda event, _: _symmetric(LaplacePair(inverse_up(event.multiplier))),
    PureDP: lambda event, _: _symmetric(PurePair(event.epsilon)),
    PoissonGaussian: _poisson,
    PoissonPure: _poisson_pure,
    WithoutReplacementGaussian: lambda event, _: _symmetric(
        SwapPair(2 / event.multiplier, event.rate)
    ),
}


def supports(event: Event, neighbors: str) -> bool:
    """Return whether the event has a dominating pair here under this relation."""
    check_neighbors(neighbors)
    plain = reduced(((event, 1),), neighbors)
    return all(_known(e, neighbors) for e in plain)


def _known(event: Event, neighbors: str) -> bool:
    if isinstance(event, WithoutReplacementGaussian):
        return neighbors == "replace_one"
    return type(event) in _PAIRS


def _noise(event: Any) -> float:
    return (
        1 / event.epsilon if isinstance(event, (PureDP, PoissonPure)) else float(event.multiplier)
    )


def live(script: Script, neighbors: str) -> dict[Event, int]:
    """Reduced script without the steps that cost nothing; refuses what has no pair."""
    counts = reduced(script, check_neighbors(neighbors))
    for event in counts:
        if not _known(event, neighbors):
            raise NotSupported(
                f"{type(event).__name__} has no privacy loss distribution under {neighbors}; "
                "use accountant='rdp' or 'auto'."
            )
    return {
        event: count
        for event, count in counts.items()
        if not math.isinf(_noise(event)) and getattr(event, "rate", 1.0) > 0
    }


def composed(counts: dict[Event, int]) -> bool:
    """Return whether losses must be convolved: there are some, all finite, and not all Gaussian."""
    return bool(counts) and exact_mu(counts) is None and all(_noise(event) > 0 for event in counts)


def directions_of(counts: dict[Event, int], neighbors: str) -> list[Counted]:
    """The pairs of all steps by direction: removing a record, and adding one where that differs."""
    pairs = [(_PAIRS[type(event)](event, neighbors), count) for event, count in counts.items()]
    removing = [(pair[0], count) for pair, count in pairs]
    adding = [(pair[1], count) for pair, count in pairs]
    return [removing] if removing == adding else [removing, adding]


def largest_loss(pairs: Counted) -> float:
    """Sum of the largest losses, rounded up: at and above it delta is zero."""
    return math.fsum(count * pair.largest_loss for pair, count in pairs) * (1 + _ROUND_OFF)


def parted(pairs: Counted) -> tuple[float, float | None]:
    """The largest loss of the pairs that have one and mu of the others, rounded up; None if not all Gaussian."""
    bounded = [(pair, count) for pair, count in pairs if not math.isinf(pair.largest_loss)]
    gaussian = [(pair, count) for pair, count in pairs if isinstance(pair, GaussianPair)]
    if len(bounded) + len(gaussian) < len(pairs):
        return math.inf, None
    square = math.fsum(count * pair.shift**2 for pair, count in gaussian)
    return largest_loss(bounded), math.sqrt(square) * (1 + _ROUND_OFF)


# If P <= e^b Q for one pair, then P x P'(S) <= E_P[e^(eps - b) Q'(S_x)] + H' <= e^eps Q x Q'(S) + H',
# H' being the profile of the other pair at eps - b: what is bounded only moves epsilon.
def delta_at_most(bounded: float, mu: float, epsilon: float) -> float:
    """A bound by `parted` alone."""
    left = gaussian_delta(epsilon - bounded, mu) if mu else epsilon < bounded
    return min(float(left) * (1 + 1e-9), 1.0)


def _epsilon_at_most(bounded: float, mu: float, delta: float) -> float:
    return bounded + gaussian_epsilon(mu, delta) if mu else bounded


def _epsilon_of(pairs: Counted, delta: float, accuracy: float) -> float:
    """Epsilon of one direction, on a grid refined until it adds no more than the accuracy."""
    steps, best = sum(count for _, count in pairs), largest_loss(pairs)
    if delta < _FAINTEST and math.isinf(best):
        return math.inf  # tails are cut above that
    plan = plan_for_delta(pairs, delta, accuracy)
    for attempt in range(_ROUNDS):
        tail = compose(pairs, plan)
        found = tail.epsilon(delta)
        if math.isinf(found):  # the quadrature misjudged the upper tail, or the tilt is too steep
            gentler = plan_for_delta(pairs, delta, accuracy, plan.tilt / 10)
            plan = plan.wider() if attempt < 2 else gentler
            continue
        best = min(best, max(found, 0.0))
        if found == tail.losses[0] and best > 0:  # met all over the window: look below it
            plan = plan_for_epsilon(pairs, best, accuracy).deeper()
            continue
        if plan.excess(steps) <= 4 * accuracy * best or best == 0:
            break
        finer = plan_for_epsilon(pairs, best, accuracy)
        if finer.excess(steps) > 0.7 * plan.excess(steps):
            break  # no finer grid fits
        plan = finer
    return best


def _delta_of(pairs: Counted, epsilon: float, accuracy: float) -> float:
    if epsilon >= largest_loss(pairs):
        return 0.0
    return min(1.0, *(tail.delta(epsilon) for tail in tails_at(pairs, epsilon, accuracy)))


def tails_at(pairs: Counted, epsilon: float, accuracy: float) -> Iterator[Tail]:
    """Upper tails of one direction, each valid at every epsilon, until one is tight at this one."""
    steps = sum(count for _, count in pairs)
    plan, best = plan_for_epsilon(pairs, epsilon, accuracy), 1.0
    for _ in range(_ROUNDS):
        blur = plan.excess(steps) * plan.tilt  # what the grid adds to the log of delta
        if blur > _BLUR:
            plan = plan_for_epsilon(pairs, epsilon, accuracy * _BLUR / blur, plan.tilt)
        tail = compose(pairs, plan)
        yield tail
        best = min(best, tail.delta(epsilon))
        if tail.lost <= _BLUR * best and plan.excess(steps) * plan.tilt < 1:
            break  # else so near the largest loss that the grid needs a smaller tilt
        plan = plan_for_epsilon(pairs, epsilon, accuracy, plan.tilt / 30)


def _larger(
    price: Callable[[Counted, float, float], float],
    directions: list[Counted],
    at: float,
    accuracy: float,
) -> float:
    """Larger price of the directions; a later one is refined only if it may be the larger."""
    worst = price(directions[0], at, accuracy)
    for pairs in directions[1:]:
        bounded, mu = parted(pairs)
        least = _epsilon_at_most if price is _epsilon_of else delta_at_most
        if mu is not None and least(bounded, mu, at) <= worst:
            continue
        if price(pairs, at, max(_COARSE, accuracy)) > worst:
            worst = max(worst, price(pairs, at, accuracy))
    return worst


def epsilon(script: Script, delta: float, neighbors: str, *, accuracy: float = ACCURACY) -> float:
    """Epsilon of a script fixed beforehand: never below the truth, above it by about `accuracy`.

    Parameters
    ----------
    script : tuple of (Event, int)
        The run-length coded events.
    delta : float
        In [0, 1).
    neighbors : {"replace_one", "add_remove"}
        The relation.
    accuracy : float
        Relative error that the grid may cause; smaller is slower, by about its square root.
    """
    counts = live(script, neighbors)
    if not counts:
        return 0.0
    mu = exact_mu(counts)
    if mu is not None:
        return gaussian_epsilon(mu, delta)
    if any(_noise(event) == 0 for event in counts):
        return math.inf
    directions = directions_of(counts, neighbors)
    if delta == 0:
        return max(largest_loss(pairs) for pairs in directions)
    with np.errstate(under="ignore"):  # where a program has made it fatal: tails are bounded anyway
        return _larger(_epsilon_of, directions, delta, accuracy)


def delta(script: Script, epsilon: float, neighbors: str, *, accuracy: float = ACCURACY) -> float:
    """Delta of a script fixed beforehand at any real epsilon, never below the truth.

    The accuracy is that of `epsilon`: delta is at most the true one at epsilon * (1 - accuracy).
    """
    if epsilon < 0:  # H(-e) = 1 - e^-e + e^-e H(e), with P and Q exchanged
        mirrored = delta(script, -epsilon, neighbors, accuracy=accuracy)
        return -math.expm1(epsilon) + math.exp(epsilon) * mirrored
    counts = live(script, neighbors)
    if not counts:
        return 0.0
    mu = exact_mu(counts)
    if mu is not None:
        return float(gaussian_delta(epsilon, mu))
    if any(_noise(event) == 0 for event in counts):
        return 1.0
    if math.isinf(epsilon):
        return 0.0
    with np.errstate(under="ignore"):
        return _larger(_delta_of, directions_of(counts, neighbors), epsilon, accuracy)
