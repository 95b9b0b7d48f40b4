"""Privacy loss distributions: the tightest price of sampled Gaussian steps fixed beforehand.

Every step is replaced by a dominating pair (`_pld_pairs`), put on a grid that dominates it, and the
losses of all steps are added by one tilted Fourier transform (`_pld_compose`). Under add/remove
the two directions are composed apart, since a record that is always removed and one that is always
added are different pairs, and the larger result counts.

Delta at many epsilons, where one composition of loss distributions speaks for several.

A tail is a bound at every epsilon of its window, tight near the one that it was planned for. So one is composed
where the last one's tight range ends, and each epsilon is given the least that any of them says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..exceptions import NotSupported
from ._compose import exact_mu, reduced
from ._costs import inverse_up
from ._discrete import outcomes
from ._gaussian import gaussian_delta, gaussian_epsilon
from ._moved import parts
from ._pld_allocation import AllocatedPair, of_adding, of_removing
from ._pld_compose import Tail, compose
from ._pld_curve_pairs import (
    BestOfPair,
    BundleAddPair,
    BundleRemovePair,
    BundleReplacePair,
    OutcomesPair,
)
from ._pld_other_pairs import (
    FAINTEST_RANGED,
    LARGEST_RANGE,
    SMALLEST_RANGE,
    AtomPair,
    LaplaceAddPair,
    LaplacePair,
    LaplaceRemovePair,
    LaplaceReplacePair,
    ListedPair,
    PurePair,
    SwapPair,
    range_pairs,
)
from ._pld_pairs import AddPair, GaussianPair, MovedPair, RemovePair, ReplacePair
from ._pld_plan import Counted, Pair, Plan, finer, guess_epsilon, plan_for_epsilon, plan_with
from ._sampled_pure import atoms
from .events import (
    BestOf,
    BoundedRange,
    DiscreteGaussian,
    DiscreteLaplace,
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
    RandomizedResponse,
    Script,
    WithoutReplacementGaussian,
    WorstPair,
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
    "profile",
    "supports",
    "tails_at",
]


ACCURACY = 1e-5  # relative error of epsilon that the grid is allowed
_COARSE = 2e-3
_BLUR = 0.01  # relative error of delta that the grid is allowed
_ROUNDS = 6
_STEEPER = 16.0
_SHARE = 1e-5  # of delta, that what is cut or lies above the window may add
_COARSER = 1e-2  # how well an epsilon is known before the fine grid is taken
_NEAR = 1e-9  # how well, in relative terms, delta at an epsilon is the delta that it was found for
_FAINTEST = 1e-285
_ROUND_OFF = 1e-15
_LEAST_SHIFT, _LEAST_RATE = 1e-5, 1e-7  # of bundles, which are priced as if they had these
_LEAST_NOISE, _MOST_EPSILON = 1e-2, 200.0  # of bundles that have a finite price


def _symmetric(pair: Pair) -> tuple[Pair, Pair]:
    return pair, pair


def _poisson(event: PoissonGaussian, neighbors: str) -> tuple[Pair, Pair]:
    shift, rate = 1 / event.multiplier, event.rate
    if neighbors == "replace_one":
        return _symmetric(ReplacePair(shift, rate))
    return RemovePair(shift, rate), AddPair(shift, rate)


def _poisson_laplace(event: PoissonLaplace, neighbors: str) -> tuple[Pair, Pair]:
    shift, rate = inverse_up(event.multiplier), event.rate
    if neighbors == "replace_one":
        return _symmetric(LaplaceReplacePair(shift, rate))
    return LaplaceRemovePair(shift, rate), LaplaceAddPair(shift, rate)


def _poisson_pure(event: PoissonPure, neighbors: str) -> tuple[Pair, Pair]:
    removing, adding = atoms(event, neighbors)
    return AtomPair(removing), AtomPair(adding)


def _bundle(event: PoissonBundle, neighbors: str) -> tuple[Pair, Pair]:
    shift = max(1 / event.multiplier, _LEAST_SHIFT)  # less noise and larger samples only cost more
    rate = max(event.rate, _LEAST_RATE)
    epsilons = tuple(e for e in event.epsilons if e > 0)
    if neighbors == "replace_one":
        return _symmetric(BundleReplacePair(shift, rate, epsilons))
    return BundleRemovePair(shift, rate, epsilons), BundleAddPair(shift, rate, epsilons)


def _moved(event: MixtureOfGaussians, neighbors: str) -> tuple[Pair, Pair]:
    most, moves, up, down = parts(event, neighbors)
    removing, adding = (
        MovedPair(most / event.multiplier, moves, *sides) for sides in ((up, down), (down, up))
    )
    return removing, adding


def _allocated(event: RandomAllocation, neighbors: str) -> tuple[Pair, Pair]:
    if neighbors == "replace_one":
        return _symmetric(AllocatedPair(event.multiplier, event.batches))
    sides = (of(event.multiplier, event.batches) for of in (of_removing, of_adding))
    removing, adding = (ListedPair(side) for side in sides)
    return removing, adding


def _listed(event: Any, neighbors: str) -> tuple[Pair, Pair]:
    sides = outcomes(event, neighbors)
    if neighbors == "replace_one" and sides[0] is not sides[1]:
        return _symmetric(OutcomesPair(sides))
    return ListedPair(sides[0]), ListedPair(sides[1])


# one entry per event that a reduced script may hold: the pairs of removing and of adding a record
_PAIRS: dict[type[Event], Callable[[Any, str], tuple[Pair, Pair]]] = {
    BestOf: lambda event, neighbors: _symmetric(BestOfPair(event, neighbors)),
    DiscreteGaussian: _listed,
    DiscreteLaplace: _listed,
    RandomizedResponse: _listed,
    WorstPair: _listed,
    Gaussian: lambda event, _: _symmetric(GaussianPair(1 / event.multiplier)),
    Laplace: lambda event, _: _symmetric(LaplacePair(inverse_up(event.multiplier))),
    MixtureOfGaussians: _moved,
    PureDP: lambda event, _: _symmetric(PurePair(event.epsilon)),
    PoissonBundle: _bundle,
    PoissonGaussian: _poisson,
    PoissonLaplace: _poisson_laplace,
    PoissonPure: _poisson_pure,
    RandomAllocation: _allocated,
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
    if isinstance(event, BoundedRange):
        return SMALLEST_RANGE <= event.epsilon <= LARGEST_RANGE
    if isinstance(event, WithoutReplacementGaussian):
        return neighbors == "replace_one"
    return type(event) in _PAIRS and getattr(event, "enumerable", True)


def _noise(event: Any) -> float:
    if isinstance(event, BestOf):
        return 1.0  # some: its curve knows how much
    if isinstance(event, PoissonBundle):  # beyond, nothing is promised
        told = event.multiplier < _LEAST_NOISE or math.fsum(event.epsilons) > _MOST_EPSILON
        return 0.0 if told else event.multiplier
    if hasattr(event, "noise"):
        return float(event.noise)
    if isinstance(event, (BoundedRange, PoissonPure, PureDP)):
        return 1 / event.epsilon
    return float(event.multiplier)


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
    pairs: list[tuple[tuple[Pair, Pair], int]] = []
    for event, count in counts.items():
        if isinstance(event, BoundedRange):  # all of them together
            pairs += [(_symmetric(pair), k) for pair, k in range_pairs(event.epsilon, count)]
        else:
            pairs.append((_PAIRS[type(event)](event, neighbors), count))
    removing, adding = (tuple((pair[i], count) for pair, count in pairs) for i in (0, 1))
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
    """Least epsilon of one direction at which `_delta_of` says delta, or just below it."""
    most = largest_loss(pairs)
    if delta < _FAINTEST and math.isinf(most):
        return math.inf  # tails are cut above that
    at, proved = min(guess_epsilon(pairs, delta), most), most
    for fine in sorted({accuracy, max(accuracy, _COARSE)}, reverse=True):
        near = _NEAR if fine == accuracy else _COARSER
        for _ in range(_ROUNDS):
            tails = tuple(tails_at(pairs, at, fine))
            if fine == accuracy and abs(min(tail.delta(at) for tail in tails) / delta - 1) <= near:
                proved = at
                break
            last, at = at, max(min(tail.epsilon(delta) for tail in tails), 0.0)
            if math.isinf(at):  # the window is too low to tell
                at = min(2 * last + 1e-3, most)
                continue
            at = proved = min(at, most)
            if abs(at - last) <= near * at * (fine > accuracy):
                break
        if math.isinf(proved):
            break  # no coarse grid tells anything, so no fine one will
    return _private_side(pairs, proved, delta, accuracy, most)


def _private_side(
    pairs: Counted, epsilon: float, delta: float, accuracy: float, most: float
) -> float:
    """Step up from an epsilon until `_delta_of` says no more than delta."""
    step = 1e-13 * (epsilon or 1.0)
    while epsilon < most and _delta_of(pairs, epsilon, accuracy) > delta:
        epsilon, step = min(epsilon + step, most), 8 * step
    return epsilon


def _delta_of(pairs: Counted, epsilon: float, accuracy: float) -> float:
    if epsilon >= largest_loss(pairs):
        return 0.0
    return min(1.0, *(tail.delta(epsilon) for tail in tails_at(pairs, epsilon, accuracy)))


_planned = lru_cache(maxsize=16)(plan_for_epsilon)


@lru_cache(maxsize=4)
def _composed(pairs: Counted, plan: Plan) -> Tail:
    return compose(pairs, plan)


def tails_at(pairs: Counted, epsilon: float, accuracy: float) -> Iterator[Tail]:
    """Upper tails of one direction, each valid at every epsilon, until one is tight at this one."""
    plan, best = _planned(pairs, epsilon, accuracy), 1.0
    for _ in range(_ROUNDS):
        blur = plan.excess(pairs) * plan.tilt  # what the grid adds to the log of delta
        if blur > _BLUR:
            plan = plan_with(pairs, epsilon, accuracy * _BLUR / blur, plan.tilt, plan.reach)
        tail = _composed(pairs, plan)
        yield tail
        last, best = best, min(best, tail.delta(epsilon))
        if best == last < 1 or (
            best == 1 and plan.excess(pairs) > epsilon * (plan.tilt + 1) / 8 > 0
        ):
            break  # nothing was gained, or nothing will be: whatever the tilt, no such grid is fine enough
        if tail.lost > best / 2 or plan.excess(pairs) * plan.tilt >= 1:
            plan = _planned(pairs, epsilon, accuracy, plan.tilt / 30)  # near the largest loss
        elif tail.cut > _SHARE * best:
            further = math.hypot(plan.reach, math.sqrt(2 * math.log(tail.cut / (_SHARE * best))))
            plan = plan_with(pairs, epsilon, accuracy, plan.tilt, math.ceil(4 * further + 1) / 4)
        elif tail.lost > _SHARE * best:
            plan = plan.wider()
        else:
            steeper = min(tail.slope(epsilon) / plan.tilt, _STEEPER)
            if steeper > 1.5:  # delta falls faster than the tilt says, and the grid blurs it more
                yield _composed(pairs, finer(pairs, plan, 2.0 ** math.ceil(math.log2(steeper))))
            break


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


def _levels(accuracy: float) -> list[float]:
    """Accuracies down to the one asked: the best of them counts, so that a finer one is never worse."""
    decades = max(math.ceil(math.log10(ACCURACY / accuracy) - 1e-9), 0)
    return [max(ACCURACY, accuracy) / 10**k for k in range(decades + 1)]


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
        Relative error that the grid may cause; smaller is slower, by about its square root, and never gives more.
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
    ranged = any(isinstance(event, BoundedRange) for event in counts)
    if delta == 0 or (ranged and delta < FAINTEST_RANGED):
        return max(largest_loss(pairs) for pairs in directions)
    with np.errstate(under="ignore"):  # where a program has made it fatal: tails are bounded anyway
        return min(_larger(_epsilon_of, directions, delta, fine) for fine in _levels(accuracy))


def delta(script: Script, epsilon: float, neighbors: str, *, accuracy: float = ACCURACY) -> float:
    """Delta of a script fixed beforehand at any real epsilon, never below the truth.

    The accuracy is that of `epsilon`: delta is at most the true one at epsilon * (1 - accuracy). At the epsilon that
    `epsilon` finds for a delta, it is that delta to 1e-9 and no more; less only where two grids meet.
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
    directions = directions_of(counts, neighbors)
    with np.errstate(under="ignore"):
        return min(_larger(_delta_of, directions, epsilon, fine) for fine in _levels(accuracy))


