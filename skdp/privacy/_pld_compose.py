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
from scipy.fft import next_fast_len

from ._pld_blocks import steps_of
from ._pld_lattice import Array
from ._pld_plan import MAX_CELLS, Counted, Plan
from ._pld_tilted import Tilted, add_up

__all__ = ["Tail", "compose", "placed", "tail"]

_TRUSTED = 600.0  # tilting back stays within e^+-600 of the centre
_UNIT = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Tail:
    """Upper tail of a composed loss, in units of e^log_scale.

    ``discounted[i]`` is the mean of e^{losses[i] - S} over S >= losses[i] and ``missed[i]`` is
    delta(losses[i]). Both are sums of positive terms: as P(S >= losses[i]) - discounted[i] the latter
    would have no digits where neighbouring masses differ by less than one ulp.
    """

    losses: Array
    discounted: Array
    missed: Array
    log_scale: float
    lost: float  # probability at infinity, or above the window
    cut: float = 0.0  # the part of it that comes from cutting tails of single steps

    def delta(self, epsilon: float) -> float:
        """Smallest delta at epsilon; 1 where the window does not reach."""
        if not len(self.losses) or epsilon < self.losses[0]:
            return 1.0
        i = int(np.searchsorted(self.losses, epsilon))
        if i == len(self.losses):
            return min(self.lost, 1.0)
        nearer = -math.expm1(epsilon - self.losses[i])
        here = self.missed[i] + nearer * self.discounted[i]
        return min(float(here) * math.exp(min(self.log_scale, 700.0)) + self.lost, 1.0)

    def slope(self, epsilon: float) -> float:
        """Return the slope of log delta at epsilon; 0 where the window does not reach."""
        i = int(np.searchsorted(self.losses, epsilon))
        if i in (0, len(self.losses)):
            return 0.0
        return float(self.discounted[i] / max(self.missed[i], 1e-300))

    def epsilon(self, delta: float) -> float:
        """Smallest proved epsilon at delta: at least the first loss, infinity if none is proved."""
        if delta <= self.lost:
            return math.inf
        target = math.exp(min(math.log(delta - self.lost) - self.log_scale, 700.0))
        enough = self.missed <= target
        if not enough.any():
            return math.inf
        i = int(np.argmax(enough))
        if i == 0:
            return float(self.losses[0])
        # delta(losses[i] - x) = missed + (1 - e^-x) discounted: solved for x, which is below step
        share = min((target - self.missed[i]) / self.discounted[i], 1 - 1e-15)
        return max(float(self.losses[i] + math.log1p(-share)), float(self.losses[i - 1]))


def compose(pairs: Counted, plan: Plan) -> Tail:
    """Upper tail of the sum of the losses of all steps.

    Parameters
    ----------
    pairs : sequence of (Pair, int)
        Dominating pairs and how often each is composed.
    plan : Plan
        Tilt, grid and window; any plan gives a valid bound, a good one a tight bound.
    """
    steps = [one for pair, count in pairs for one in steps_of(pair, count, plan)]
    start, size, center = placed(steps, plan)
    return tail(steps, plan, start, add_up(steps, start, size), center)


def placed(steps: list[Tilted], plan: Plan) -> tuple[int, int, int]:
    """First grid point of the window, how many there are, and the one next to the tilted mean."""
    step, center = plan.step, math.floor(math.fsum(one.count * one.mean for one in steps))
    middle = step * center
    lowest = min(middle - plan.below, plan.target)  # the plan knows its mean by quadrature only
    start = math.floor(lowest / step) - 1
    width = max(min(plan.width + middle - plan.below - lowest, 2 * MAX_CELLS * step), step)
    return start, next_fast_len(math.ceil(width / step) + 4, real=True), center


def tail(steps: list[Tilted], plan: Plan, start: int, masses: Array, center: int) -> Tail:
    """Tilt the masses back around the grid point ``center`` and add them up from the top."""
    step, slope, last = plan.step, plan.tilt * plan.step, start + len(masses) - 1
    anchors = sum(one.count * one.anchor for one in steps)
    log_over = math.fsum(one.count * one.log_over for one in steps)
    over = math.exp(min(log_over + (plan.tilt + plan.rate) * step * (anchors - last), 0.0))
    cut = -math.expm1(math.fsum(one.count * one.log_kept for one in steps))

    index = np.arange(start, last + 1)
    trusted = slope * (center - index) <= _TRUSTED
    index, masses = index[trusted], masses[trusted]
    masses = masses * np.exp(np.maximum(slope * (center - index), -_TRUSTED))
    discounted, missed = np.zeros(len(index)), np.zeros(len(index))
    if len(index):
        from scipy.signal import (
            lfilter,  # here, since it takes longer to load than all of this package
        )

        discounted = lfilter([1.0], [1.0, -math.exp(-step)], masses[::-1])[::-1]
        # delta(l - step) = delta(l) + (1 - e^-step) E[e^{l - S}; S >= l]
        missed[:-1] = -math.expm1(-step) * np.cumsum(discounted[:0:-1])[::-1]
    log_scale = math.fsum(one.count * one.log_norm for one in steps) + slope * (anchors - center)
    log_scale += 4 * _UNIT * len(masses)  # round-off of the sums
    losses: Array = step * index.astype(float)
    return Tail(losses, discounted, missed, log_scale, over + cut, cut)
