"""Dominating pairs of an epoch of random allocation: removing a record, adding one, and replacing one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ._allocation import Ratios, ratios
from ._allocation_replaced import replaced_delta
from ._discrete import Outcomes
from ._gaussian import gaussian_delta
from ._pld_curve_pairs import CurvePair, OutcomesPair
from ._pld_lattice import Array

__all__ = ["AllocatedPair", "allocated_delta", "of_adding", "of_removing"]

_UNIT = 4e-15  # relative: covers the rounding of M
_RAREST = 1e-25
_LOOKS = 500
_MOST_NOISE = 1e3  # beyond, two steps are as good
_FAR, _FURTHEST = (
    16.0,
    300.0,
)  # losses that are rarely asked for, and whose exponentials are large doubles
_CELL, _COARSE_CELL = 6e-3, 3e-2
_KNOTS, _FALLS, _FAINT = 64, 256, 1e-15


def _rounding(found: Ratios) -> Array:
    return np.asarray(_UNIT * np.abs(found.above_one) / (1.0 + found.above_one))


@lru_cache(maxsize=8)
def of_removing(multiplier: float, batches: int) -> Outcomes:
    """Losses log M, of mass M times that without the record."""
    found = ratios(multiplier, batches)
    seen = found.above_one > -1.0
    found = Ratios(found.above_one[seen], found.masses[seen], found.lost_with, 0.0)
    losses = np.log1p(found.above_one) + _rounding(found)
    masses = found.masses * (1.0 + found.above_one) * (1.0 + _UNIT)
    return Outcomes(losses, masses, found.lost_with)


@lru_cache(maxsize=8)
def of_adding(multiplier: float, batches: int) -> Outcomes:
    """Losses -log M, of the mass without the record; M = 0 tells that it is not there."""
    found = ratios(multiplier, batches)
    seen = found.above_one > -1.0
    never = found.lost_without + float(found.masses[~seen].sum())
    found = Ratios(found.above_one[seen][::-1], found.masses[seen][::-1], 0.0, never)
    return Outcomes(-np.log1p(found.above_one) + _rounding(found), found.masses, never)


def allocated_delta(multiplier: float, batches: int, epsilon: float, neighbors: str) -> float:
    """Delta of one epoch at any real epsilon, never below the truth."""
    at = np.array([epsilon])
    sides = (of(multiplier, batches) for of in (of_removing, of_adding))
    if neighbors == "add_remove":
        return min(max(float(OutcomesPair.of(side, at)[0]) for side in sides), 1.0)
    if epsilon < 0:  # both directions are one
        mirrored = allocated_delta(multiplier, batches, -epsilon, neighbors)
        return -math.expm1(epsilon) + math.exp(epsilon) * mirrored
    if (
        epsilon > _FAR
    ):  # rounding grows with e^epsilon, and delta falls with it: what holds below holds here
        at = np.array([0.5, 0.75, 1.0]) * epsilon
    return float(_replaced(multiplier, batches, at, _CELL).min())


def _replaced(multiplier: float, batches: int, losses: Array, cell: float) -> Array:
    """Deltas of replacing a record: of the exact pair, or of two steps where that is less."""
    bounds = _in_two_steps(multiplier, batches, losses)
    if multiplier > _MOST_NOISE:
        return bounds
    least = np.maximum(OutcomesPair.of(of_removing(multiplier, batches), losses), _RAREST)
    for i, loss in enumerate(losses.tolist()):
        if loss < _FURTHEST and bounds[i] > _RAREST:
            found = replaced_delta(multiplier, batches, loss, float(least[i]), cell)
            bounds[i] = min(bounds[i], found)
    return bounds


def _in_two_steps(multiplier: float, batches: int, losses: Array) -> Array:
    """A bound by removing the one record and adding the other, or by a batch that all know.

    For every x, delta(t) <= H(x; removing) + e^x H(t - x; adding). The best x is where both thresholds are passed
    equally often without either record.
    """
    losses = np.minimum(losses, _FURTHEST)
    x = np.interp(losses, *_thresholds(multiplier, batches))
    removing = OutcomesPair.of(of_removing(multiplier, batches), x)
    adding = OutcomesPair.of(of_adding(multiplier, batches), losses - x)
    both = (removing + np.exp(x) * adding) * (1.0 + 16 * _UNIT)
    known = gaussian_delta(losses, 2.0 / multiplier) * (1.0 + 1e-9)
    return np.asarray(np.minimum(both, known))


@dataclass(frozen=True)
class AllocatedPair(CurvePair):
    """An epoch of random allocation under replace-one, by chords of its profile."""

    multiplier: float
    batches: int

    def profile(self, losses: Array) -> Array:
        """Chords between some epsilons, or the bound of two steps where that is less."""
        at, deltas = _chords(self.multiplier, self.batches)
        near = np.minimum(losses, at[-1])
        chords = np.interp(np.expm1(near), np.expm1(at), deltas) * (1.0 + 1e-12)
        return np.minimum(chords, _in_two_steps(self.multiplier, self.batches, losses))


@lru_cache(maxsize=8)
def _chords(multiplier: float, batches: int) -> tuple[Array, Array]:
    """Epsilons and their deltas, dense where delta falls fast."""
    last = 1e-3 / multiplier
    while last < _FURTHEST and _in_two_steps(multiplier, batches, np.array([last]))[0] > _FAINT:
        last *= 1.25
    even = np.linspace(0.0, last, 40 * _KNOTS)
    fall = -np.log(np.maximum(_in_two_steps(multiplier, batches, even), _FAINT))
    steps = np.linspace(fall[0], fall[-1], _FALLS)
    fast = np.interp(steps, np.maximum.accumulate(fall), even)
    at = np.union1d(even[::40], np.append(fast, last))
    return at, np.minimum.accumulate(_replaced(multiplier, batches, at, _COARSE_CELL))


@lru_cache(maxsize=8)
def _thresholds(multiplier: float, batches: int) -> tuple[Array, Array]:
    """Sums of two losses that are passed equally often without either record, and the first of the two."""
    found = ratios(multiplier, batches)
    seen = found.above_one > -1.0
    at, masses = np.log1p(found.above_one[seen]), found.masses[seen]
    below, above = np.log(np.cumsum(masses)), np.log(np.cumsum(masses[::-1])[::-1])
    shares = np.linspace(math.log(0.5), math.log(_RAREST), _LOOKS)
    first = np.interp(-shares, -above, at)
    second = np.interp(shares, below, at)
    both = np.maximum.accumulate(first - second)
    return both, first
