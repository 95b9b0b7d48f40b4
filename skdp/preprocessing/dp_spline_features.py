"""Declared columns to smooth functions of them: a private additive model in one step.

A number between declared bounds as a few functions of it: an additive model with a linear estimator behind it.

Hats. At k uniform knots of [-1, 1] the hat functions are at least 0 and add up to 1, so the block has norm at most 1.

Smooth. With h(u) the hats at 17 knots k_j, the kernel

    K = (1 - l) P [ (1/4) sum over L in {3, 5, 9, 17} of T_L T_L' ] P + l k k',    P = I - 11'/17, l = 1/4,

where row j of T_L holds the L hats at k_j, prefers the line and then what is smooth. Its first r eigenvectors, times
the roots of their eigenvalues, are a curve h(u) R in r dimensions; divided by its own length it lies on the unit
sphere. So the block has norm 1, and a fit spends no length on where a column is dense.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..entry import register_encoder
from ..exceptions import NotSupported
from ..fitting._parameters import refuse_wrong
from ..fitting.data import Array, as_text
from ..privacy.spec import Spec
from ._blocks import INDICATOR, Block, Column, NumberBlock, ValueBlock, refuse_word
from ._declaration import Numbers, unit_interval
from ._random_features import (
    LEAST_NOISE,
    PER_FEATURE,
    RandomFeatures,
    choose_count,
    choose_share,
    measure_strength,
)
from .table_encoder import TableEncoder

__all__ = ["DPSplineFeatures"]


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


BASES = ("smooth", "hats", "linear")
HATS = (9, 5, 3)  # knots that are tried, most first; then the line
PER_COLUMN, PER_RANK = (
    50,
    800,
)  # records times mu for a column of hats, for a dimension of the smooth curve
LEAST, MOST = 3, 13  # dimensions


@register_encoder
class DPSplineFeatures(TableEncoder):
    """Encode a table as `TableEncoder` does, with each number as a few functions of it; it reads no record.

    A linear estimator behind it is an additive model: a curve for each number, a level for each category, a surface for
    each pair. The functions are public, so they cost nothing; how many pay is decided by public numbers, of records and
    of the promise of the estimator that follows. Rows leave with a norm of at most 1, by theorem.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy loss of the estimator that follows; nothing is spent here.
    delta : float, default=1e-6
        Probability of exceeding it.
    basis : {"smooth", "hats", "linear"}, default="smooth"
        A spectral curve on the sphere, the smoothest functions first; hat functions at uniform knots; or the number.
    size : int, default=None
        Functions of a number. None: for "smooth" ``n * mu / 800``, from 3 to 13; for "hats" the most of 9, 5, 3 and the
        line that adds at most ``n * mu / 50`` columns, with mu the Gaussian parameter of the promise.
    neighbors : {"replace_one", "add_remove"}, default="replace_one"
        Under "add_remove" the number of records is private, and only ``n_public`` counts.
    n_public : int, default=None
        A rough number of records that you know without looking.
    random_features : int or {"classification", "regression"}, default=0
        Number of random Fourier features beside the curves, an even one: cosines and sines of four columns at a time,
        which say what no sum of curves does. They are drawn by a public hash and cost nothing but their columns. By the
        word for the estimator that follows it is ``n * mu / 50`` from ``n * mu = 20,000`` on for a classifier,
        ``n * mu / 30`` from 3,000 on for least squares, up to 999 columns in all, and below that 0. Here mu counts as
        at most 2.
    random_share : float, default=None
        Share of a row's squared norm that random features have. None: 1/4, and 1/2 from ``n * mu = 50,000`` on.

    Attributes
    ----------
    size_ : int
        Functions of a number; 1 is the line.
    random_features_ : int
        Number of random features.
    random_share_ : float
        Share of a row's squared norm that they have.

    See Also
    --------
    TableEncoder : One number for a number.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.preprocessing import DPSplineFeatures
    >>> features = DPSplineFeatures({0: [0, 10]}).fit(np.zeros((50_000, 1)))
    >>> features.size_
    13
    >>> features.get_feature_names_out()[:2].tolist()
    ['x0~1', 'x0~2']
    """

    epsilon: float = 1.0
    delta: float = 1e-6
    basis: str = "smooth"
    size: int | None = None
    neighbors: str = "replace_one"
    n_public: int | None = None
    random_features: int | str = 0
    random_share: float | None = None
    size_: int = field(init=False)
    random_features_: int = field(init=False)
    random_share_: float = field(init=False)

    def _settled(self, names: list[Any], named: bool) -> list[Column]:
        # Until the columns are known:
        self.size_, self.random_features_, self.random_share_ = LEAST, 0, 0.0
        return super()._settled(names, named)

    def _size(self, rows: int) -> None:
        n = rows if self.neighbors == "replace_one" else self.n_public
        numeric = sum(isinstance(column.declared, Numbers) for column in self.columns_)
        strength = measure_strength(n or 0, Spec(self.epsilon, self.delta, self.neighbors))
        self.size_ = self.size or self._rule(strength, numeric)
        wanted, share = self.random_features, self.random_share
        strength = min(strength, LEAST_NOISE * (n or 0))
        if isinstance(wanted, str):
            self.random_features_ = 0  # are not among the names beside them
            wanted = choose_count(wanted, strength, len(self._names()))
        self.random_features_ = int(wanted)
        self.random_share_ = float(choose_share(strength) if share is None else share)

    def _rule(self, strength: float, numeric: int) -> int:
        """Return the number of functions of a column that are worth their noise, by public numbers."""
        if self.basis == "hats":
            paying = (k for k in HATS if strength >= PER_COLUMN * (k - 1) * numeric)
            return next(paying, 1)
        return int(np.clip(np.rint(min(strength, 1e9) / PER_RANK), LEAST, MOST))

    def _check(self) -> None:
        super()._check()
        refuse_word("basis", self.basis, BASES)
        promise = "epsilon", "delta", "neighbors", "n_public"
        refuse_wrong({name: getattr(self, name) for name in promise})
        whole = isinstance(self.size, int | np.integer) and not isinstance(self.size, bool)
        if self.size is not None and not (whole and 1 <= self.size <= 100):
            raise ValueError(
                f"size={as_text(self.size)} must be None, or a whole number from 1 to 100."
            )
        if self.basis == "smooth" and (self.size or 0) > MOST:
            raise ValueError(
                f"size={self.size} must be at most {MOST} for basis='smooth'; use 'hats'."
            )
        if Spec(self.epsilon, self.delta, self.neighbors).delta == 0.0 and self.size is None:
            raise NotSupported("delta=0 has no Gaussian parameter to choose size by; give size=.")
        self._check_random()

    def _check_random(self) -> None:
        wanted, share = self.random_features, self.random_share
        if isinstance(wanted, str):
            refuse_word("random_features", wanted, PER_FEATURE)
            if Spec(self.epsilon, self.delta, self.neighbors).delta == 0.0:
                raise NotSupported(
                    "delta=0 has no Gaussian parameter to choose random_features by; give their number."
                )
        elif not (isinstance(wanted, int | np.integer) and not isinstance(wanted, bool)) or not (
            0 <= wanted <= 10_000 and wanted % 2 == 0
        ):
            raise ValueError(
                f"random_features={as_text(wanted)} must be an even whole number from 0 to 10000, 'classification' or "
                "'regression'."
            )
        number = isinstance(share, int | float) and not isinstance(share, bool)
        if share is not None and not (number and 0.0 < share < 1.0):
            raise ValueError(
                f"random_share={as_text(share)} must be None, or a number between 0 and 1."
            )

    def _random(self) -> RandomFeatures:
        """Return the random features, by the declaration alone."""
        blocks = [
            NumberBlock(column.declared, self.missing)
            if isinstance(column.declared, Numbers)
            else ValueBlock(column.declared, self.contrasts, self.unknown, column.name)
            for column in self.columns_
        ]
        return RandomFeatures(blocks, self.random_features_, self.random_share_)

    def _names(self, given: Mapping[int, Any] | None = None) -> list[str]:
        columns = [str((given or {}).get(column.place, column.name)) for column in self.columns_]
        return [*super()._names(given), *self._random().names(columns)]

    def _factor(self) -> float:
        return super()._factor() * self._random().factor

    def _finished(self, X: Array, cells: Sequence[Any]) -> Array:
        rows = super()._finished(X, cells)
        return self._random().beside(rows, cells) if self.random_features_ else rows

    def _curve(self, declared: Numbers) -> Block:
        if self.basis == "linear" or self.size_ == 1:
            return NumberBlock(declared, self.missing)
        kind = HatsBlock if self.basis == "hats" else SmoothBlock
        return kind(declared, int(self.size_), self.missing)
