"""Choose tilt, grid and window for a composition by quadrature.

Nothing here is trusted: a bad plan costs time or tightness, never privacy.

Losses on a grid: what a dominating pair must offer, and masses of Gaussian mixtures.

A pair (P, Q) is put on the grid {k * step} by connecting the dots (Doroshenko, Ghazi, Kamath, Kumar
and Manurangsi 2022): what falls between two neighbouring grid points is divided between them so that
its mass under P and its mass under Q are both kept. The result dominates the pair, and nothing on
the grid that dominates it is smaller. Dividing works on each cell alone, so no difference of a curve
is taken and tails keep their relative precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr, ndtri

__all__ = [
    "BLOCK",
    "MAX_CELLS",
    "PARTS",
    "Array",
    "Components",
    "Counted",
    "Lattice",
    "Pair",
    "Plan",
    "density",
    "divisions",
    "finer",
    "guess_epsilon",
    "levels_of",
    "log_mass",
    "plan_for_delta",
    "plan_for_epsilon",
    "plan_with",
    "rising_share",
]


Array = NDArray[np.float64]
Components = tuple[tuple[float, float], ...]  # (weight, mean) of unit Gaussians

_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)


@dataclass(frozen=True)
class Lattice:
    """Losses on a grid: ``mass[i]`` under P at ``(first + i) * step``, the rest at infinity."""

    first: int
    mass: Array
    infinite: float


class Pair(Protocol):
    """Dominating pair of one step: a quadrature to plan with, and a rigorous version on a grid."""

    @property
    def largest_loss(self) -> float:
        """Supremum of the loss."""
        ...

    def nodes(self, reach: float) -> tuple[Array, Array]:
        """Losses and their weights under P: a quadrature good enough to choose a grid by."""
        ...

    def ends(self, reach: float, floor: float) -> tuple[float, float]:
        """Lowest and highest finite loss of `lattice`, but for a cell: its size before it is built."""
        ...

    def lattice(self, step: float, reach: float, floor: float) -> Lattice:
        """Loss distribution under P on the grid, never below the truth.

        Tails end at ``reach``: the upper one goes to infinity, the lower one up to the last point.
        Losses below ``floor`` are raised to it.
        """
        ...


def _log_interval(a: Array, b: Array) -> Array:
    """log(Phi(b) - Phi(a)) for a <= b, without cancellation in either tail."""
    flip = a > 0
    low, high = np.where(flip, -b, a), np.where(flip, -a, b)
    with np.errstate(divide="ignore", invalid="ignore"):
        top = log_ndtr(high)
        tail = top + np.log1p(-np.exp(log_ndtr(low) - top))
        middle = np.log(ndtr(high) - ndtr(low))
    out = np.where(high > 0, middle, tail)
    return np.where(b > a, out, -np.inf)


def log_mass(components: Components, a: Array, b: Array) -> Array:
    """log of a mixture's mass on every interval [a, b]."""
    parts = [math.log(w) + _log_interval(a - mean, b - mean) for w, mean in components]
    return np.logaddexp.reduce(parts, axis=0)


def density(components: Components, x: Array) -> Array:
    """Density of a mixture at the points x."""
    out = np.zeros_like(x)
    for weight, mean in components:
        out += weight * np.exp(-0.5 * (x - mean) ** 2 - _LOG_SQRT_2PI)
    return out


def rising_share(loss: Any, step: float) -> Any:
    """Share of an atom that goes to the upper of its two grid points, rounded up.

    The lower grid point is known to one ulp of the loss, which is this much of a step.
    """
    lower = np.floor(loss / step) * step
    round_off = 1e-15 * (np.abs(loss) / step + 1)
    return np.minimum(np.maximum(np.expm1(lower - loss) / math.expm1(-step), 0.0) + round_off, 1.0)


Counted = Sequence[tuple[Pair, int]]
Nodes = list[tuple[Array, Array, int]]

