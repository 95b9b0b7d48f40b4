"""Choose tilt, grid and window for a composition by quadrature.

Nothing here is trusted: a bad plan costs time or tightness, never privacy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from skdp.privacy._pld_pairs import Pair

__all__ = ["MAX_CELLS", "Counted", "Plan", "plan_for_delta", "plan_for_epsilon"]

Array = NDArray[np.float64]
Counted = Sequence[tuple[Pair, int]]
Nodes = list[tuple[Array, Array, int]]

MAX_CELLS = 2**20  # grid points of one step, and of the composed window
_OUTSIDE = 36.0  # the window leaves about e^-36 of the tilted mass on either side
_CUT = 1e-6  # share of delta given to cutting the tails of single steps
_LEAST = 1e-290


@dataclass(frozen=True)
class Plan:
    """Where to look and how finely."""

    tilt: float
    step: float
    below: float  # width of the window below and above the tilted mean of the sum
    above: float
    rate: float  # Chernoff parameter for what lies above the window
    reach: float  # where single-step tails are cut, in sd
    epsilon: float  # where the tail is expected to be read

    def excess(self, steps: int) -> float:
        """What the grid adds to epsilon, to first order: steps (tilt + 1) step^2 / 8 at most.

        Dividing a cell keeps the means of 1 and e^-L, so it raises the mean of e^{tilt L} by a
        factor of at most 1 + tilt (tilt + 1) step^2 / 8, and epsilon by its log over the tilt.
        """
        return steps * (self.tilt + 1) * self.step**2 / 8


def _gather(pairs: Counted, reach: float) -> Nodes:
    out = []
    for pair, count in pairs:
        losses, weights = pair.nodes(reach)
        keep = weights > 0
        out.append((losses[keep], np.log(weights[keep]), count))
    return out


def _cumulant(nodes: Nodes, tilts: Array) -> Array:
    """log E e^{tilt S} at every tilt."""
    total = np.zeros(len(tilts))
    for losses, log_weights, count in nodes:
        exponents = log_weights + tilts[:, None] * losses
        top = exponents.max(axis=1)
        total += count * (top + np.log(np.exp(exponents - top[:, None]).sum(axis=1)))
    return total


def _moments(nodes: Nodes, tilt: float) -> tuple[float, float]:
    """Mean and sd of the sum under the tilted law."""
    mean = variance = 0.0
    for losses, log_weights, count in nodes:
        exponents = log_weights + tilt * losses
        weights = np.exp(exponents - exponents.max())
        weights /= weights.sum()
        center = float(weights @ losses)
        mean += count * center
        variance += count * float(weights @ (losses - center) ** 2)
    return mean, math.sqrt(variance)


def _saddle(nodes: Nodes, objective: Callable[[Array, Array], Array]) -> tuple[float, float]:
    """Minimise over the tilt: sixteen decades first (not unimodal near zero), then locally."""
    tilts = np.logspace(-6, 10, 97)
    for _ in range(2):
        values = objective(_cumulant(nodes, tilts), tilts)
        i = int(np.nanargmin(values))
        tilts = np.geomspace(tilts[max(i - 1, 0)], tilts[min(i + 1, len(tilts) - 1)], 21)
    return float(tilts[10]), float(values[i])


def _width(nodes: Nodes, tilt: float, mean: float, sd: float, sign: float) -> tuple[float, float]:
    """Distance from the mean that e^-_OUTSIDE of the tilted mass exceeds, by Chernoff."""
    rates = np.logspace(-1.5, 1.5, 16) / sd
    growth = _cumulant(nodes, tilt + sign * rates) - _cumulant(nodes, np.array([tilt]))
    widths = (growth - sign * rates * mean + _OUTSIDE) / rates
    best = int(np.argmin(widths))
    return float(widths[best]), float(rates[best])


def _reach(log_delta: float, steps: int) -> float:
    return -float(ndtri(max(math.exp(max(log_delta, -660.0)) * _CUT / steps, _LEAST)))


def _entropy(tilts: Array) -> Array:
    """log of max over s of (1 - e^-s) e^{-tilt s}: sharpens Chernoff to the hockey stick."""
    return -np.log1p(1 / tilts) * tilts - np.log1p(tilts)


def _finish(
    pairs: Counted, nodes: Nodes, tilt: float, epsilon: float, reach: float, accuracy: float
) -> Plan:
    mean, sd = _moments(nodes, tilt)
    sd = max(sd, 1e-12 * max(abs(mean), epsilon), 1e-300)
    below, _ = _width(nodes, tilt, mean, sd, -1.0)
    above, rate = _width(nodes, tilt, mean, sd, 1.0)
    below = max(below, mean - epsilon)
    steps = sum(count for _, count in pairs)
    step = math.sqrt(8 * accuracy * epsilon / (steps * (tilt + 1)))
    span = max(float(losses.max() - losses.min()) for losses, _, _ in nodes)
    step = max(step, (below + above) / MAX_CELLS, span / MAX_CELLS)
    return Plan(tilt, step, below, above, rate, reach, epsilon)


def plan_for_delta(pairs: Counted, delta: float, accuracy: float) -> Plan:
    """Plan around the epsilon that Renyi divergences give at delta (a little above the truth)."""
    steps = sum(count for _, count in pairs)
    reach = _reach(math.log(delta), steps)
    nodes = _gather(pairs, reach)
    log_delta = math.log(delta)
    tilt, epsilon = _saddle(nodes, lambda k, a: (k + _entropy(a) - log_delta) / a)
    if epsilon <= 0:
        return plan_for_epsilon(pairs, 0.0, accuracy)
    return _finish(pairs, nodes, tilt, epsilon, reach, accuracy)


def plan_for_epsilon(pairs: Counted, epsilon: float, accuracy: float) -> Plan:
    """Plan around a given epsilon."""
    steps = sum(count for _, count in pairs)
    log_delta = 0.0
    for _ in range(2):  # the first delta says how far the tails matter
        reach = _reach(log_delta, steps)
        nodes = _gather(pairs, reach)
        tilt, value = _saddle(nodes, lambda k, a: k + _entropy(a) - a * epsilon)
        log_delta = min(value, 0.0)
    reach = _reach(log_delta, steps)
    scale = max(epsilon, 1e-3 * _moments(nodes, 0.0)[1])
    plan = _finish(pairs, nodes, tilt, scale, reach, accuracy)
    below = max(plan.below, _moments(nodes, tilt)[0] - epsilon)
    return Plan(tilt, plan.step, below, plan.above, plan.rate, reach, epsilon)
