"""Registered costs of pure steps on a Poisson sample, and the pairs of laws that dominate them.

Sampling keeps the largest loss at m = log1p(q expm1(epsilon)) and, what a pure step of m would not
tell, the total variation at q tanh(epsilon / 2). With a and b = 1 - a the odds of randomised
response, docs/proofs/poisson_batch.md proves that a step is dominated

* by (b + q(a - b), a - q(a - b)) against (b, a) if its record is removed, and by the reverse if it
  is added: both are attained;
* under replace-one, in both directions, by (b + q(a - b), (1 - q)(a - b), b) against its mirror
  image, whose losses are m, 0 and -m.

Exact profiles of scripts whose losses are finitely many numbers plus one Gaussian.

A pure step is dominated by randomised response, whose loss is +epsilon or -epsilon (Kairouz, Oh and
Viswanath 2015, The composition theorem for differential privacy: this pair is attained, so composing
it is the optimal composition of pure steps). A random position is a public coin that says which
Gaussian is released. So a script of k such steps beside Gaussians is a mixture: with weight w_i the
loss is o_i plus that of a Gaussian of mu_i, and

    delta(eps) = sum_i w_i H(eps - o_i; mu_i),

with binomial weights for equal steps (proof: docs/accounting.md). A pure step on a Poisson sample
has two or three losses (`_sampled_pure`), and others where a record is added than where it is
removed: each direction is a mixture of its own, and the larger delta counts. Every term is positive
and every rounding is upwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arithmetic import divisions
from ._cost_registry import register
from ._costs import inverse_up, pure_mu, pure_profile, pure_renyi
from ._gaussian import gaussian_delta
from ._sampled import log_excess
from ._scipy import betaln, gammaln
from .events import Event, Gaussian, PoissonLaplace, PoissonPure, PureDP, RandomPosition

__all__ = ["Atoms", "Mixture", "amplified", "atoms", "branches", "mixtures"]


Array = NDArray[np.float64]

_OF_A_LOSS = 4e-15  # relative: covers the rounding of a computed loss
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_PANELS = 64
_RESOLVED = 8.0  # order times half a panel, up to which 16 points integrate to round-off


@register(PoissonLaplace, "pure")
def _largest(event: PoissonLaplace, neighbors: str) -> float:
    """Largest loss, rounded up: of a removal, or of a removal and an addition in one."""
    if event.rate == 0 or math.isinf(event.multiplier):
        return 0.0
    shift = inverse_up(event.multiplier)
    if shift > 700:
        return 2 * shift if neighbors == "replace_one" else shift
    out = math.log1p(event.rate * math.expm1(shift))
    if neighbors == "replace_one":
        out += _least_loss(shift, event.rate)
    return out * (1 + _OF_A_LOSS)


def _least_loss(shift: float, rate: float) -> float:
    """-log(1 - q + q e^-shift)."""
    missing = rate * -math.expm1(-shift)
    if missing < 0.5:
        return -math.log1p(-missing)
    return -math.log((1 - rate) + rate * math.exp(-shift))


@register(PoissonLaplace, "gdp")
def _mu(event: PoissonLaplace, neighbors: str) -> float:
    return pure_mu(_largest(event, neighbors))


@register(PoissonLaplace, "zcdp")
def _rho(event: PoissonLaplace, neighbors: str) -> float:
    return _largest(event, neighbors) ** 2 / 2


@register(PoissonLaplace, "rdp")
def _renyi(event: PoissonLaplace, orders: Array, neighbors: str) -> Array:
    """Divergence of the exact pair where quadrature resolves it; of any step of this largest loss beyond.

    Removing costs more than adding, since a reflection exchanges the laws with and without the record (Mironov, Talwar
    and Zhang 2019, Theorem 5).
    """
    out = pure_renyi(_largest(event, neighbors), orders)
    shift = inverse_up(event.multiplier)
    fine = orders * shift / _PANELS <= _RESOLVED
    if 0 < event.rate < 1 and 0 < shift < 300 and fine.any():
        masses, toward, away = _quadrature(shift, event.rate, neighbors == "replace_one")
        a = np.maximum(orders[fine], 1 + 1e-3)[:, None]
        log_ratio = a * np.log1p(toward) + (1 - a) * np.log1p(away)
        logs = log_excess(log_ratio, a * toward + (1 - a) * away) + np.log(masses)
        top = np.clip(logs.max(axis=1, keepdims=True), -1e300, 1e300)
        with np.errstate(divide="ignore", over="ignore"):
            total = np.log(np.exp(logs - top).sum(axis=1)) + top[:, 0]
        exact = np.logaddexp(0.0, total + 1e-13) / (a[:, 0] - 1)
        out[fine] = np.minimum(out[fine], exact)
    return out


@lru_cache(maxsize=64)
def _quadrature(shift: float, rate: float, replaced: bool) -> tuple[Array, Array, Array]:
    """Masses of noise alone, and the ratios of both laws to it, less one: atoms at the ends, panels between them.

    The noise, over its scale, is x. A record at ``shift`` has the log ratio clip(2 x - shift, -shift, shift) there, and
    one at ``-shift`` that of -x.
    """
    edges = np.linspace(0.0, shift, _PANELS + 1)
    half = np.diff(edges)[:, None] / 2
    x = ((edges[1:] + edges[:-1])[:, None] / 2 + half * _POINTS).ravel()
    inner = np.exp(-x) / 2 * (half * _WEIGHTS).ravel()
    far, seen = math.exp(-shift) / 2, rate * np.expm1(2 * x - shift)
    none, most = rate * math.expm1(-shift), rate * math.expm1(shift)
    low = np.full(len(x), none)
    if not replaced:
        masses = np.concatenate([[0.5], inner, [far]])
        toward = np.concatenate([[none], seen, [most]])
        return masses, toward, np.zeros(len(masses))
    masses = np.concatenate([[far], inner, inner, [far]])
    toward = np.concatenate([[none], low, seen, [most]])
    return masses, toward, np.concatenate([[most], seen, low, [none]])


Atoms = tuple[tuple[float, float], ...]  # (loss, mass under P), both rounded up

_UNIT = 2e-15  # relative: covers the rounding of a computed loss or mass
_LEAST = 1e-300  # no mass is counted as less, since logarithms are taken
_LARGE = 300.0  # epsilons beyond which moments are not computed, since they overflow


def amplified(event: PoissonPure) -> float:
    """Largest loss of a step, log1p(q expm1(epsilon)), rounded up."""
    epsilon, rate = event.epsilon, event.rate
    if epsilon > 700:
        grown = epsilon + math.log(rate)
        grown += 2.3e-16 * (epsilon - math.log(rate))
        largest = float(np.logaddexp(math.log1p(-rate), grown))
    else:
        largest = math.log1p(rate * math.expm1(epsilon))
    return min(largest * (1 + _UNIT), epsilon)


def atoms(event: PoissonPure, neighbors: str) -> tuple[Atoms, Atoms]:
    """Losses and their masses where a record is removed, and where one is added."""
    epsilon, rate, largest = event.epsilon, event.rate, amplified(event)
    odds = math.exp(-min(epsilon, 700.0))  # a smaller lie is counted as this one
    truth, lie = 1 / (1 + odds), odds / (1 + odds)
    gap = math.tanh(epsilon / 2)
    top = lie + rate * gap
    lowest = -largest * (1 - 1e-12)  # up, too
    if neighbors == "replace_one":
        both = _raised((largest, top), (0.0, (1 - rate) * gap), (lowest, lie))
        return both, both
    other = _smallest(epsilon, rate)
    removing = _raised((largest, top), (other, (1 - rate) * truth + rate * lie))
    return removing, _raised((-other, truth), (lowest, lie))


def _smallest(epsilon: float, rate: float) -> float:
    """log(1 - q + q e^-epsilon), the loss of the other answer."""
    missing = rate * -math.expm1(-epsilon)
    if missing < 0.5:
        return math.log1p(-missing)
    return math.log((1 - rate) + rate * math.exp(-epsilon))


def _raised(*pairs: tuple[float, float]) -> Atoms:
    return tuple(
        (loss + _UNIT * abs(loss), max(mass, _LEAST) * (1 + _UNIT / 2)) for loss, mass in pairs
    )


@register(PoissonPure, "pure")
def _sampled_epsilon(event: PoissonPure, neighbors: str) -> float:
    if event.rate in (0.0, 1.0):
        return event.epsilon if event.rate else 0.0  # infinity times 0 is no number
    return amplified(event)


@register(PoissonPure, "gdp")
def _sampled_mu(event: PoissonPure, neighbors: str) -> float:
    return pure_mu(_sampled_epsilon(event, neighbors))


@register(PoissonPure, "zcdp")
def _sampled_rho(event: PoissonPure, neighbors: str) -> float:
    return _sampled_epsilon(event, neighbors) ** 2 / 2


@register(PoissonPure, "profile")
def _sampled_profile(
    event: PoissonPure, epsilon: Any, neighbors: str, extra_mu: float = 0.0
) -> Any:
    """The larger of both directions, each averaged over the loss of the step."""
    if event.rate in (0.0, 1.0) or math.isinf(event.epsilon):
        return pure_profile(_sampled_epsilon(event, neighbors), epsilon, extra_mu)
    eps = np.asarray(epsilon, float)
    sums = [
        sum(mass * gaussian_delta(eps - loss, extra_mu) for loss, mass in side)
        for side in atoms(event, neighbors)
    ]
    return np.minimum(np.max(sums, axis=0), 1.0)[()]


@register(PoissonPure, "rdp")
def _sampled_renyi(event: PoissonPure, orders: Array, neighbors: str) -> Array:
    """Divergence of the pair of three answers, which dominates that of two; of two if that is all.

    Removing a record costs more than adding one, since randomised response is symmetric (Mironov,
    Talwar and Zhang 2019, Theorem 5).
    """
    largest = _sampled_epsilon(event, neighbors)
    out = pure_renyi(largest, orders)
    if event.rate in (0.0, 1.0) or event.epsilon > _LARGE or largest < _LEAST:
        return out
    out = np.minimum(out, _three_renyi(event, largest, orders))
    if neighbors == "add_remove":
        out = np.minimum(out, _two_renyi(event, orders))
    return out


def _three_renyi(event: PoissonPure, largest: float, orders: Array) -> Array:
    """1 + 2 q tanh(eps/2) sinh(a m/2) sinh((a-1) m/2) / sinh(m/2), as a logarithm over a - 1."""
    log_gap = math.log(2 * event.rate) + math.log(math.tanh(event.epsilon / 2))
    log_gap = log_gap + _log_sinh(orders * largest / 2) + _log_sinh((orders - 1) * largest / 2)
    log_gap = log_gap - _log_sinh(np.float64(largest / 2))
    return np.asarray(np.logaddexp(0.0, log_gap * (1 + 0 * orders)) / (orders - 1))


def _log_sinh(x: Any) -> Any:
    return x + np.log(-np.expm1(-2 * x)) - math.log(2)


def _two_renyi(event: PoissonPure, orders: Array) -> Array:
    """Mean under Q of (P/Q)^a - 1 - a (P/Q - 1), whose last part has mean zero; rounded up."""
    odds = math.exp(-event.epsilon)
    masses = (odds / (1 + odds), 1 / (1 + odds))
    rises = (event.rate * math.expm1(event.epsilon), event.rate * math.expm1(-event.epsilon))
    losses = (math.log1p(rises[0]), _smallest(event.epsilon, event.rate))
    total = np.full(len(orders), -np.inf)
    for mass, rise, loss in zip(masses, rises, losses):
        total = np.logaddexp(total, math.log(mass) + _excess(orders, rise, loss))
    return np.asarray(np.logaddexp(0.0, total) / (orders - 1))


def _excess(orders: Array, rise: float, loss: float) -> Array:
    """log of (1 + rise)^a - 1 - a rise, rounded up: a difference, or where it has no digits a series."""
    log_ratio, tangent = orders * loss, orders * rise
    top = np.maximum(log_ratio, 0.0)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        scale = np.where(log_ratio > 1, top + np.log1p(top), np.log(np.abs(tangent)))
        apart = np.logaddexp(log_excess(log_ratio, tangent), math.log(_UNIT) + scale)
        rest = np.ones(len(orders))
        for k in range(12, 1, -1):
            rest = 1 + (orders - k) * rise / (k + 1) * rest
        series = np.log(orders * (orders - 1) / 2 * rest) + 2 * math.log(abs(rise)) + 1e-13
    return np.asarray(np.where(np.abs(tangent) < 0.01, series, apart))


_MOST, _MOST_GAUSSIAN = 2**15, 256  # branches of a cheap script, without and with a Gaussian
_ROUND_OFF = 1e-15


@dataclass(frozen=True)
class Mixture:
    """Branches of a composed loss: weight, offset, and squared mu of the Gaussian beside it."""

    weights: Array
    offsets: Array
    squares: Array

    def beside(self, other: Mixture) -> Mixture:
        """Both released: weights multiply, losses and squared mu add."""
        return Mixture(
            np.multiply.outer(self.weights, other.weights).ravel(),
            np.add.outer(self.offsets, other.offsets).ravel(),
            np.add.outer(self.squares, other.squares).ravel(),
        )

    def delta(self, epsilon: float, curve: Callable[[Any, float], Any] | None = None) -> float:
        """Delta at any real epsilon; ``curve(epsilon, mu)`` prices one more release with a Gaussian."""
        if math.isinf(self.offsets.max()):
            return 1.0
        left = epsilon - self.offsets
        if curve is not None:
            mu = float(np.sqrt(self.squares.max()))  # one Gaussian: all branches have the same
            values = curve(left, mu)
        elif self.squares.any():
            values = gaussian_delta(left, np.sqrt(self.squares))
        else:
            values = -np.expm1(np.minimum(left, 0.0))
        return min(float(self.weights @ values) * (1 + len(left) * _ROUND_OFF), 1.0)


def branches(counts: dict[Event, int], neighbors: str) -> float:
    """Count the branches that one of `mixtures` would take; infinite where an event is of another kind."""
    total = 1.0
    for event, count in counts.items():
        kinds = _kinds(event, neighbors)
        total *= math.inf if math.isinf(kinds) else math.comb(count + int(kinds) - 1, count)
    wide = any(not isinstance(event, (PureDP, PoissonPure)) for event in counts)
    return total if total <= (_MOST_GAUSSIAN if wide else _MOST) else math.inf


def _kinds(event: Event, neighbors: str) -> float:
    """Count the values that the loss of one event may take, a Gaussian's counted as one."""
    if isinstance(event, PoissonPure):
        return len(atoms(event, neighbors)[0])
    return _KINDS.get(type(event), lambda event: math.inf)(event)


