"""One step's losses on a grid, tilted, and the Fourier transform that adds many of them.

A sum of losses is wanted where it is as rare as 1e-15, which the transform of the plain masses cannot resolve. So every
mass is first tilted by e^{tilt * loss}, with the tilt that puts the mean of the sum near the epsilon asked for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, rfft

from ..exceptions import NotSupported
from ._pld_plan import MAX_CELLS, Array, Lattice, Pair, Plan

__all__ = ["Summands", "Tilted", "add_up", "dominating", "tilted", "window"]

_UNIT = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Tilted:
    """Masses of one step times e^{tilt (loss - anchor)}, normalised, and its number of repetitions.

    Tilts reach 1e10 near the largest loss of pure steps, where the product of tilt and loss has lost
    all digits behind the point. So losses are counted in grid steps from an anchor, the heaviest
    tilted mass, and the anchors are added as integers.
    """

    weights: Array
    first: int
    count: int
    anchor: int  # grid index
    log_norm: float  # log E e^{tilt (L - anchor)}
    log_over: float  # log E e^{(tilt + rate) (L - anchor)}
    log_kept: float  # log P(L < infinity)

    @property
    def mean(self) -> float:
        """Mean loss in grid steps."""
        return self.first + float(self.weights @ np.arange(len(self.weights)))


def _exponential(logs: Array, index: Array, slope: float) -> tuple[Array, float]:
    """Masses times e^{slope index}, normalised, and the log of their sum."""
    exponents = logs + slope * index
    top = float(exponents.max())
    weights = np.exp(exponents - top)
    total = float(weights.sum())
    return weights / total, top + math.log(total)


def tilted(pair: Pair, count: int, plan: Plan) -> Tilted:
    """Masses of one step on the plan's grid, tilted."""
    lattice = _lattice(pair, plan)
    index = np.arange(len(lattice.mass), dtype=float)
    with np.errstate(divide="ignore"):
        logs = np.log(lattice.mass)
    heaviest = int((logs + plan.tilt * plan.step * index).argmax())
    index -= heaviest
    weights, log_norm = _exponential(logs, index, plan.tilt * plan.step)
    log_over = log_norm
    if plan.rate:
        log_over = _exponential(logs, index, (plan.tilt + plan.rate) * plan.step)[1]
    log_kept = math.log1p(-lattice.infinite)
    anchor = lattice.first + heaviest
    return Tilted(weights, lattice.first, count, anchor, log_norm, log_over, log_kept)


def _lattice(pair: Pair, plan: Plan) -> Lattice:
    """The step's losses on the grid, refused beforehand where that would be too long to be built."""
    low, high = pair.ends(plan.reach, plan.floor)
    if not (high - low) / plan.step <= 4 * MAX_CELLS:
        raise NotSupported(
            f"A loss distribution between {low:g} and {high:g} does not fit on a grid of steps of "
            f"{plan.step:g}; use accountant='auto' or 'rdp'."
        )
    return pair.lattice(plan.step, plan.reach, plan.floor)


def _power(values: NDArray[np.complex128], count: int) -> NDArray[np.complex128]:
    """values ** count by squaring: a relative error grows by the count, and by less than 3 units per factor."""
    out: NDArray[np.complex128] = np.ones_like(values)
    while count:
        if count % 2:
            out = out * values
        count //= 2
        values = values * values if count else values
    return out


class Summands(Protocol):
    """Equal terms of a sum: masses on a grid from its point ``first`` on, that add up to 1, and how many there are."""

    @property
    def weights(self) -> Array:
        """The masses."""
        ...

    @property
    def first(self) -> int:
        """The first grid point."""
        ...

    @property
    def count(self) -> int:
        """The number of terms."""
        ...

    @property
    def mean(self) -> float:
        """Mean of a term in grid steps."""
        ...


def window(steps: Sequence[Summands], start: int, size: int) -> tuple[Array, float]:
    """Masses of the tilted sum at grid points start, ..., start + size - 1, wrapped around, and their round-off.

    Each transform is taken around its own mean, so that powers of its phase stay accurate; a power multiplies a
    relative error by its count.
    """
    masses, heights, taken = _transformed(steps, start, size)
    return masses, _round_off(masses, taken * float(heights.mean())) if taken else 0.0


def dominating(steps: Sequence[Summands], start: int, size: int, fall: float) -> Array:
    """Masses of `window` whose tilted-back sums from any grid point upwards are at least the true ones.

    An error of height r in wave k changes a sum of masses by r / k at most, and tilting back by e^-fall per grid point
    keeps such sums within the largest (Abel). That is far less than all errors of single masses together.
    """
    masses, heights, taken = _transformed(steps, start, size)
    waves = np.maximum(np.arange(len(heights)), 1)
    noise = _round_off(masses, taken * float((heights / waves).sum()), size)
    masses -= noise * math.expm1(-fall)
    masses[-1] += noise
    return masses


def _round_off(masses: Array, forth: float, back: int = 1) -> float:
    """Round-off of both transforms, of so many masses on the way back."""
    unit = _UNIT * (8 + math.log2(len(masses)))
    return unit * (forth + back * 0.01 * math.sqrt(float(masses.max())))


def _transformed(steps: Sequence[Summands], start: int, size: int) -> tuple[Array, Array, int]:
    """Masses, heights of the waves that they are made of, and the number of terms; no waves where nothing is added."""
    taken = sum(one.count for one in steps)
    if taken == 1:  # nothing is added, so nothing is transformed
        index = np.arange(len(steps[0].weights)) + (steps[0].first - start)
        whole = np.bincount(index % size, weights=steps[0].weights, minlength=size)
        return np.asarray(whole, np.float64), np.zeros(1), 0
    spectrum: NDArray[np.complex128] = np.ones(size // 2 + 1, complex)
    center = 0
    for one in steps:
        middle = round(one.mean)
        index = np.arange(one.first - middle, one.first - middle + len(one.weights)) % size
        folded = np.bincount(index, weights=one.weights, minlength=size)
        spectrum *= _power(rfft(folded), one.count)
        center += one.count * middle
    masses = np.maximum(np.roll(irfft(spectrum, size), -((start - center) % size)), 0.0)
    return masses, np.abs(spectrum), taken


def add_up(steps: Sequence[Summands], start: int, size: int) -> Array:
    """Masses of `window`, round-off added."""
    masses, noise = window(steps, start, size)
    return masses + noise
