"""Compose loss distributions by one tilted Fourier transform, and read the tail off it.

The sum S of the losses is wanted where P(S > epsilon) may be 1e-15, which the transform of the plain
masses cannot resolve. So every mass is first tilted by e^{tilt * loss}, with the tilt that puts the
mean of S near the epsilon asked for (Esscher; the saddle point of the tail), transformed, raised to
its power, multiplied, transformed back and tilted back: round-off is then relative to the tail
itself. Whatever is cut, wrapped around or rounded is added on the private side.

Laws of many equal steps in blocks: 64 steps are added on a fine grid, and the sum is put on one eight times coarser.

Each division of a loss between two grid points costs the square of their distance. A block's losses are eight times as
wide as a step's and there are 64 times fewer of them, so every level of blocks costs as much as the first, on a grid of
as many points. On a single grid, ten thousand million steps would need 10^5 times as many points.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.fft import next_fast_len

from ._pld_plan import BLOCK, MAX_CELLS, PARTS, Array, Counted, Pair, Plan, levels_of
from ._pld_tilted import Tilted, add_up, dominating, tilted, window

__all__ = ["Tail", "compose", "placed", "steps_of", "tail", "tilted_moments"]


_RATES = 16
_SHARE = 4e-15  # relative error of a share and of a sum of eight
_NEARLY_ALL = 5.0  # what is outside of a block's window is e^-5 of what the tails of a step lose


def steps_of(pair: Pair, count: int, plan: Plan, *, lower: bool = False) -> list[Tilted]:
    """Laws on the plan's grid whose sum is that of so many steps: blocks, and what is left over at each level.

    Parameters
    ----------
    pair : Pair
        Of one step.
    count : int
        The number of steps.
    plan : Plan
        Its grid, tilt and levels.
    lower : bool
        Whether all rounding is down, and nothing is kept that wraps around a window.
    """
    levels = levels_of(count, plan.levels)
    step = plan.step / PARTS**levels
    one, found = tilted(pair, 1, replace(plan, step=step)), []
    for level in range(levels):
        count, left = divmod(count, BLOCK)
        if left:
            rest = _coarser(one, PARTS ** (levels - level), step, plan, lower)
            found.append(replace(rest, count=left))
        one = _coarser(_block(one, step, plan, lower), PARTS, step, plan, lower)
        step *= PARTS
    return [*found, replace(one, count=count)]


def tilted_moments(one: Tilted, rates: Array) -> Array:
    """Log of the mean of e^{rate (L - mean)} of one step, losses in grid steps, at rates and at minus the rates."""
    seen = one.weights > 0
    weights, x = one.weights[seen], (one.first + np.arange(len(one.weights)) - one.mean)[seen]
    logs = np.empty((2, len(rates)))
    for (side, i), _ in np.ndenumerate(logs):
        y = rates[i] * (-x[::-1] if side else x)
        logs[side, i] = float(y[-1]) + math.log(
            float((weights[::-1] if side else weights) @ np.exp(y - y[-1]))
        )
    return logs


def _block(one: Tilted, step: float, plan: Plan, lower: bool) -> Tilted:
    """Sum of a block of equal steps on their grid; what is above its window is at infinity, what is below at its start.

    By Chernoff's bounds: under the tilted law, mass above the window has at most e^(logs - rate far) of it. Where that
    rate is more than the tilt, mass below has no more than this when it is raised to the start.
    """
    slope, x = plan.tilt * step, one.first + np.arange(len(one.weights)) - one.mean
    spread = max(math.sqrt(BLOCK * float(one.weights @ x**2)), 1.0)
    rates = slope + np.geomspace(0.1 / max(spread, len(x)), 30 / spread, _RATES)
    logs, out = BLOCK * tilted_moments(one, rates), plan.reach**2 / 2 + _NEARLY_ALL
    above, below = np.minimum(((logs + out) / rates).min(axis=1), 4 * plan.cells)
    mean, start = BLOCK * one.mean, math.floor(BLOCK * one.mean - below)
    size = next_fast_len(math.ceil(mean + above) - start + 1, real=True)
    last = start + size - 1
    far = np.array([[last - mean], [mean - start]])
    beyond = np.exp(np.minimum(logs - rates * far, 0.0).min(axis=1))
    anchor, log_norm, log_kept = BLOCK * one.anchor, BLOCK * one.log_norm, BLOCK * one.log_kept
    steps = [replace(one, count=BLOCK)]
    if lower:
        masses, noise = window(steps, start, size)
        masses = np.maximum(masses - 2 * noise - beyond.sum(), 0.0)
    else:
        masses = dominating(steps, start, size, slope)
        masses[0] += beyond[1]
    lost = math.exp(min(log_norm - slope * (last - anchor), 0.0)) * float(beyond[0])
    return replace(
        one,
        weights=masses,
        first=start,
        anchor=anchor,
        log_norm=log_norm,
        log_kept=log_kept + math.log1p(-min(lost * math.exp(min(-log_kept, 700.0)), 1 - 1e-16)),
    )


def _coarser(one: Tilted, parts: int, step: float, plan: Plan, lower: bool) -> Tilted:
    """Divide the losses of one law between the points of a grid that is coarser by a whole number of parts."""
    slope, place = plan.tilt * step, np.arange(parts)
    share = np.expm1(-step * place) / math.expm1(-step * parts)
    share = np.minimum(share * (1 + (-_SHARE if lower else _SHARE)), 1.0)
    first, front = divmod(one.first, parts)
    back = -(front + len(one.weights)) % parts
    cells = np.concatenate([np.zeros(front), one.weights, np.zeros(back)]).reshape(-1, parts)
    weights = np.append(cells @ ((1 - share) * np.exp(-slope * place)), 0.0)
    weights[1:] += cells @ (share * np.exp(slope * (parts - place)))
    total = max(float(weights.sum()), 1e-300)
    weights /= total
    anchor, back = divmod(one.anchor, parts)
    log_norm = one.log_norm + slope * back + math.log(total) + (-_SHARE if lower else _SHARE)
    log_over, rate = log_norm, plan.rate * step * parts
    if rate:
        y = rate * (first + np.arange(len(weights)) - anchor)
        log_over += float(y[-1]) + math.log(float(weights @ np.exp(y - y[-1])))
    return Tilted(weights, first, one.count, anchor, log_norm, log_over, one.log_kept)


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
