"""Shares of an adaptive solver's allowance, in any currency of its filter.

A solver knows no theorem: it only may ask which part of the whole allowance a question would take. Prices are public.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..exceptions import NotSupported
from ..mechanisms import Count, Gradient
from ..mechanisms._mechanism import Mechanism
from ._solver import Answering, Task

__all__ = ["Allowance"]

_CLOSE = 1e-9  # how near to the allowed price a scale is good enough
_SHORT, _LONG = -30.0, 30.0  # logarithms between which a noise scale is looked for


class Allowance:
    """The allowance of a filter that nothing has been spent of.

    Parameters
    ----------
    oracle : Oracle
        Tells what things cost.
    task : Task
        Whose gradients are the measure.
    """

    def __init__(self, oracle: Answering, task: Task) -> None:
        self._oracle = oracle
        unit = Gradient(at=np.zeros(task.shape), loss=task.loss, clip=1.0, multiplier=1.0)
        # Gaussian answers cost as 1/multiplier^2 in every filter's currency.
        self.whole = math.sqrt(oracle.share(unit))
        # Shares that add up to the whole are affordable together, whatever has been rounded.
        self._rounded_up = 1.0 + 1e-7

    @property
    def unlimited(self) -> bool:
        """True if nothing is promised, so that nothing costs."""
        return self.whole == 0.0

    def gaussian(self, share: float) -> float:
        """Multiplier of a Gaussian answer about all records that takes this share."""
        return self.whole * self._rounded_up / math.sqrt(share)

    def range(self, share: float) -> float:
        """Bounded range of a selection about all records that takes this share: b^2/8 against mu^2/2."""
        if self.unlimited:
            return math.inf
        return 2.0 * self._oracle.public.sensitivity_factor / self.gaussian(share)

    def noise(self, share: float, question: Callable[[float], Mechanism]) -> float:
        """Smallest scale s at which ``question(s)`` takes no more than this share."""
        scale = _least(lambda scale: self._oracle.share(question(scale)), share)
        return scale * self._rounded_up

    def count(self, share: float = 0.01) -> float:
        """The public number of records, or a noisy one that takes this share; never below 1."""
        if self._oracle.public.n is not None:
            return float(self._oracle.public.n)
        multiplier = self.gaussian(share) / self._oracle.public.sensitivity_factor
        return max(1.0, float(self._oracle.ask(Count(multiplier=multiplier))))


def _least(price: Callable[[float], float], allowed: float) -> float:
    """Smallest noise scale whose price, which falls with it, is at most what is allowed; 0 where all are.

    Secant steps on logarithms, of which prices are nearly linear functions, and bisection where they leave the bracket
    or the price jumps.
    """
    if price(math.exp(_SHORT)) <= allowed:
        return 0.0
    aim = math.log(allowed) - 0.5 * _CLOSE

    def excess(t: float) -> float:
        at = price(math.exp(t))
        return math.log(at) - aim if at > 0.0 else -math.inf

    if not price(math.exp(_LONG)) <= allowed:
        raise NotSupported(
            "epsilon is too small for a line search; raise epsilon or delta, or use solver='gd'."
        )

    low, high, above, below = _bracket(excess)
    for k in range(100):
        if below >= -_CLOSE or high - low < 1e-12:
            break
        middle = low + (high - low) * above / (above - below) if k % 3 < 2 else math.nan
        if not low < middle < high:
            middle = 0.5 * (low + high)
        at = excess(middle)
        # Half a tolerance too costly is still within what is allowed.
        low, high, above, below = (
            (middle, high, at, below) if at > 0.5 * _CLOSE else (low, middle, above, at)
        )
    return math.exp(high)


def _bracket(excess: Callable[[float], float]) -> tuple[float, float, float, float]:
    """Two logarithms of scales, too costly and affordable, with their excesses."""
    t, step, at = 0.0, 0.5, excess(0.0)
    towards = 1.0 if at > 0.0 else -1.0
    while True:
        beyond = min(max(t + towards * step, _SHORT), _LONG)
        there = excess(beyond)
        if (there > 0.0) != (at > 0.0) or beyond in (_SHORT, _LONG):
            break
        t, at, step = beyond, there, 2.0 * step
    return (t, beyond, at, there) if towards > 0.0 else (beyond, t, there, at)
