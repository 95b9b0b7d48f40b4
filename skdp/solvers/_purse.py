"""How an adaptive solver shares out what its filter allows, in any of the filters' currencies.

A solver knows no theorem: it only may ask whether questions could be paid. Gaussian answers cost as 1/multiplier^2 in
every filter's currency, so the multiplier at which one gradient takes everything tells the whole allowance, and the
noise at which any other question takes a given share is where a gradient with the rest of it is just affordable.
Both are found by bisection on prices, which are public.
"""

from __future__ import annotations

import math

import numpy as np

from ..mechanisms import Count, Gradient

__all__ = ["Purse"]

_BISECTIONS = 45


class Purse:
    """The allowance of a filter that nothing has been spent of.

    Parameters
    ----------
    oracle : Oracle
        Tells what is affordable.
    task : Task
        Whose gradients are the measure.
    """

    def __init__(self, oracle, task):
        self._oracle = oracle
        self._probe = lambda scale: Gradient(
            at=np.zeros(task.shape), loss=task.loss, clip=1.0, multiplier=scale
        )
        self.whole = _cheapest(lambda scale: oracle.affords(self._probe(scale)))
        # Shares that add up to the whole are affordable together, whatever bisection has rounded.
        self._rounded_up = 1.0 + 1e-7
        self._spent = 0.0

    @property
    def unlimited(self):
        """Whether nothing is promised, so that nothing costs."""
        return self.whole == 0.0

    def gaussian(self, share):
        """Multiplier of a Gaussian answer about all records that takes this share."""
        return self.whole * self._rounded_up / math.sqrt(share)

    def range(self, share):
        """Bounded range of a selection about all records that takes this share: b^2/8 against mu^2/2."""
        if self.unlimited:
            return math.inf
        return 2.0 * self._oracle.public.swing / self.gaussian(share)

    def noise(self, share, question):
        """Smallest scale s at which ``question(s)`` takes no more than this share, asked before the run begins."""
        rest = self._probe(self.whole / math.sqrt(1.0 - self._spent - share))
        affordable = _cheapest(lambda scale: self._oracle.affords(question(scale), rest))
        return affordable * self._rounded_up

    def count(self, share=0.01):
        """The public number of records, or a noisy one that takes this share; never below 1."""
        if self._oracle.public.n is not None:
            return float(self._oracle.public.n)
        multiplier = self.gaussian(share) / self._oracle.public.swing
        self._spent += share
        return max(1.0, float(self._oracle.ask(Count(multiplier=multiplier))))


def _cheapest(affordable):
    """Smallest noise scale that is affordable, to one part in 10^12; 0 where all are."""
    low, high = -30.0, 30.0
    if affordable(math.exp(low)):
        return 0.0
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if affordable(math.exp(middle)) else (middle, high)
    return math.exp(high)
