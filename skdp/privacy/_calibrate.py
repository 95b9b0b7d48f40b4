"""Calibrate a noise scale to a target (epsilon, delta): in closed form where there is one, else by a bracketed root."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from ..exceptions import NotSupported
from ._arithmetic import round_up
from ._compose import exact_mu, reduced
from ._engines import ENGINES
from ._gaussian import gaussian_mu
from ._scipy import brentq
from .events import (
    BoundedRange,
    Event,
    Gaussian,
    PoissonGaussian,
    RandomAllocation,
    Script,
    scaled,
)
from .spec import Spec

__all__ = ["calibrate_scale"]

Price = Callable[[Script, float, str, str], float]
Scripts = Callable[[float], Script]

_RELATIVE = 1e-8
_HAIR = 1 - 2**-47  # scales are rounded up, by more than pure prices read as decimals give away
_COARSE = 1e-2
_STEP = math.log(4)
_WIDEST = 1e15
# Prices of a root at most: one on a grid has steps, and a root at a step is never found. Where the
# bracket is wide, twelve would leave it a thousandth wide.
_TRIALS, _MORE_TRIALS = 12, 60
_EXACT = ("auto", "gdp", "profile")


def calibrate_scale(script_at: Scripts, spec: Spec, accountant: str, price: Price) -> float:
    """Smallest scale that keeps the promise; verified on the script that will really run."""
    if not spec.private:
        return 0.0

    def keeps(scale: float) -> bool:
        return price(script_at(scale), spec.delta, spec.neighbors, accountant) <= spec.epsilon

    unit = script_at(1.0)
    if all(event.scalable for event, _ in unit):
        scale = _scale_of(unit, spec, accountant, price)
        for round_off in (0.0, 1e-12, 1e-10):  # script_at may round the scale differently
            if keeps(scale * (1 + round_off)):
                return scale * (1 + round_off)
    return _search(script_at, _tightened(spec), accountant, price)


def _tightened(spec: Spec) -> Spec:
    return replace(spec, epsilon=spec.epsilon * _HAIR)


@lru_cache(maxsize=1024)
def _scale_of(unit: Script, spec: Spec, accountant: str, price: Price) -> float:
    """Scale of a script whose every event scales with it."""
    spec = _tightened(spec)
    mu = exact_mu(reduced(unit, spec.neighbors))
    if mu is not None and accountant in _EXACT:
        budget = gaussian_mu(spec.epsilon, spec.delta)
        if mu == 0:
            return 0.0
        if budget > 0:
            return mu / budget * (1 + 3e-12)
    start, step = _rough_scale(unit, spec, accountant)
    return _search(lambda scale: scaled(unit, scale), spec, accountant, price, start, step)


def _rough_scale(unit: Script, spec: Spec, accountant: str) -> tuple[float, float]:
    """Log of a scale to start from and a step around it: cheap on a coarse loss distribution."""
    counts = reduced(unit, spec.neighbors)
    if accountant not in ("auto", "pld") or not ENGINES["pld"].supports(counts, spec.neighbors):
        return 0.0, _STEP
    rough = tuple(_rough(event, count) for event, count in unit)

    def coarse(script: Script, delta: float, neighbors: str, accountant: str) -> float:
        from ._pld import epsilon

        return float(epsilon(script, delta, neighbors, accuracy=_COARSE))

    try:
        scale = _search(lambda s: scaled(rough, s), spec, accountant, coarse, relative=_COARSE / 10)
    except NotSupported:
        return 0.0, _STEP
    return math.log(scale), _COARSE if rough == unit else 5 * _COARSE


def _rough(event: Event, count: int) -> tuple[Event, int]:
    """An event of about the same cost, priced faster: Poisson batches for allocated ones, noise for selections."""
    if isinstance(event, RandomAllocation):
        return PoissonGaussian(event.multiplier, 1 / event.batches), count * event.batches
    if isinstance(event, BoundedRange) and count > 1:
        return Gaussian(2 / event.epsilon if event.epsilon else math.inf), count
    return event, count


def _search(
    script_at: Scripts,
    spec: Spec,
    accountant: str,
    price: Price,
    start: float = 0.0,
    step: float = _STEP,
    relative: float = _RELATIVE,
) -> float:
    """Bracket, then root in logs: log epsilon is close to linear in the log of the scale."""
    target, kept = math.log(spec.epsilon), [math.inf]

    def excess(log_scale: float) -> float:
        script = script_at(math.exp(log_scale))
        epsilon = price(script, spec.delta, spec.neighbors, accountant)
        if epsilon <= spec.epsilon:
            kept.append(log_scale)
        over = min(math.log(max(epsilon, 1e-300)) - target, 700.0)
        # Logarithms round: an epsilon one unit in the last place too large must not look kept.
        return min(over, 0.0) if epsilon <= spec.epsilon else max(over, 1e-16)

    bracket = _bracket(excess, start, step)
    if bracket is None:
        raise NotSupported(
            f"No noise scale brings the script down to epsilon={round_up(spec.epsilon)} at "
            f"delta={round_up(spec.delta)}; {'raise epsilon' if spec.delta > 0 else 'give a positive delta'}."
        )
    low, high = bracket
    if excess(low) <= 0:  # even almost no noise is enough
        return math.exp(low)
    trials = _TRIALS if high - low < 0.1 else _MORE_TRIALS
    root = brentq(excess, low, high, xtol=relative, rtol=1e-14, maxiter=trials, disp=False)
    step = relative
    while root < min(kept) and excess(root) > 0:
        root, step = root + step, 2 * step
    return math.exp(min(kept))


def _bracket(
    excess: Callable[[float], float], start: float, step: float
) -> tuple[float, float] | None:
    """Logs of a scale that is too small and one that is large enough, by growing steps."""
    limit = math.log(_WIDEST)
    costly = excess(start) > 0
    edge = start
    while abs(edge) < limit:
        last, edge = edge, edge + (step if costly else -step)
        if (excess(edge) > 0) != costly:
            return (last, edge) if costly else (edge, last)
        step *= 1.5
    return None if costly else (edge, start)