MAX_CELLS = 2**20  # grid points of one step, and of the composed window
PARTS = 8  # grid points of a level of blocks between two of the next one
BLOCK = PARTS**2  # steps in a block: as wide, for its grid, as a step for its own
_MOST_LEVELS, _WORTH = 6, 2.0  # blocks must save so much
_FEWER = 8  # how many times fewer grid points blocks may take, where time counts
_LONGER = 4.0  # windows of blocks may have so many more grid points than steps
_FREE_CELLS = 2**13  # so few cost nothing: a grid of fewer is made finer than was asked
_OUTSIDE = 16.0  # what the window misses or wraps raises delta by about e^-16 of itself
_FLOOR = 36.0  # raising losses to the floor adds e^-36 to the tilted mass
_CUT = 1e-6  # share of delta given to cutting the tails of single steps
_LEAST = 1e-290
_ROUGH = 1e-3  # an accuracy for which a sixteenth of the grid points will do
_LARGEST_TILT = 1e10
_TILTS_PER_DECADE, _COARSER = (
    60,
    10,
)  # the ladder of tilts, and how many rungs a first look passes over
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
    levels: int = 0  # of blocks

    def wider(self) -> Plan:
        """Return a plan with twice the window, on as fine a grid as fits."""
        return replace(self, width=2 * self.width, step=max(self.step, 2 * self.width / self.cells))

    def excess(self, pairs: Counted) -> float:
        """Bound what the grid adds to epsilon, to first order: divisions (tilt + 1) step^2 / 8.

        Dividing a cell keeps the means of 1 and e^-L, so it raises the mean of e^{tilt L} by a
        factor of at most 1 + tilt (tilt + 1) step^2 / 8, and epsilon by its log over the tilt.
        """
        return divisions(pairs, self.levels) * (self.tilt + 1) * self.step**2 / 8


def levels_of(count: int, most: int) -> int:
    """Levels of blocks of so many equal steps, of which there may be so many."""
    levels = 0
    while levels < most and count >= BLOCK ** (levels + 1):
        levels += 1
    return levels


def divisions(pairs: Counted, most: int) -> float:
    """Count divisions of a loss on the last grid that would cost as much as all that there are, on any grid."""
    total = 0.0
    for _, count in pairs:
        levels = levels_of(count, most)
        for level in range(levels):
            total += count / BLOCK ** (levels - level) + count % BLOCK
            count //= BLOCK
        total += count
    return total


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
) -> float:
    """Minimise over a ladder of tilts: every tenth of sixteen decades first (not unimodal near zero), then all nearby.

    The ladder is the same for every question, so neighbouring questions have the same answer. It goes further down
    where losses are large, whose tilts are small.
    """
    widest = max(float(np.abs(losses).max()) for losses, _, _ in nodes)
    least = math.log10(1e-6 / max(widest, 1.0))
    first, last = (math.floor(_TILTS_PER_DECADE * x) for x in (least, math.log10(_LARGEST_TILT)))
    rungs = np.arange(first - first % _COARSER, last + 1, _COARSER)
    for _ in range(2):
        tilts = np.minimum(10.0 ** (rungs / _TILTS_PER_DECADE), most)
        best = rungs[int(np.nanargmin(objective(_cumulant(nodes, tilts), tilts)))]
        rungs = np.arange(best - _COARSER, best + _COARSER + 1)
    return min(10.0 ** (float(best) / _TILTS_PER_DECADE), most)


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
    """Sd after which the tails of single steps are cut, in quarters."""
    cut = -float(ndtri(max(math.exp(max(log_delta, -660.0)) * _CUT / steps, _LEAST)))
    return math.ceil(4 * cut) / 4