_KINDS: dict[type[Event], Callable[[Any], float]] = {
    Gaussian: lambda event: 1,
    PureDP: lambda event: 2,
    RandomPosition: lambda event: len(event.weights),
}


@lru_cache(maxsize=256)
def mixtures(runs: tuple[tuple[Event, int], ...], neighbors: str) -> tuple[Mixture, ...]:
    """The mixtures of a reduced script of pure steps, sampled or not, Gaussians and random positions.

    One for each direction, removing a record and adding it, or one alone if they are the same.
    """
    sampled = any(isinstance(event, PoissonPure) for event, _ in runs)
    directions = (0, 1) if sampled and neighbors == "add_remove" else (0,)
    return tuple(_directed(runs, neighbors, direction) for direction in directions)


def _directed(runs: tuple[tuple[Event, int], ...], neighbors: str, direction: int) -> Mixture:
    whole = Mixture(np.ones(1), np.zeros(1), np.zeros(1))
    for event, count in runs:
        if isinstance(event, PoissonPure):
            part = _sampled(atoms(event, neighbors)[direction], count)
        else:
            part = _repeated(event, count)
        whole = whole.beside(part)
    return whole


def _sampled(losses: Atoms, count: int) -> Mixture:
    """``count`` steps of a few losses each, with multinomial weights."""
    ways = np.array(list(divisions(count, len(losses))), dtype=float)
    values, masses = np.array(losses).T
    logs = ways * np.log(masses)
    terms = np.column_stack([logs, -gammaln(ways + 1), np.full(len(ways), gammaln(count + 1.0))])
    round_off = _ROUND_OFF * (np.abs(terms).sum(axis=1) + 10)
    weights = np.exp(terms.sum(axis=1) + round_off)
    offsets = ways @ values + _ROUND_OFF * (ways @ np.abs(values))
    return Mixture(weights, offsets, np.zeros(len(ways)))