Array = NDArray[np.float64]

_NEAR_THE_TRUTH = (
    0.3  # of a tail's window below the epsilon that it was planned for, where it is tight too
)


def profile(
    script: Script, epsilons: Array, neighbors: str, *, accuracy: float = ACCURACY
) -> Array:
    """Delta at each epsilon, never below the truth.

    Parameters
    ----------
    script : tuple of (Event, int)
        The run-length coded events.
    epsilons : ndarray
        Rising, from 0 on.
    neighbors : {"replace_one", "add_remove"}
        The relation.
    accuracy : float
        As in `skdp.privacy._pld.delta`, at some of the epsilons, and about as good between them.
    """
    counts = live(script, neighbors)
    if not composed(counts):
        return np.array([delta(script, float(e), neighbors) for e in epsilons])
    worst = np.zeros(len(epsilons))
    for pairs in directions_of(counts, neighbors):
        open_ = _unsettled(pairs, epsilons, worst)
        worst[open_] = np.maximum(worst[open_], _of(pairs, epsilons[open_], accuracy))
    return worst


def _unsettled(pairs: Counted, epsilons: Array, worst: Array) -> Any:
    """Return a mask of the epsilons at which a direction may be worse than the delta known so far."""
    bounded, mu = parted(pairs)
    if mu is None:
        return np.ones(len(epsilons), bool)
    known = zip(epsilons, worst)
    return np.array([delta_at_most(bounded, mu, float(e)) > least for e, least in known])


def _of(pairs: Counted, epsilons: Array, accuracy: float) -> Array:
    """Delta of one direction at rising epsilons."""
    least = np.where(epsilons < largest_loss(pairs), 1.0, 0.0)
    refused, settled = None, math.inf
    for epsilon in epsilons[least > 0][::-1]:
        if epsilon > settled:
            continue
        try:
            for tail in tails_at(pairs, float(epsilon), accuracy):
                np.minimum(least, [tail.delta(float(e)) for e in epsilons], out=least)
                if len(tail.losses):
                    settled = float(epsilon - _NEAR_THE_TRUTH * (epsilon - tail.losses[0]))
        except NotSupported as error:  # no grid for this epsilon, but maybe for others
            refused = error
    if refused is not None and (least == 1.0).all():
        raise refused
    return least
