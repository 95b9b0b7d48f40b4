"""A number between declared bounds as a few functions of it: an additive model with a linear estimator behind it.

Hats. At k uniform knots of [-1, 1] the hat functions are at least 0 and add up to 1, so the block has norm at most 1.

Smooth. With h(u) the hats at 17 knots k_j, the kernel

    K = (1 - l) P [ (1/4) sum over L in {3, 5, 9, 17} of T_L T_L' ] P + l k k',    P = I - 11'/17, l = 1/4,

where row j of T_L holds the L hats at k_j, prefers the line and then what is smooth. Its first r eigenvectors, times
the roots of their eigenvalues, are a curve h(u) R in r dimensions; divided by its own length it lies on the unit
sphere. So the block has norm 1, and a fit spends no length on where a column is dense.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ._blocks import INDICATOR
from ._cells import Array
from ._declaration import Numbers
from ._scaling import unit_interval

__all__ = ["HatsBlock", "SmoothBlock"]

KNOTS, LINE = 17, 0.25
SHORTEST = 0.3  # of a curve's point before it is put on the sphere; the least there is is .46
SLACK = 1.0 - 2.0**-48  # for the rounding of a sum of a few squares


@dataclass(frozen=True)
class _CurveBlock:
    """A piecewise linear curve over uniform knots of [-1, 1]."""

    declared: Numbers
    size: int
    missing: float | str = 0.0

    squared: ClassVar[float] = 1.0

    @property
    def points(self) -> Array:
        """The curve at the knots, a row each."""
        raise NotImplementedError

    @property
    def width(self) -> int:
        """Coordinates, and a mark for missing numbers if wanted."""
        return self.size + (self.missing == INDICATOR)

    def names(self, column: str) -> list[str]:
        """The column with the number of a coordinate."""
        told = [f"{column}~{j}" for j in range(1, self.size + 1)]
        return [*told, f"{column}=missing"][: self.width]

    def write(self, column: ArrayLike, out: Array) -> None:
        """The curve where the number is, a coordinate at a time."""
        unit = unit_interval(column, self.declared)
        absent = np.isnan(unit)
        marked = self.missing == INDICATOR
        unit[absent] = 0.0 if marked else float(self.missing)
        along = (unit + 1.0) * ((len(self.points) - 1) / 2.0)
        left = np.minimum(along.astype(np.intp), len(self.points) - 2)
        share = along - left
        for j, at in enumerate(self.points.T):
            out[:, j] = (1.0 - share) * at[left] + share * at[left + 1]
        self.finish(out[:, : self.size])
        if marked:
            out[absent] = 0.0
            out[:, self.size] = absent

    def finish(self, curve: Array) -> None:
        """Finish the points in place, each by itself."""


@dataclass(frozen=True)
class HatsBlock(_CurveBlock):
    """Hat functions at `size` uniform knots.

    Parameters
    ----------
    declared : Numbers
        Bounds and scale.
    size : int
        Knots.
    missing : float or "indicator"
        As for a `NumberBlock`.
    """

    @property
    def paired(self) -> int:
        """Number of coordinates that enter products: all of them."""
        return self.size

    @cached_property
    def points(self) -> Array:
        """A 1 at each knot."""
        return np.eye(self.size)

    def finish(self, curve: Array) -> None:
        """A little shorter, so that no rounding passes 1."""
        curve *= SLACK


@dataclass(frozen=True)
class SmoothBlock(_CurveBlock):
    """The spectral curve on the sphere, in `size` dimensions.

    Parameters
    ----------
    declared : Numbers
        Bounds and scale.
    size : int
        Dimensions.
    missing : float or "indicator"
        As for a `NumberBlock`.
    """

    @property
    def paired(self) -> int:
        """The first two, the smoothest, enter products."""
        return min(self.size, 2)

    @property
    def points(self) -> Array:
        """Points of the curve before it is put on the sphere."""
        return _spectral(self.size)

    def finish(self, curve: Array) -> None:
        """Put the points on the sphere."""
        squares = np.zeros(len(curve))
        for coordinate in curve.T:
            squares += np.square(coordinate, dtype=np.float64)
        length = np.maximum(np.sqrt(squares), SHORTEST) / SLACK
        for coordinate in curve.T:
            coordinate /= length


@lru_cache(maxsize=32)
def _spectral(rank: int) -> Array:
    """The curve at the knots, the smoothest coordinate first; the sign is that of the last knot."""
    knots = np.linspace(-1.0, 1.0, KNOTS)
    centred = np.eye(KNOTS) - 1.0 / KNOTS
    hats = np.hstack([_hats(knots, level) / 2.0 for level in (3, 5, 9, 17)])
    kernel = (1.0 - LINE) * centred @ hats @ hats.T @ centred + LINE * np.outer(knots, knots)
    values, vectors = np.linalg.eigh(kernel)
    first = np.argsort(-values, kind="stable")[:rank]
    curve = vectors[:, first] * np.sqrt(np.maximum(values[first], 0.0))
    curve *= np.where(curve[-1] < 0, -1.0, 1.0)
    curve /= np.sqrt(np.square(curve).sum(axis=1)).max()
    curve.setflags(write=False)
    return curve


def _hats(u: Array, size: int) -> Array:
    """Hat functions at uniform knots."""
    step = 2.0 / (size - 1)
    return np.maximum(0.0, 1.0 - np.abs(u[:, None] - np.linspace(-1.0, 1.0, size)) / step)