def _repeated(event: Any, count: int) -> Mixture:
    if isinstance(event, PureDP):
        return _responses(event.epsilon, count)
    if isinstance(event, Gaussian):
        return Mixture(np.ones(1), np.zeros(1), np.array([count * _square(event.multiplier)]))
    ways = np.array(list(divisions(count, len(event.weights))), dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(ways > 0, ways * np.log(event.weights), 0.0) - gammaln(ways + 1)
    weights = np.exp(gammaln(count + 1) + logs.sum(axis=1)) * (1 + 1e-12)
    squares = np.array([_square(m) for m in event.multipliers])
    with np.errstate(invalid="ignore"):
        taken = np.where(ways > 0, ways * squares, 0.0).sum(axis=1)
    live = weights > 0
    return Mixture(weights[live], np.zeros(int(live.sum())), taken[live])


def _responses(epsilon: float, count: int) -> Mixture:
    """``count`` randomised responses: j of them lose -epsilon, with binomial weights."""
    if math.isinf(epsilon):
        return Mixture(np.ones(1), np.array([math.inf]), np.zeros(1))
    lies = np.arange(count + 1)
    # log of the odds of a lie, and of the truth; the logs below are right to a few units of `count`.
    truth = -math.log1p(math.exp(-epsilon))
    logs = lies * (truth - epsilon) + (count - lies) * truth
    logs -= betaln(count - lies + 1.0, lies + 1.0) + math.log1p(count)
    weights = np.exp(logs) * (1 + 1e-14 * (count + 400))
    offsets = (count - 2.0 * lies) * epsilon + 2 * _ROUND_OFF * count * epsilon
    return Mixture(
        np.asarray(weights, np.float64), np.asarray(offsets, np.float64), np.zeros(count + 1)
    )


def _square(multiplier: float) -> float:
    return math.inf if multiplier == 0 else multiplier**-2
