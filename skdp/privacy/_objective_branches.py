"""Branches of the privacy loss of objective perturbation, and what they add up to.

A branch is a vertex of what the gradients can be: there the loss is an offset plus that of a
Gaussian shift. One record's loss is the largest of its branches, so that their profiles H add up
(docs/proofs/objective_perturbation.md). A unit of several rows loses at most a weighted average of
such losses, which a tangent of 1 - exp(eps - x) prices without a sum over rows
(docs/proofs/units.md, Theorem U).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx, gammaln, logsumexp

from ._divisions import divisions
from ._gaussian import gaussian_delta

__all__ = ["AveragedBranches", "Branches", "least_tangent"]

Array = NDArray[np.float64]

_COMBINATIONS = 4000
_NEWTON, _CLOSE = 12, 1e-7  # most steps, and the relative step after which the rest is rounding
_FAR = 40.0  # deviations at which a normal tail is 0 in double precision
_FAINT, _LOUD = 1e-150, 1e150  # shifts beyond are priced as these: nothing, and delta 1
_ROUND_OFF = 4e-15  # of a mean excess, by 1 + z^2; found: 6e-16


@dataclass(frozen=True)
class Branches:
    """delta(eps) <= largest, over rows of ``shifts``, of sum of counts * H(eps - offset, shift)."""

    counts: Array
    shifts: Array
    offsets: Array

    def repeated(self, times: int) -> Branches | None:
        """Return the branches of so many rounds: each round has its vertex, and shifts add in squares.

        The records, hence the rows of ``shifts``, are the same in all rounds. None if too many.
        """
        kinds = len(self.counts)
        if math.comb(times + kinds - 1, kinds - 1) > _COMBINATIONS:
            return None
        ways = np.array(list(divisions(times, kinds)), dtype=float)
        log_counts = gammaln(times + 1) + (ways * np.log(self.counts) - gammaln(ways + 1)).sum(1)
        if log_counts.max() > 700:
            return None
        squares = self.shifts**2
        if np.isfinite(squares).all():
            together = squares @ ways.T
        else:  # no noise: a vertex that no round takes adds nothing
            together = np.stack([_dot(ways, row) for row in squares])
        return type(self)(np.exp(log_counts), np.sqrt(together), _dot(ways, self.offsets))

    def rdp(self, orders: Array, extra_mu: float) -> Array:
        """Renyi divergence of order a: E exp((a-1) max) is at most the sum over branches."""
        a = orders[:, None, None]
        squares = self.shifts**2 + extra_mu**2
        exponents = (a - 1) * self.offsets + a * (a - 1) * squares / 2 + np.log(self.counts)
        return (logsumexp(exponents, axis=-1) / (orders[:, None] - 1)).max(axis=-1)

    def delta(self, epsilon: Array, extra_mu: float) -> Array:
        """Sum of the branches, each composed with a Gaussian of ``extra_mu``."""
        shifts = np.hypot(self.shifts, extra_mu)
        tails = gaussian_delta(epsilon[..., None, None] - self.offsets, shifts)
        return (tails @ self.counts).max(axis=-1)


class AveragedBranches(Branches):
    """Branches of each row of a unit, whose loss is at most a weighted average of its rows'."""

    def repeated(self, times: int) -> Branches | None:
        """Return the branches of so many rounds, in which a unit may show different rows.

        So a row of ``shifts`` may be another one in each round: each branch takes its largest.
        """
        return super(AveragedBranches, self.worst()).repeated(times)

    def worst(self) -> AveragedBranches:
        """Return branches with a single row of shifts, the largest of all rows in each place."""
        return AveragedBranches(self.counts, self.shifts.max(axis=0)[None, :], self.offsets)

    def delta(self, epsilon: Array, extra_mu: float) -> Array:
        """Theorem U: the best tangent, one for all branches."""
        shifts = np.hypot(self.shifts, extra_mu)
        return least_tangent(epsilon, self.counts, shifts, self.offsets)


def least_tangent(epsilon: Array, counts: Array, shifts: Array, offsets: Array) -> Array:
    """Least over tau >= 0 of the sum of counts * Psi_tau(epsilon - offset, shift), by Newton.

    Psi_tau(e, m) = exp(-tau) E (X - a)_+ with X ~ N(m^2/2, m^2) and a = e + tau + 1 - exp(tau). With
    u = exp(tau) - 1 the sum is stationary where u is the mean excess of the branches above a; u
    minus the mean excess rises, so that there is one minimum. Every tau is valid, so a step that
    is too short loses a little and never lies. The angle (row of ``shifts``) is the worst at each.
    """
    left = epsilon[..., None, None] - offsets
    m = np.clip(shifts, _FAINT, _LOUD)
    u = np.zeros_like(epsilon)
    best = np.full_like(epsilon, np.inf)
    for _ in range(_NEWTON):
        tangent = np.log1p(u) - u
        excess, tail, density = _worst(_above(left + tangent[..., None, None], m) @ counts)
        best = np.fmin(best, excess / (1 + u))
        with np.errstate(all="ignore"):
            mean = excess / tail
            step = (u - mean) / (1 - (1 - mean * density / tail) * u / (1 + u))
        step = np.where(
            np.isfinite(step), step, 0.0
        )  # where all branches underflow, or none has noise
        if (np.abs(step) <= _CLOSE * u).all():
            break
        u = np.maximum(u - step, 0.0)
    return best


def _worst(sums: Array) -> Array:
    """Pick from each array of sums the row of shifts at which the first array is largest."""
    if sums.shape[-1] == 1:
        return sums[..., 0]
    return np.take_along_axis(sums, sums[:1].argmax(axis=-1)[..., None], axis=-1)[..., 0]


def _above(a: Array, m: Array) -> Array:
    """E (X - a)_+, P(X > a) and the density at a of X ~ N(m^2/2, m^2); the first rounded up."""
    mean = m * m / 2
    with np.errstate(over="ignore"):
        z = np.clip((a - mean) / m, -_FAR, _FAR)
    x = np.abs(z)
    normal = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    mills = math.sqrt(math.pi / 2) * erfcx(x / math.sqrt(2))
    beyond = normal * np.maximum(1 - x * mills, 0.0) * (1 + _ROUND_OFF * (1 + x * x))
    excess = m * beyond + np.maximum(mean - a, 0.0) * (1 + _ROUND_OFF)
    tail = normal * mills
    return np.stack([excess, np.where(z < 0, 1 - tail, tail), normal / m])


def _dot(ways: Array, offsets: Array) -> Array:
    """ways @ offsets, where an infinite offset that is not taken counts nothing."""
    with np.errstate(invalid="ignore"):
        return np.where(ways > 0, ways * offsets, 0.0).sum(axis=1)
