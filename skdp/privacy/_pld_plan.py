"""Choose tilt, grid and window for a composition by quadrature.

Nothing here is trusted: a bad plan costs time or tightness, never privacy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from ._pld_lattice import Array, Pair

__all__ = ["MAX_CELLS", "Counted", "Plan", "plan_for_delta", "plan_for_epsilon"]

Counted = Sequence[tuple[Pair, int]]
Nodes = list[tuple[Array, Array, int]]

MAX_CELLS = 2**20  # grid points of one step, and of the composed window
_OUTSIDE = 16.0  # what the window misses or wraps raises delta by about e^-16 of itself
_FLOOR = 36.0  # raising losses to the floor adds e^-36 to the tilted mass
_CUT = 1e-6  # share of delta given to cutting the tails of single steps
_LEAST = 1e-290
_ROUGH = 1e-3  # an accuracy for which a sixteenth of the grid points will do
_LARGEST_TILT = 1e10
_STEEPEST = 3e3  # tilt times epsilon: steeper ones only look closer at the sum of largest losses


@dataclass(frozen=True)
class Plan:
    """Tilt, grid and window of a composition."""

    tilt: float
    step: float
    below: float  # width of the window below the tilted mean of the sum
    width: float  # of the whole window
    rate: float  # Chernoff parameter for what lies above the window
    reach: float  # where single-step tails are cut, in sd
    floor: float  # lower losses are raised to it
    target: float  # epsilon that the window must reach down to
    cells: int  # most grid points of a step and of the window

    def wider(self) -> Plan:
        """Return a plan with twice the window, on twice the grid."""
        return replace(self, width=2 * self.width, step=2 * self.step)

    def deeper(self) -> Plan:
        """Return a plan whose window reaches twice as far down, to zero at most."""
        target = max(self.target - self.width, 0.0)
        width = self.width + self.target - target
        return replace(self, target=target, width=width, step=max(self.step, width / self.cells))

    def excess(self, steps: int) -> float:
        """Bound what the grid adds to epsilon, to first order: steps (tilt + 1) step^2 / 8.

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


def _saddle(
    nodes: Nodes, objective: Callable[[Array, Array], Array], most: float = _LARGEST_TILT
) -> tuple[float, float]:
    """Minimise over the tilt: sixteen decades first (not unimodal near zero), then locally.

    More of them where losses are large, whose tilts are small.
    """
    widest = max(float(np.abs(losses).max()) for losses, _, _ in nodes)
    least = 1e-6 / max(widest, 1.0)
    tilts = np.geomspace(least, most, 1 + round(6 * math.log10(_LARGEST_TILT / least)))
    for _ in range(2):
        values = objective(_cumulant(nodes, tilts), tilts)
        i = int(np.nanargmin(values))
        tilts = np.geomspace(tilts[max(i - 1, 0)], tilts[min(i + 1, len(tilts) - 1)], 21)
    return float(tilts[10]), float(values[i])


def _window(nodes: Nodes, tilt: float, mean: float, sd: float) -> tuple[float, float, float]:
    """Width below the mean, whole width, and Chernoff parameter, by Chernoff bounds.

    Mass below the window wraps to its top, where tilting back makes it light. Mass above it must be
    small after tilting back, and what wraps all the way past the mean before that.
    """
    rates = np.concatenate([[0.0], np.logspace(-1.5, 1.5, 16) / sd])
    outside = _OUTSIDE + math.log1p(tilt) + math.log1p(tilt * sd)
    here = _cumulant(nodes, np.array([tilt]))[0]
    rise = _cumulant(nodes, tilt + rates) - here - rates * mean + outside
    fall = _cumulant(nodes, tilt - rates) - here + rates * mean + outside
    above = rise / (rates + tilt)
    best = int(np.argmin(above))
    below = float((fall[1:] / rates[1:]).min())
    wrapped = float((rise[1:] / rates[1:]).min())
    return below, max(below + float(above[best]), wrapped), float(rates[best])


def _reach(log_delta: float, steps: int) -> float:
    return -float(ndtri(max(math.exp(max(log_delta, -660.0)) * _CUT / steps, _LEAST)))


def _entropy(tilts: Array) -> Array:
    """log of max over s of (1 - e^-s) e^{-tilt s}: sharpens Chernoff to the hockey stick."""
    return -np.log1p(1 / tilts) * tilts - np.log1p(tilts)


def _steepest(pairs: Counted, nodes: Nodes, epsilon: float) -> float:
    """Largest useful tilt: where every step may take its largest loss, it is near the atom of them all."""
    attained = all(
        losses.max() >= pair.largest_loss for (pair, _), (losses, _, _) in zip(pairs, nodes)
    )
    return _STEEPEST / max(epsilon, 1e-300) if attained else _LARGEST_TILT


def _finish(
    pairs: Counted, nodes: Nodes, tilt: float, epsilon: float, reach: float, accuracy: float
) -> Plan:
    """Window around the tilted mean that reaches epsilon, and a grid that is fine for it."""
    tilt = min(tilt, _steepest(pairs, nodes, epsilon))
    mean, sd = _moments(nodes, tilt)
    sd = max(sd, 1e-12 * max(abs(mean), epsilon), 1e-300)
    scale = max(epsilon or 0.1 * sd, 1e-3 * sd)  # what an accuracy of epsilon 0 is relative to
    below, width, rate = _window(nodes, tilt, mean, sd)
    low = max(below, mean - epsilon)
    width += low - below
    steps = sum(count for _, count in pairs)
    step = math.sqrt(8 * accuracy * scale / (steps * (tilt + 1)))
    floor = -(_FLOOR + math.log(steps)) / tilt
    span = max(high - low for low, high in (pair.ends(reach, floor) for pair, _ in pairs))
    cells = MAX_CELLS if accuracy < _ROUGH else MAX_CELLS // 16
    step = max(step, width / cells, span / cells)
    return Plan(tilt, step, low, width, rate, reach, floor, epsilon, cells)


def plan_for_delta(
    pairs: Counted, delta: float, accuracy: float, most: float = _LARGEST_TILT
) -> Plan:
    """Plan around the epsilon that Renyi divergences give at delta (a little above the truth)."""
    steps = sum(count for _, count in pairs)
    reach = _reach(math.log(delta), steps)
    nodes = _gather(pairs, reach)
    log_delta = math.log(delta)
    tilt, epsilon = _saddle(nodes, lambda k, a: (k + _entropy(a) - log_delta) / a, most)
    if epsilon <= 0:
        return plan_for_epsilon(pairs, 0.0, accuracy)
    return _finish(pairs, nodes, tilt, epsilon, reach, accuracy)


def plan_for_epsilon(
    pairs: Counted, epsilon: float, accuracy: float, most: float = _LARGEST_TILT
) -> Plan:
    """Plan around a given epsilon, with a tilt of at most ``most``."""
    steps = sum(count for _, count in pairs)
    log_delta = 0.0
    for _ in range(2):  # the first delta says how far the tails matter
        reach = _reach(log_delta, steps)
        nodes = _gather(pairs, reach)
        tilt, value = _saddle(nodes, lambda k, a: k + _entropy(a) - a * epsilon, most)
        log_delta = min(value, 0.0)
    return _finish(pairs, nodes, tilt, epsilon, reach, accuracy)
