"""Lower bounds of delta from the grids of the engine: what a grid adds is at most one more Gaussian release.

Connecting the dots raises delta. By docs/proofs/certificates.md a grid of step h costs, for each step of a script, no
more than a Gaussian release of mu = h sqrt(pi/8) besides. So delta of the grid is at most the mean of the true delta
over the loss of that Gaussian, and since the true delta is convex in e^epsilon and nowhere above the grid's, its value
at one point follows. Here everything is rounded down: masses, the transform, and what is cut or wrapped is left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr

from ._pld_compose import Tail, compose, placed, steps_of, tail, tilted_moments
from ._pld_other_pairs import ListedPair
from ._pld_pairs import MixturePair
from ._pld_plan import Array, Counted, Lattice, Pair, Plan, divisions
from ._pld_tilted import Tilted, window

__all__ = ["Below", "below"]

_UNIT = float(np.finfo(float).eps)
_MASS = 1e-13  # relative error of a mass on the grid
_LOSS = 2e-14  # error of a loss, relative to 1 + the largest on the grid
_WIDTH, _NODES = 1.5, 8  # distance in sd of points where delta is bounded, and how many on a side
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(20)
_DEEPEST = 600.0  # tilting back stays within e^+-600 of the centre
_RATES = np.logspace(-1.5, 2.0, 22)


@dataclass(frozen=True)
class _Inner:
    """A pair whose grid holds no mass that the true loss does not have: nothing is raised or at infinity."""

    pair: Pair

    @property
    def largest_loss(self) -> float:
        """The pair's largest loss."""
        return self.pair.largest_loss

    def nodes(self, reach: float) -> tuple[Array, Array]:
        """The pair's nodes."""
        return self.pair.nodes(reach)

    def ends(self, reach: float, floor: float) -> tuple[float, float]:
        """The pair's ends."""
        return self.pair.ends(reach, floor)

    def lattice(self, step: float, reach: float, floor: float) -> Lattice:
        """The grid without what was raised to its floor."""
        grid = self.pair.lattice(step, reach, floor)
        mass = grid.mass * (1 - _MASS)
        if isinstance(self.pair, MixturePair):
            edge = float(self.pair.at(np.array([step * grid.first]))[0])
            raised = math.fsum(w * ndtr(edge - mean) for w, mean in self.pair.upper)
            mass[0] = max(mass[0] - raised * (1 + 1e-12), 0.0)
        elif self.pair.ends(reach, -math.inf)[0] < floor:
            mass[:2] = 0.0
        return Lattice(grid.first, mass, 0.0)


def _certain(pair: Pair) -> float:
    """Probability that one step tells the record for certain, rounded down."""
    if not isinstance(pair, ListedPair):
        return 0.0
    return max(pair.side.infinite * (1 - _MASS) - 1e-280, 0.0)


def _moments(steps: list[Tilted], step: float) -> tuple[Array, Array, float]:
    """Rates, log E e^{rate (S - mean)} under the tilted law and with minus the rates, and the mean."""
    mean = math.fsum(one.count * one.mean for one in steps)
    square = math.fsum(
        one.count * float(one.weights @ (one.first + np.arange(len(one.weights)) - one.mean) ** 2)
        for one in steps
    )
    rates = _RATES / max(math.sqrt(square), 1.0)
    logs = sum((one.count * tilted_moments(one, rates) for one in steps), np.zeros((2, len(rates))))
    return rates / step, logs, mean * step


