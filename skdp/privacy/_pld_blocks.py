"""Laws of many equal steps in blocks: 64 steps are added on a fine grid, and the sum is put on one eight times coarser.

Each division of a loss between two grid points costs the square of their distance. A block's losses are eight times as
wide as a step's and there are 64 times fewer of them, so every level of blocks costs as much as the first, on a grid of
as many points. On a single grid, ten thousand million steps would need 10^5 times as many points.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy.fft import next_fast_len

from ._pld_lattice import Array, Pair
from ._pld_plan import BLOCK, PARTS, Plan, levels_of
from ._pld_tilted import Tilted, dominating, tilted, window

__all__ = ["steps_of", "tilted_moments"]

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
