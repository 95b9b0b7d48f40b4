"""Rows in other coordinates, shrunk to norm at most 1 one by one. Nothing of the size of the table is built."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _twofold
from ._engine import Rows
from ._kernels import UNIT
from ._shrunk import LEAST_SHRINK, whole_scores

__all__ = ["FLOOR", "Images", "MappedRows"]

Array = np.ndarray[Any, Any]

FLOOR = (
    1.0 / 16.0
)  # least norm that a mapped row counts with: how long it is in memory stays in proportion


@dataclass(frozen=True, eq=False)
class Images:
    """All rows as they are seen in some coordinates.

    Parameters
    ----------
    coordinates : Coordinates
        Whose images these are; known by what it is, not by its numbers.
    matrix : ndarray of shape (k, width)
        A copy: norms of another matrix would bound nothing.
    norms : ndarray of shape (n,)
        Bounds on the images' norms, see `Table`.
    """

    coordinates: Any
    matrix: Array
    norms: Array


class MappedRows:
    """Rows ``s_i A x_i`` with ``s_i = min(1, 1 / |A x_i|)`` on top of any engine: `Rows`, though no table of features.

    Parameters
    ----------
    rows : Rows
        The rows x_i.
    matrix : ndarray of shape (k, width)
        A.
    images : ndarray of shape (n,)
        Bounds of |A x_i|, see `Table`.
    twofold : bool
        Whether parameters are mapped in twofold precision, for a release that bounds all rounding.
    whole : float
        How much of s_i is undone in the score that a loss is of, from 0 to 1.
    """

    __slots__ = (
        "_images",
        "_matrix",
        "_rows",
        "_shrink",
        "_twofold",
        "_whole",
        "dtype",
        "norms",
        "shrink",
        "width",
    )

    intercept = 0.0

    def __init__(
        self, rows: Rows, matrix: Array, images: Array, twofold: bool = False, whole: float = 1.0
    ) -> None:
        self._rows, self._matrix, self._images = rows, matrix, images
        self._twofold, self._whole = twofold, whole
        self.width, self.dtype = len(matrix), rows.dtype
        # A little shorter, so that no rounding of the factor makes a row longer than 1.
        self._shrink = (1.0 - 4.0 * np.finfo(np.float64).eps) / np.maximum(images, 1.0)
        self.norms = np.clip(images, FLOOR, 1.0)
        left = (
            self._shrink
        )  # divisors of scores, from s_i to 1: they round alike wherever a row stands
        if whole < 1.0:
            left = left + (1.0 - whole) * (1.0 - left)
        if rows.shrink is not None:
            left = left * rows.shrink
        enough = left.min(initial=1.0) >= LEAST_SHRINK
        self.shrink = left if enough else np.maximum(left, LEAST_SHRINK)

    def __len__(self) -> int:
        return len(self._rows)

    def dot(self, u: Array) -> Array:
        """Scores: mapped rows times u."""
        scores: Array = self._rows.dot(self._pulled(u))
        scores *= self._along(scores)
        return scores

    def whole_dot(self, u: Array) -> Array:
        """Scores of the rows before they were shrunk, here as far as that is undone, and below."""
        return whole_scores(self.shrink, self.dot(u))

    def reach(self) -> Array:
        """Return the norm of each row as stored, times a bound on the matrix' stretch."""
        stretch = float(np.linalg.norm(self._matrix))
        return np.asarray(self._shrink * self._rows.norms * stretch)

    def _pulled(self, u: Array) -> Array:
        """Parameters of the rows below that give the same scores."""
        if not self._twofold:
            return np.asarray(self._matrix.T @ u)
        high, low = _twofold.dot(self._matrix.T, (u, np.zeros_like(u)))
        return np.asarray(high + low)

    def units_of_scores(self, u: Array) -> float:
        """Bound the error of a score at u in unit roundoffs of the row's `reach`, for any order of summation."""
        stretch, most = float(np.linalg.norm(self._matrix)), float(np.linalg.norm(u))
        # Sizes are all that is asked of the parameters below: a plain product, and what it may be off.
        plain = np.abs(self._matrix.T @ u) + (len(self._matrix) + 8.0) * UNIT * stretch * most
        below: float = self._rows.units_of_scores(plain)
        mapped = 8.0 if self._twofold else len(self._matrix) + 8.0
        return below / max(stretch, 1e-300) + mapped * most

    def careful_dot(self, high: Array, low: Array) -> Array:
        """Scores at ``high + low``, off by a few units of the score itself."""
        pair = _twofold.dot(self._matrix.T, (high, low))
        scores: Array = self._rows.careful_dot(*pair)
        scores *= self._along(scores)
        return scores

    def careful_tdot(self, u: Array) -> tuple[Array, Array]:
        """Mapped rows transposed times u as a pair: the answer, and what rounding took from it."""
        return _twofold.dot(self._matrix, self._rows.careful_tdot(u * self._along(u)))

    def tdot(self, v: Array) -> Array:
        """Mapped rows transposed times v."""
        return np.asarray(self._matrix @ self._rows.tdot(v * self._along(v)))

    def gram(self, h: Array) -> Array:
        """Mapped rows' diag(h) mapped rows, for h >= 0."""
        inner = self._rows.gram(h * np.square(self._shrink))
        return np.asarray(self._matrix @ inner @ self._matrix.T)

    def in_double(self) -> MappedRows:
        """Return the same map of the rows below in double precision."""
        return self._on(self._rows.in_double(), twofold=True)

    def rough(self) -> MappedRows:
        """Return the same map of the rows below in their quickest form."""
        return self._on(self._rows.rough(), twofold=False)

    def _on(self, rows: Rows, twofold: bool) -> MappedRows:
        """Return a copy for another form of the same rows, which shares what each is shrunk by."""
        other = copy(self)
        other._rows, other._twofold, other.dtype = rows, twofold, rows.dtype
        return other

    def take(self, index: Array | slice) -> MappedRows:
        """The rows at `index`."""
        rows, images = self._rows.take(index), self._images[index]
        return MappedRows(rows, self._matrix, images, self._twofold, self._whole)

    def chunks(self, least: int) -> Iterator[slice]:
        """Parts of the rows below."""
        return iter(self._rows.chunks(least))

    def _along(self, values: Array) -> Array:
        return self._shrink if values.ndim == 1 else self._shrink[:, None]
