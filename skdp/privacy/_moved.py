"""Registered costs of Gaussian noise on a sum that moves by a random number of contributions, and their pairs."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ._cost_registry import register
from ._costs import inverse_up
from ._sampled import log_excess, where_resolved
from ._scipy import logsumexp
from .events import MixtureOfGaussians

__all__ = ["parts"]

Array = NDArray[np.float64]
Weights = tuple[float, ...]

_UNIT = 1e-15
_NODES = 8192


def parts(event: MixtureOfGaussians, neighbors: str) -> tuple[float, Weights, Weights, Weights]:
    """Largest move, all moves as parts of it, from 0 on, and their probabilities with the one record and the other.

    Moves that nobody makes are left out. Under replace-one either record may be the one in each step, so both move as
    far as the one that moves farther.
    """
    chances = {0.0: [0.0, 0.0]}
    back = event.back or (event.weights if neighbors == "replace_one" else ())
    for side, weights in enumerate((event.weights, back)):
        for move, weight in zip(event.moves, weights):
            if weight > 0:
                chances.setdefault(move, [0.0, 0.0])[side] += weight
    if not back:
        chances[0.0][1] = 1.0
    moves = tuple(sorted(chances))
    most = moves[-1]
    up, down = (tuple(chances[m][side] for m in moves) for side in (0, 1))
    if neighbors == "replace_one" and up != down:
        up = down = _farther(up, down)
    return most, tuple(m / most if most else 0.0 for m in moves), up, down


def _farther(one: Weights, other: Weights) -> Weights:
    """Probabilities of rising moves, each of which is passed as often as under the one law or the other."""
    tails = [max(math.fsum(side[i:]) for side in (one, other)) for i in range(len(one))]
    out, above = [], 0.0
    for tail in tails[:0:-1]:
        tail = min(max(tail, above), 1.0)
        out.append(tail - above)
        above = tail
    return (1.0 - above, *out[::-1])


def furthest(event: MixtureOfGaussians, neighbors: str) -> float:
    """Largest distance of the two means, in contributions."""
    most, moves, up, down = parts(event, neighbors)
    return most * math.fsum(max(m for m, w in zip(moves, side) if w) for side in (up, down))


@register(MixtureOfGaussians, "gdp")
def _mu(event: MixtureOfGaussians, neighbors: str) -> float:
    """Distance of the means of a unit that moves as far as it can."""
    far = furthest(event, neighbors)
    return far * inverse_up(event.multiplier) * (1 + _UNIT) if far else 0.0


@register(MixtureOfGaussians, "zcdp")
def _rho(event: MixtureOfGaussians, neighbors: str) -> float:
    return _mu(event, neighbors) ** 2 / 2


@register(MixtureOfGaussians, "rdp")
def _renyi(event: MixtureOfGaussians, orders: Array, neighbors: str) -> Array:
    """Divergence of the worse direction, by quadrature where it resolves the integrand.

    The mixtures, as functions of a complex x, have no zero where every term has a positive real part: up to a distance
    of pi / (2 m) from the line, m the largest mean in sd.
    """
    mu = _mu(event, neighbors)
    unsampled = orders * mu**2 / 2
    if mu == 0 or not 1e-9 < mu < 1e3:
        return unsampled
    most, moves, up, down = parts(event, neighbors)
    means = np.array(moves) * most / event.multiplier
    step = min(1 / 3, 0.275 / means[-1])
    first = -(means[-1] + 12)
    reach = (2 * means[-1] * orders + 24) / step
    x = first + step * np.arange(_NODES)
    log_weight = math.log(step) - math.log(2 * math.pi) / 2 - x**2 / 2
    out = np.zeros(len(orders))
    for one, other in ((up, down), (down, up)):
        ratios = (*_ratio(means, np.array(one), x), *_ratio(-means, np.array(other), x))
        log_moment = partial(_log_moment, ratios, log_weight)
        out = np.maximum(out, where_resolved(log_moment, orders, reach, unsampled))
    return out


def _log_moment(ratios: tuple[Array, ...], log_weight: Array, a: Array, nodes: int) -> Array:
    """log of the mean, under noise alone, of the one ratio to the order times the other to one minus it."""
    toward, log_toward, away, log_away = (ratio[:nodes] for ratio in ratios)
    log_ratio = a * log_toward + (1 - a) * log_away
    excess = log_excess(log_ratio, a * toward + (1 - a) * away)
    return np.asarray(np.logaddexp(0.0, logsumexp(excess + log_weight[:nodes], axis=1)))


def _ratio(means: Array, weights: Array, x: Array) -> tuple[Array, Array]:
    """A mixture's density over that of noise alone, less one, and its log."""
    exponents = means[:, None] * (x - means[:, None] / 2)
    rise = weights @ np.expm1(np.minimum(exponents, 700.0))
    with np.errstate(divide="ignore"):
        far = logsumexp(exponents + np.log(weights)[:, None], axis=0)
    near = exponents.max(axis=0) < 30.0
    return rise, np.where(near & (rise > -0.99), np.log1p(np.maximum(rise, -0.99)), far)
