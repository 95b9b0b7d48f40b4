"""Losses on a grid: what a dominating pair must offer, and masses of Gaussian mixtures.

A pair (P, Q) is put on the grid {k * step} by connecting the dots (Doroshenko, Ghazi, Kamath, Kumar
and Manurangsi 2022): what falls between two neighbouring grid points is divided between them so that
its mass under P and its mass under Q are both kept. The result dominates the pair, and nothing on
the grid that dominates it is smaller. Dividing works on each cell alone, so no difference of a curve
is taken and tails keep their relative precision.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr

__all__ = ["Array", "Components", "Lattice", "Pair", "density", "log_mass", "rising_share"]

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
