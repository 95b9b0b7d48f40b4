"""Exact profiles of scripts whose losses are finitely many numbers plus one Gaussian.

A pure step is dominated by randomised response, whose loss is +epsilon or -epsilon (Kairouz, Oh and
Viswanath 2015, The composition theorem for differential privacy: this pair is attained, so composing
it is the optimal composition of pure steps). A random position is a public coin that says which
Gaussian is released. So a script of k such steps beside Gaussians is a mixture: with weight w_i the
loss is o_i plus that of a Gaussian of mu_i, and

    delta(eps) = sum_i w_i H(eps - o_i; mu_i),

with binomial weights for equal steps (proof: docs/accounting.md). A pure step on a Poisson sample
has two or three losses (`_sampled_pure`), and others where a record is added than where it is
removed: each direction is a mixture of its own, and the larger delta counts. Every term is positive
and every rounding is upwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._divisions import divisions
from ._gaussian import gaussian_delta
from ._sampled_pure import Atoms, atoms
from ._scipy import betaln, gammaln
from .events import Event, Gaussian, PoissonPure, PureDP, RandomPosition

__all__ = ["Mixture", "branches", "mixtures"]

Array = NDArray[np.float64]

_MOST, _MOST_GAUSSIAN = 2**15, 256  # branches of a cheap script, without and with a Gaussian
_ROUND_OFF = 1e-15


@dataclass(frozen=True)
class Mixture:
    """Branches of a composed loss: weight, offset, and squared mu of the Gaussian beside it."""

    weights: Array
    offsets: Array
    squares: Array

    def beside(self, other: Mixture) -> Mixture:
        """Both released: weights multiply, losses and squared mu add."""
        return Mixture(
            np.multiply.outer(self.weights, other.weights).ravel(),
            np.add.outer(self.offsets, other.offsets).ravel(),
            np.add.outer(self.squares, other.squares).ravel(),
        )

    def delta(self, epsilon: float, curve: Callable[[Any, float], Any] | None = None) -> float:
        """Delta at any real epsilon; ``curve(epsilon, mu)`` prices one more release with a Gaussian."""
        if math.isinf(self.offsets.max()):
            return 1.0
        left = epsilon - self.offsets
        if curve is not None:
            mu = float(np.sqrt(self.squares.max()))  # one Gaussian: all branches have the same
            values = curve(left, mu)
        elif self.squares.any():
            values = gaussian_delta(left, np.sqrt(self.squares))
        else:
            values = -np.expm1(np.minimum(left, 0.0))
        return min(float(self.weights @ values) * (1 + len(left) * _ROUND_OFF), 1.0)


def branches(counts: dict[Event, int], neighbors: str) -> float:
    """Count the branches that one of `mixtures` would take; infinite where an event is of another kind."""
    total = 1.0
    for event, count in counts.items():
        kinds = _kinds(event, neighbors)
        total *= math.inf if math.isinf(kinds) else math.comb(count + int(kinds) - 1, count)
    wide = any(not isinstance(event, (PureDP, PoissonPure)) for event in counts)
    return total if total <= (_MOST_GAUSSIAN if wide else _MOST) else math.inf


def _kinds(event: Event, neighbors: str) -> float:
    """Count the values that the loss of one event may take, a Gaussian's counted as one."""
    if isinstance(event, PoissonPure):
        return len(atoms(event, neighbors)[0])
    return _KINDS.get(type(event), lambda event: math.inf)(event)


_KINDS: dict[type[Event], Callable[[Any], float]] = {
    Gaussian: lambda event: 1,
    PureDP: lambda event: 2,
    RandomPosition: lambda event: len(event.weights),
}


@lru_cache(maxsize=256)
def mixtures(runs: tuple[tuple[Event, int], ...], neighbors: str) -> tuple[Mixture, ...]:
    """The mixtures of a reduced script of pure steps, sampled or not, Gaussians and random positions.

    One for each direction, removing a record and adding it, or one alone if they are the same.
    """
    sampled = any(isinstance(event, PoissonPure) for event, _ in runs)
    directions = (0, 1) if sampled and neighbors == "add_remove" else (0,)
    return tuple(_directed(runs, neighbors, direction) for direction in directions)


def _directed(runs: tuple[tuple[Event, int], ...], neighbors: str, direction: int) -> Mixture:
    whole = Mixture(np.ones(1), np.zeros(1), np.zeros(1))
    for event, count in runs:
        if isinstance(event, PoissonPure):
            part = _sampled(atoms(event, neighbors)[direction], count)
        else:
            part = _repeated(event, count)
        whole = whole.beside(part)
    return whole


def _sampled(losses: Atoms, count: int) -> Mixture:
    """``count`` steps of a few losses each, with multinomial weights."""
    ways = np.array(list(divisions(count, len(losses))), dtype=float)
    values, masses = np.array(losses).T
    logs = ways * np.log(masses)
    terms = np.column_stack([logs, -gammaln(ways + 1), np.full(len(ways), gammaln(count + 1.0))])
    round_off = _ROUND_OFF * (np.abs(terms).sum(axis=1) + 10)
    weights = np.exp(terms.sum(axis=1) + round_off)
    offsets = ways @ values + _ROUND_OFF * (ways @ np.abs(values))
    return Mixture(weights, offsets, np.zeros(len(ways)))


def _repeated(event: Any, count: int) -> Mixture:
    if isinstance(event, PureDP):
        return _responses(event.epsilon, count)
    if isinstance(event, Gaussian):
        return Mixture(np.ones(1), np.zeros(1), np.array([count * _square(event.multiplier)]))
    ways = np.array(list(divisions(count, len(event.weights))), dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(ways > 0, ways * np.log(event.weights), 0.0) - gammaln(ways + 1)
    weights = np.exp(gammaln(count + 1) + logs.sum(axis=1)) * (1 + 1e-12)
    squares = np.array([_square(m) for m in event.multipliers])
    with np.errstate(invalid="ignore"):
        taken = np.where(ways > 0, ways * squares, 0.0).sum(axis=1)
    live = weights > 0
    return Mixture(weights[live], np.zeros(int(live.sum())), taken[live])


def _responses(epsilon: float, count: int) -> Mixture:
    """``count`` randomised responses: j of them lose -epsilon, with binomial weights."""
    if math.isinf(epsilon):
        return Mixture(np.ones(1), np.array([math.inf]), np.zeros(1))
    lies = np.arange(count + 1)
    # log of the odds of a lie, and of the truth; the logs below are right to a few units of `count`.
    truth = -math.log1p(math.exp(-epsilon))
    logs = lies * (truth - epsilon) + (count - lies) * truth
    logs -= betaln(count - lies + 1.0, lies + 1.0) + math.log1p(count)
    weights = np.exp(logs) * (1 + 1e-14 * (count + 400))
    offsets = (count - 2.0 * lies) * epsilon + 2 * _ROUND_OFF * count * epsilon
    return Mixture(
        np.asarray(weights, np.float64), np.asarray(offsets, np.float64), np.zeros(count + 1)
    )


def _square(multiplier: float) -> float:
    return math.inf if multiplier == 0 else multiplier**-2