@dataclass(frozen=True)
class Below:
    """A lower bound of delta of one direction, at every epsilon; tight near the one that it was planned for.

    Parameters
    ----------
    upper : Tail
        Of the grid, never below the truth.
    lower : Tail
        Of the same grid, without what was raised, cut, wrapped or rounded.
    plan : Plan
        Its tilt and step.
    sigma : float
        mu of the Gaussian release that costs more than the grid.
    rates, logs, mean : ndarray, ndarray, float
        Moments of the tilted law, which bound what wraps around from above.
    first, width : float
        Of the window.
    certain : float
        Probability that a step tells the record for certain.
    shift : float
        Error of the summed losses.
    """

    upper: Tail
    lower: Tail
    plan: Plan
    sigma: float
    rates: Array
    logs: Array
    mean: float
    first: float
    width: float
    certain: float
    shift: float
    center: float

    def delta(self, epsilon: float) -> float:
        """Delta that the script surely has at epsilon."""
        nodes, weights, beyond = _hats(self.sigma)
        others = [self.upper.delta(epsilon + node) if node else 0.0 for node in nodes]
        middle = len(nodes) // 2
        found = self._of_grid(epsilon + self.shift) - beyond - float(weights @ others)
        return max(found / float(weights[middle]), self.certain, 0.0)

    def _of_grid(self, epsilon: float) -> float:
        """Delta of the grid, rounded down."""
        t = self.lower
        i = int(np.searchsorted(t.losses, epsilon))
        finite = 0.0
        if i < len(t.losses):
            nearer = -math.expm1(epsilon - t.losses[i])
            round_off = 8 * _UNIT * (len(t.losses) + 16)
            here = float(t.missed[i] + nearer * t.discounted[i]) * (1 - round_off)
            finite = here * math.exp(min(t.log_scale, 700.0))
        finite -= self.wrapped(epsilon)
        return max(finite, 0.0) + self.certain

    def wrapped(self, epsilon: float) -> float:
        """Bound what the masses outside the window, moved by multiples of its width, add to delta of the grid.

        What comes from above lay a width higher (Chernoff); what comes from below is little under the tilted law
        (Chernoff), or lies a width higher than it should, where tilting back makes all of it small.
        """
        tilt = self.plan.tilt
        above = self.logs[0] - self.rates * (epsilon + self.width - self.mean)
        above -= np.log(-np.expm1(-self.rates * self.width))
        below = self.logs[1] - self.rates * (self.mean - self.first)
        kernel = -math.log1p(1 / tilt) * tilt - math.log1p(tilt)
        scale = kernel - tilt * (epsilon - self.center) + self.lower.log_scale
        high, low = (math.exp(min(float(logs.min()) + scale, 700.0)) for logs in (above, below))
        once = math.exp(-tilt * self.width)
        return high + min(low, once / max(1 - once, 1e-300))


def _hats(sigma: float) -> tuple[Array, Array, float]:
    """Points around an epsilon, the means of their hat functions under the Gaussian's loss, and what is below all.

    The hats interpolate linearly in e^epsilon; from the last point upwards the last hat is 1.
    """
    width = _WIDTH * sigma
    places: Array = np.arange(-_NODES, _NODES + 1.0)
    weights = np.zeros(len(places))
    for i in range(len(places) - 1):
        # on this piece R = e^{y} with y = sigma N - sigma^2/2; losses move by -y, that is epsilon by y
        low = places[i] * _WIDTH + sigma / 2
        x = low + _WIDTH * (_POINTS + 1) / 2
        density = np.exp(-x * x / 2) / math.sqrt(2 * math.pi) * _WEIGHTS * _WIDTH / 2
        share = np.expm1(sigma * (x - low)) / math.expm1(width)
        weights[i + 1] += float(density @ share)
        weights[i] += float(density @ (1 - share))
    weights[-1] += float(ndtr(-(places[-1] * _WIDTH + sigma / 2)))
    beyond = float(ndtr(places[0] * _WIDTH + sigma / 2))
    raised: Array = weights * (1 + 1e-13)
    return width * places, raised, beyond * (1 + 1e-9)


def below(pairs: Counted, plan: Plan) -> Below:
    """Lower bound of delta of the sum of all losses, on the grid of a plan.

    Parameters
    ----------
    pairs : sequence of (Pair, int)
        Dominating pairs that are attained.
    plan : Plan
        Tilt, grid and window; any plan gives a valid bound.
    """
    divided = divisions(pairs, plan.levels)
    sigma = plan.step * math.sqrt(divided * math.pi / 8) * (1 + 1e-12)
    plan = replace(plan, target=plan.target - (_NODES * _WIDTH + 1) * sigma)
    inner = [one for pair, k in pairs for one in steps_of(_Inner(pair), k, plan, lower=True)]
    start, size, center = placed(inner, plan)
    masses, noise = window(inner, start, size)
    masses = np.maximum(masses - 2 * noise, 0.0)
    masses[plan.tilt * plan.step * (start + np.arange(size) - center) > _DEEPEST] = 0.0
    lower = tail(inner, plan, start, masses, center)
    rates, logs, mean = _moments(inner, plan.step)
    widest = max(max(map(abs, pair.ends(plan.reach, plan.floor))) for pair, _ in pairs)
    errors = math.fsum(k * (1 + widest) for _, k in pairs) * (1 + plan.levels)
    return Below(
        upper=compose(pairs, plan),
        lower=lower,
        plan=plan,
        sigma=sigma,
        rates=rates,
        logs=logs,
        mean=mean,
        first=start * plan.step,
        width=size * plan.step,
        certain=-math.expm1(math.fsum(k * math.log1p(-_certain(pair)) for pair, k in pairs)),
        shift=errors * _LOSS,
        center=plan.step * center,
    )
