"""Compose loss distributions by one tilted Fourier transform, and read the tail off it.

The sum S of the losses is wanted where P(S > epsilon) may be 1e-15, which the transform of the plain
masses cannot resolve. So every mass is first tilted by e^{tilt * loss}, with the tilt that puts the
mean of S near the epsilon asked for (Esscher; the saddle point of the tail), transformed, raised to
its power, multiplied, transformed back and tilted back: round-off is then relative to the tail
itself. Whatever is cut, wrapped around or rounded is added on the private side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.signal import lfilter

from skdp.privacy._pld_lattice import Array, Lattice, Pair
from skdp.privacy._pld_plan import MAX_CELLS, Counted, Plan

__all__ = ["Tail", "compose"]

_TRUSTED = 600.0  # tilting back stays within e^+-600 of the centre
_UNIT = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Tail:
    """Upper tail of a composed loss, in units of e^log_scale.

    ``above[i]`` is P(S >= losses[i]) and ``discounted[i]`` the mean of e^{losses[i] - S} there, so
    that delta(epsilon) = above - e^{epsilon - loss} * discounted for epsilon up to that loss.
    """

    losses: Array
    above: Array
    discounted: Array
    log_scale: float
    lost: float  # probability at infinity, or above the window

    def delta(self, epsilon: float) -> float:
        """Smallest delta at epsilon; 1 where the window does not reach."""
        if epsilon < self.losses[0]:
            return 1.0
        i = int(np.searchsorted(self.losses, epsilon))
        if i == len(self.losses):
            return min(self.lost, 1.0)
        here = self.above[i] - math.exp(epsilon - self.losses[i]) * self.discounted[i]
        scaled = max(float(here), 0.0) * math.exp(min(self.log_scale, 700.0))
        return min(scaled + self.lost, 1.0)

    def epsilon(self, delta: float) -> float | None:
        """Smallest epsilon at delta; None if it lies below the window, infinity if above."""
        if delta <= self.lost:
            return math.inf
        target = math.exp(min(math.log(delta - self.lost) - self.log_scale, 700.0))
        enough = self.above - self.discounted <= target
        i = int(np.argmax(enough))
        if i == 0:
            return math.inf if not enough[0] else None
        return float(self.losses[i] + math.log((self.above[i] - target) / self.discounted[i]))


@dataclass(frozen=True)
class _Tilted:
    """One step's masses times e^{tilt * loss}, normalised, and how often the step is taken."""

    weights: Array
    first: int
    count: int
    log_norm: float  # log E e^{tilt L}
    log_over: float  # log E e^{(tilt + rate) L}
    log_kept: float  # log P(L < infinity)

    @property
    def mean(self) -> float:
        """Mean loss in grid steps."""
        return self.first + float(self.weights @ np.arange(len(self.weights)))


def _exponential(lattice: Lattice, step: float, tilt: float) -> tuple[Array, float]:
    losses = step * np.arange(lattice.first, lattice.first + len(lattice.mass))
    with np.errstate(divide="ignore"):
        exponents = np.log(lattice.mass) + tilt * losses
    top = float(exponents.max())
    weights = np.exp(exponents - top)
    total = float(weights.sum())
    return weights / total, top + math.log(total)


def _tilted(pair: Pair, count: int, plan: Plan) -> _Tilted:
    lattice = pair.lattice(plan.step, plan.reach, plan.floor)
    weights, log_norm = _exponential(lattice, plan.step, plan.tilt)
    log_over = log_norm
    if plan.rate:
        log_over = _exponential(lattice, plan.step, plan.tilt + plan.rate)[1]
    log_kept = math.log1p(-lattice.infinite)
    return _Tilted(weights, lattice.first, count, log_norm, log_over, log_kept)


def _window(steps: list[_Tilted], start: int, size: int) -> Array:
    """Masses of the tilted sum at grid points start, ..., start + size - 1, wrapped around.

    Each transform is taken around its own mean, so that powers of its phase stay accurate. Round-off
    is bounded and added: a power multiplies a relative error by its count.
    """
    spectrum: NDArray[np.complex128] = np.ones(size // 2 + 1, complex)
    center = 0
    for one in steps:
        middle = round(one.mean)
        index = np.arange(one.first - middle, one.first - middle + len(one.weights)) % size
        folded = np.bincount(index, weights=one.weights, minlength=size)
        spectrum *= rfft(folded) ** one.count
        center += one.count * middle
    masses = np.maximum(np.roll(irfft(spectrum, size), -((start - center) % size)), 0.0)
    unit = _UNIT * (8 + math.log2(size))
    taken = sum(one.count for one in steps)
    noise = taken * float(np.abs(spectrum).mean()) + 0.01 * math.sqrt(float(masses.max()))
    return masses + unit * noise


def compose(pairs: Counted, plan: Plan) -> Tail:
    """Upper tail of the sum of the losses of all steps.

    Parameters
    ----------
    pairs : sequence of (Pair, int)
        Dominating pairs and how often each is composed.
    plan : Plan
        Tilt, grid and window; any plan gives a valid bound, a good one a tight bound.
    """
    step, tilt = plan.step, plan.tilt
    steps = [_tilted(pair, count, plan) for pair, count in pairs]
    middle = step * math.fsum(one.count * one.mean for one in steps)
    lowest = min(middle - plan.below, plan.target)  # the plan knows its mean by quadrature only
    start = math.floor(lowest / step) - 1
    width = min(plan.width + middle - plan.below - lowest, 2 * MAX_CELLS * step)
    size = next_fast_len(math.ceil(width / step) + 4, real=True)
    losses = step * np.arange(start, start + size)
    masses = _window(steps, start, size)

    log_over = math.fsum(one.count * one.log_over for one in steps)
    over = math.exp(min(log_over - (tilt + plan.rate) * float(losses[-1]), 0.0))
    lost = over - math.expm1(math.fsum(one.count * one.log_kept for one in steps))

    trusted = tilt * (middle - losses) <= _TRUSTED
    losses, masses = losses[trusted], masses[trusted]
    masses *= np.exp(np.maximum(tilt * (middle - losses), -_TRUSTED))
    above = np.cumsum(masses[::-1])[::-1]
    discounted = lfilter([1.0], [1.0, -math.exp(-step)], masses[::-1])[::-1]
    log_scale = math.fsum(one.count * one.log_norm for one in steps) - tilt * middle
    return Tail(losses, above, discounted, log_scale, lost)
