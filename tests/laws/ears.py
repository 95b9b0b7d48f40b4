"""A noise source that adds nothing and writes down what it was given: statistics, and the noise they were to meet."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from skdp.mechanisms import Noise


@dataclass
class Heard:
    """One statistic on its way to the noise.

    Parameters
    ----------
    kind : {"gaussian", "radial", "largest", "first_above"}
        Which noise it was to meet.
    statistic : ndarray
        The doubles that were handed in.
    scale : Lattice, float or ndarray
        What noise was asked for: a lattice, the Gumbel's scale, or scales of the queries and of the threshold.
    """

    kind: str
    statistic: Any
    scale: Any


class Ear(Noise):
    """Hands statistics back as they are; batches and orders are drawn as always, or are those that it was given.

    Parameters
    ----------
    batch : ndarray or None
        The batch that will be drawn, once: whoever draws again has thrown a batch away.
    linear : ndarray or None
        The tilt that will be drawn.
    """

    def __init__(self, seed=0, batch=None, linear=None):
        super().__init__(seed)
        self.batch, self.linear, self.heard, self.draws = batch, linear, [], 0

    def gaussian(self, statistic, grid):
        """The statistic itself."""
        self.heard.append(Heard("gaussian", np.array(statistic, dtype=np.float64), grid))
        return statistic

    def radial(self, statistic, grid):
        """The statistic itself."""
        self.heard.append(Heard("radial", np.array(statistic, dtype=np.float64), grid))
        return statistic

    def linear_term(self, shape, grid, pure=False):
        """The tilt that was given, or one that is drawn as always."""
        self.heard.append(Heard("radial" if pure else "gaussian", np.zeros(shape), grid))
        source = Noise(0)
        return source.linear_term(shape, grid, pure) if self.linear is None else self.linear

    def largest(self, scores, scale):
        """The largest score."""
        self.heard.append(Heard("largest", np.array(scores), scale))
        return int(np.argmax(scores))

    def first_above(self, totals, demands, own, shared):
        """None passes, so that all are asked."""
        self.heard.append(Heard("first_above", np.array(list(totals)), np.array([own, shared])))
        return len(demands)

    def poisson_batch(self, n, rate):
        """The batch that was given."""
        return super().poisson_batch(n, rate) if self.batch is None else self._handed_out()

    def subset(self, n, size):
        """The batch that was given."""
        return super().subset(n, size) if self.batch is None else self._handed_out()

    def allocation(self, n, batches):
        """The batch that was given, as the first one."""
        if self.batch is None:
            return super().allocation(n, batches)
        return np.isin(np.arange(n), self._handed_out(), invert=True).astype(int)

    def _handed_out(self):
        self.draws += 1
        assert self.draws == 1, "a batch was thrown away, and another one drawn in its place"
        return self.batch


def hear(question, records, **given):
    """All that the question hands to the noise, with nothing hidden by an early yes."""
    ear = Ear(**given)
    question.answer(records, ear)
    return ear.heard