def _rounded_down(epsilon: float) -> float:
    """The epsilon to five bits."""
    mantissa, exponent = math.frexp(epsilon)
    return math.ldexp(math.floor(32 * mantissa) / 32, exponent)


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
    pairs: Counted,
    nodes: Nodes,
    tilt: float,
    epsilon: float,
    reach: float,
    accuracy: float,
    fewer: int = _FEWER,
) -> Plan:
    """Window around the tilted mean that reaches epsilon, and a grid that is fine for it.

    Of epsilon five bits count: neighbouring epsilons share a plan, and delta is a smooth function between its jumps.
    """
    near = _rounded_down(epsilon)
    tilt = min(tilt, _steepest(pairs, nodes, near))
    mean, sd = _moments(nodes, tilt)
    sd = max(sd, 1e-12 * max(abs(mean), near), 1e-300)
    scale = max(near or 0.1 * sd, 1e-3 * sd)  # what an accuracy of epsilon 0 is relative to
    below, width, rate = _window(nodes, tilt, mean, sd)
    low = below if epsilon >= mean - below else mean - near
    width += low - below
    steps = sum(count for _, count in pairs)
    floor = -(_FLOOR + math.log(steps)) / tilt
    spans = _spans(pairs, reach, floor)
    cells = MAX_CELLS if accuracy < _ROUGH else MAX_CELLS // 16
    squares = 8 * accuracy * scale / (tilt + 1)
    sizes = [
        _Sizes(
            count,
            span,
            [
                _wide([one], tilt, BLOCK**i, reach)
                for i in range(1, 1 + levels_of(count, _MOST_LEVELS))
            ],
        )
        for (_, count), span, one in zip(pairs, spans, nodes)
    ]
    levels, cells, step = _grid(pairs, sizes, width, (cells, cells // fewer), squares)
    return Plan(tilt, step, low, width, rate, reach, floor, mean - low, cells, levels)


@dataclass(frozen=True)
class _Sizes:
    """Ranges of the losses of one pair: of a single step, and of blocks by their level."""

    count: int
    span: float
    blocks: list[float]

    def longest(self, most: int) -> float:
        """Longest grid of any level, for a last grid of step one."""
        return max(self._all(most))

    def points(self, most: int) -> float:
        """Grid points of all levels, for a last grid of step one."""
        return math.fsum(self._all(most)) if levels_of(self.count, most) else 0.0

    def _all(self, most: int) -> list[float]:
        levels = levels_of(self.count, most)
        blocks = [self.blocks[i] * PARTS ** (levels - i) / _LONGER for i in range(levels)]
        return [self.span * PARTS**levels, *blocks]


def _wide(nodes: Nodes, tilt: float, count: int, reach: float) -> float:
    """Width of the window of so many equal steps, by Chernoff's bounds of their tilted law."""
    ((losses, log_weights, _),) = nodes
    mean, sd = _moments([(losses, log_weights, 1)], tilt)
    spread = max(sd * math.sqrt(count), 1e-300)
    rates = tilt + np.geomspace(0.1 / max(spread, float(np.ptp(losses))), 30 / spread, 16)
    one = [(losses - mean, log_weights + tilt * losses, count)]
    least = _cumulant(one, np.zeros(1))
    ends = [_cumulant(one, side * rates) - least + reach**2 / 2 for side in (1, -1)]
    return float(sum((end / rates).min() for end in ends))


def _grid(
    pairs: Counted, sizes: list[_Sizes], width: float, cells: tuple[int, int], squares: float
) -> tuple[int, int, float]:
    """Levels of blocks, the most grid points, and the step: as accurate as may be, then as few points as may be."""
    best: tuple[Any, ...] = ()
    for levels in range(_MOST_LEVELS + 1):
        most, divided = cells[levels > 0], divisions(pairs, levels)
        longest = max(width, *(one.longest(levels) for one in sizes))
        step = min(math.sqrt(squares / divided), longest / _FREE_CELLS)
        step = max(step, longest / most)
        missed = max(round(math.log2(min(divided * step * step / max(squares, 1e-300), 1e300))), 0)
        points = (width + math.fsum(one.points(levels) for one in sizes)) / step
        found = missed, points * (_WORTH if levels else 1.0), levels, most, step
        best = min(best or found, found)
    return best[2:]


def _spans(pairs: Counted, reach: float, floor: float) -> list[float]:
    """Ranges of the losses of single steps."""
    return [high - low for low, high in (pair.ends(reach, floor) for pair, _ in pairs)]


def finer(pairs: Counted, plan: Plan, times: float) -> Plan:
    """Return the plan with more grid points in the same window, as far as there are any."""
    spans = zip(pairs, _spans(pairs, plan.reach, plan.floor))
    longest = [span * PARTS ** levels_of(count, plan.levels) for (_, count), span in spans]
    most = max(plan.width, *longest) / plan.cells
    return replace(plan, step=max(plan.step / times, min(most, plan.step)))


def guess_epsilon(pairs: Counted, delta: float, most: float = _LARGEST_TILT) -> float:
    """The epsilon that Renyi divergences give at delta, a little above the truth."""
    return _guess(pairs, delta, most)[-1]


def _guess(pairs: Counted, delta: float, most: float) -> tuple[Nodes, float, float, float]:
    reach = _reach(math.log(delta), sum(count for _, count in pairs))
    nodes, log_delta = _gather(pairs, reach), math.log(delta)

    def price(cumulant: Array, tilts: Array) -> Array:
        return np.asarray((cumulant + _entropy(tilts) - log_delta) / tilts)

    tilt = _saddle(nodes, price, most)
    at = np.array([tilt])
    return nodes, reach, tilt, max(float(price(_cumulant(nodes, at), at)[0]), 0.0)


def plan_for_delta(
    pairs: Counted, delta: float, accuracy: float, most: float = _LARGEST_TILT
) -> Plan:
    """Plan around the epsilon that Renyi divergences give at delta (a little above the truth)."""
    nodes, reach, tilt, epsilon = _guess(pairs, delta, most)
    if epsilon <= 0:
        return plan_for_epsilon(pairs, 0.0, accuracy)
    return _finish(pairs, nodes, tilt, epsilon, reach, accuracy)


def plan_with(
    pairs: Counted,
    epsilon: float,
    accuracy: float,
    tilt: float,
    reach: float,
    fewer: int = _FEWER,
) -> Plan:
    """Plan around a given epsilon, with this tilt and with single steps cut there."""
    return _finish(pairs, _gather(pairs, reach), tilt, epsilon, reach, accuracy, fewer)


def plan_for_epsilon(
    pairs: Counted,
    epsilon: float,
    accuracy: float,
    most: float = _LARGEST_TILT,
    fewer: int = _FEWER,
) -> Plan:
    """Plan around a given epsilon, with a tilt of at most ``most`` and so many times fewer grid points in blocks."""
    steps = sum(count for _, count in pairs)

    def exponent(cumulant: Array, tilts: Array) -> Array:
        return np.asarray(cumulant + _entropy(tilts) - tilts * epsilon)

    def look(reach: float) -> tuple[Nodes, float, float]:
        """Nodes and tilt if tails are cut there, and where the delta that they promise says to cut them."""
        nodes = _gather(pairs, reach)
        tilt = _saddle(nodes, exponent, most)
        at = np.array([tilt])
        log_delta = min(float(exponent(_cumulant(nodes, at), at)[0]), 0.0)
        return nodes, tilt, _reach(log_delta, steps)

    near = _reach(0.0, steps)
    reach = look(near)[-1]
    nodes, tilt, wanted = look(reach)
    while (
        reach - wanted > 1 and reach - near > 0.5
    ):  # so heavy a tail that it hides what it should show
        middle = math.floor(2 * (near + reach)) / 4
        found = look(middle)
        if found[-1] > middle:
            near = middle
        else:
            reach, (nodes, tilt, wanted) = middle, found
    return _finish(pairs, nodes, tilt, epsilon, reach, accuracy, fewer)
