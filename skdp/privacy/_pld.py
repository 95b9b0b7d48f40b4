"""Privacy loss distributions: the tightest price of sampled Gaussian steps fixed beforehand.

Every step is replaced by a dominating pair (`_pld_pairs`), put on a grid that dominates it, and the
losses of all steps are added by one tilted Fourier transform (`_pld_compose`). Under add/remove
the two directions are composed apart, since a record that is always removed and one that is always
added are different pairs, and the larger result counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from ..exceptions import NotSupported
from ._compose import exact_mu, reduced
from ._costs import inverse_up
from ._gaussian import gaussian_delta, gaussian_epsilon
from ._pld_compose import compose
from ._pld_lattice import Pair
from ._pld_other_pairs import LaplacePair, PurePair, SwapPair
from ._pld_pairs import AddPair, GaussianPair, RemovePair, ReplacePair
from ._pld_plan import Counted, plan_for_delta, plan_for_epsilon
from .events import (
    Event,
    Gaussian,
    Laplace,
    PoissonGaussian,
    PureDP,
    Script,
    WithoutReplacementGaussian,
)
from .spec import Spec, check_neighbors

__all__ = ["calibrate_scale", "delta", "epsilon", "profile", "supports"]

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


# one entry per event that a reduced script may hold: the pairs of removing and of adding a record
_PAIRS: dict[type[Event], Callable[[Any, str], tuple[Pair, Pair]]] = {
    Gaussian: lambda event, _: _symmetric(GaussianPair(1 / event.multiplier)),
    Laplace: lambda event, _: _symmetric(LaplacePair(inverse_up(event.multiplier))),
    PureDP: lambda event, _: _symmetric(PurePair(event.epsilon)),
    PoissonGaussian: _poisson,
    WithoutReplacementGaussian: lambda event, _: _symmetric(
        SwapPair(2 / event.multiplier, event.rate)
    ),
}


def supports(event: Event, neighbors: str) -> bool:
    """Whether the event has a dominating pair here under this relation."""
    check_neighbors(neighbors)
    plain = reduced(((event, 1),), neighbors)
    return all(_known(e, neighbors) for e in plain)


def _known(event: Event, neighbors: str) -> bool:
    if isinstance(event, WithoutReplacementGaussian):
        return neighbors == "replace_one"
    return type(event) in _PAIRS


def _noise(event: Any) -> float:
    return 1 / event.epsilon if isinstance(event, PureDP) else float(event.multiplier)


def _live(script: Script, neighbors: str) -> dict[Event, int]:
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


def _directions(counts: dict[Event, int], neighbors: str) -> list[Counted]:
    pairs = [(_PAIRS[type(event)](event, neighbors), count) for event, count in counts.items()]
    removing = [(pair[0], count) for pair, count in pairs]
    adding = [(pair[1], count) for pair, count in pairs]
    return [removing] if removing == adding else [removing, adding]


def _largest_loss(pairs: Counted) -> float:
    """Sum of the largest losses, rounded up: at and above it delta is zero."""
    return math.fsum(count * pair.largest_loss for pair, count in pairs) * (1 + _ROUND_OFF)


def _epsilon_of(pairs: Counted, delta: float, accuracy: float) -> float:
    """Epsilon of one direction, on a grid refined until it adds no more than the accuracy."""
    steps, best = sum(count for _, count in pairs), _largest_loss(pairs)
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
    if epsilon >= _largest_loss(pairs):
        return 0.0
    steps = sum(count for _, count in pairs)
    plan, best = plan_for_epsilon(pairs, epsilon, accuracy), 1.0
    for _ in range(_ROUNDS):
        blur = plan.excess(steps) * plan.tilt  # what the grid adds to the log of delta
        if blur > _BLUR:
            plan = plan_for_epsilon(pairs, epsilon, accuracy * _BLUR / blur, plan.tilt)
        tail = compose(pairs, plan)
        best = min(best, tail.delta(epsilon))
        if tail.lost <= _BLUR * best and plan.excess(steps) * plan.tilt < 1:
            break  # else so near the largest loss that the grid needs a smaller tilt
        plan = plan_for_epsilon(pairs, epsilon, accuracy, plan.tilt / 30)
    return best


def _larger(
    price: Callable[[Counted, float, float], float],
    directions: list[Counted],
    at: float,
    accuracy: float,
) -> float:
    """Larger price of the directions; a later one is refined only if it may be the larger."""
    worst = price(directions[0], at, accuracy)
    for pairs in directions[1:]:
        if _largest_loss(pairs) <= (worst if price is _epsilon_of else at):
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
    counts = _live(script, neighbors)
    if not counts:
        return 0.0
    mu = exact_mu(counts)
    if mu is not None:
        return gaussian_epsilon(mu, delta)
    if any(_noise(event) == 0 for event in counts):
        return math.inf
    directions = _directions(counts, neighbors)
    if delta == 0:
        return max(_largest_loss(pairs) for pairs in directions)
    return _larger(_epsilon_of, directions, delta, accuracy)


def delta(script: Script, epsilon: float, neighbors: str, *, accuracy: float = ACCURACY) -> float:
    """Delta of a script fixed beforehand at any real epsilon, never below the truth.

    The accuracy is that of `epsilon`: delta is at most the true one at epsilon * (1 - accuracy).
    """
    if epsilon < 0:  # H(-e) = 1 - e^-e + e^-e H(e), with P and Q exchanged
        mirrored = delta(script, -epsilon, neighbors, accuracy=accuracy)
        return -math.expm1(epsilon) + math.exp(epsilon) * mirrored
    counts = _live(script, neighbors)
    if not counts:
        return 0.0
    mu = exact_mu(counts)
    if mu is not None:
        return float(gaussian_delta(epsilon, mu))
    if any(_noise(event) == 0 for event in counts):
        return 1.0
    if math.isinf(epsilon):
        return 0.0
    return _larger(_delta_of, _directions(counts, neighbors), epsilon, accuracy)


def profile(script: Script, epsilons: ArrayLike, neighbors: str) -> NDArray[np.float64]:
    """Delta at every epsilon of an array."""
    points = np.asarray(epsilons, float)
    return np.array([delta(script, float(e), neighbors) for e in points.ravel()]).reshape(
        points.shape
    )


def _scaled(script: Script, log_scale: float) -> Script:
    """Multiply the noise of the events that have a scale; the others keep their cost."""
    factor = math.exp(log_scale)
    return tuple((e.scaled(factor) if e.scalable else e, count) for e, count in script)


def calibrate_scale(script_at_unit: Script, spec: Spec, *, accuracy: float = ACCURACY) -> float:
    """Smallest factor on the noise of a script at which it keeps the promise, never too small.

    Parameters
    ----------
    script_at_unit : tuple of (Event, int)
        The script at scale 1; events that cannot be scaled keep their cost.
    spec : Spec
        The promise.
    accuracy : float
        As in `epsilon`.
    """
    if math.isinf(spec.epsilon):
        return 0.0

    def excess(log_scale: float, accuracy: float) -> float:
        script = _scaled(script_at_unit, log_scale)
        spent = epsilon(script, spec.delta, spec.neighbors, accuracy=accuracy)
        return math.log(max(spent, 1e-300) / spec.epsilon)

    low, high = _bracket(lambda x: excess(x, _COARSE), spec)
    rough = brentq(excess, low, high, args=(_COARSE,), xtol=1e-4, rtol=1e-12)
    low, high = _bracket(lambda x: excess(x, accuracy), spec, rough, 1e-3)
    root = brentq(excess, low, high, args=(accuracy,), xtol=1e-7, rtol=1e-12)
    while excess(root, accuracy) > 0:
        root += 1e-7
    return math.exp(root)


def _bracket(
    excess: Callable[[float], float], spec: Spec, start: float = 0.0, width: float = 0.5
) -> tuple[float, float]:
    """Two log scales between which the promise starts to hold, found by doubling steps."""
    low = high = start
    sign = 1.0 if excess(start) > 0 else -1.0
    while abs(low) < 80 and abs(high) < 80:
        if sign > 0:
            low, high = high, high + width
        else:
            low, high = low - width, low
        if (excess(high if sign > 0 else low) > 0) != (sign > 0):
            return low, high
        width *= 2
    raise ValueError(
        f"No noise keeps epsilon={spec.epsilon!r} at delta={spec.delta!r} for this script; raise "
        "delta above 0, or lower the cost of the events whose noise cannot be scaled."
    )
