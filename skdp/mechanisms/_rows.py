"""Bounded rows in memory. Another engine (sparse, memory-mapped, distributed) is another class with these methods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

__all__ = ["DenseRows"]

Array = np.ndarray[Any, Any]
DOUBLED = 1024  # rows of single precision that are turned into doubles at a time, inside the cache
BLOCK = 4096  # rows at a time where a weighted copy is needed
FEW = 256  # rows not worth a part of their own
PART = 3 << 20  # bytes of rows that stay near a core while they are read twice


class DenseRows:
    """Rows scaled down to norm at most 1, and a constant last column, without a copy of the user's array.

    Scaling is a factor per row that is folded into scores and slopes; the intercept is arithmetic on one coordinate.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The user's rows, float64 or float32, only read.
    scale : ndarray of shape (n,)
        What each row is multiplied by; see `bounded`.
    norms : ndarray of shape (n,)
        Norms of the scaled rows, the constant column included.
    intercept : float
        Size of the constant column, 0 for none.
    single_file : bool
        Whether scores are made row by row, see `one_by_one`.
    """

    __slots__ = ("_scale", "_single_file", "_x", "intercept", "norms", "width")

    def __init__(
        self, X: Array, scale: Array, norms: Array, intercept: float, single_file: bool = False
    ) -> None:
        self._x, self._scale, self._single_file = X, scale, single_file
        self.norms, self.intercept = norms, intercept
        self.width = X.shape[1] + (intercept > 0)

    @classmethod
    def bounded(cls, X: Array, data_norm: float, intercept: float) -> DenseRows:
        """Rows divided by max(data_norm, their own norm), so that each has norm at most 1 whatever the data."""
        raw = np.empty(len(X))
        for start in range(0, len(X), BLOCK):
            block = X[start : start + BLOCK].astype(np.float64, copy=False)
            raw[start : start + BLOCK] = _row_norms(block)
        # Covers the rounding of the norm and of the scale, so that the bound holds as computed.
        divisor = np.maximum(raw * (1.0 + max(1e-12, 4.0 * np.finfo(X.dtype).eps)), data_norm)
        with np.errstate(invalid="ignore"):  # infinite rows become NaN, which Records.admit refuses
            norms = np.hypot(raw / divisor, intercept)
        far = np.flatnonzero(raw > np.sqrt(np.finfo(X.dtype).max))
        if (
            far.size
        ):  # products with these rows would overflow before the scale could bring them back
            X = X.copy()
            X[far] = X[far] / divisor[far, None]
            divisor[far] = 1.0
        return cls(X, (1.0 / divisor).astype(X.dtype), norms, intercept)

    def __len__(self) -> int:
        return len(self._x)

    @property
    def dtype(self) -> Any:
        """Of the numbers that products are made of."""
        return self._x.dtype

    def dot(self, w: Array) -> Array:
        """Scores: rows times w, of shape (n,) or (n, K)."""
        w = w.astype(self._x.dtype, copy=False)
        if not self.intercept:
            return _scaled(self._times(w), self._scale)
        scores = _scaled(self._times(w[:-1]), self._scale)
        scores += self._x.dtype.type(self.intercept) * w[-1]
        return scores

    def _times(self, w: Array) -> Array:
        if self._single_file:
            return np.einsum("ij,j...->i...", self._x, w)
        return self._x @ w

    def one_by_one(self) -> DenseRows:
        """The same rows, whose scores do not hang on where a row stands.

        A product with a matrix rounds its last rows in another way. Where a loss has a corner, one unit in the last
        place turns a slope around: a record more, which moves all others up, would then turn around theirs.
        """
        return DenseRows(self._x, self._scale, self.norms, self.intercept, single_file=True)

    def plain(self) -> Array:
        """The scaled rows in doubles, the constant column among them: for a few rows at a time."""
        rows = np.empty((len(self), self.width))
        np.multiply(
            self._x, self._scale[:, None], out=rows[:, : self._x.shape[1]], dtype=np.float64
        )
        if self.intercept:
            rows[:, -1] = self.intercept
        return rows

    def tdot(self, u: Array) -> Array:
        """Rows transposed times u, in float64, of shape (width,) or (width, K)."""
        out = np.empty((self.width,) + u.shape[1:])
        scale = self._scale if u.ndim == 1 else self._scale[:, None]
        weighted = np.multiply(u, scale, dtype=np.float64)
        out[: self._x.shape[1]] = self._summed(weighted)
        if self.intercept:
            out[-1] = self.intercept * np.add.reduce(u, axis=0, dtype=np.float64)
        return out

    def _summed(self, weighted: Array) -> Array:
        """Rows times weights, in doubles: a sum in single precision rounds by more than one record's contribution.

        Rounding in blocks would not do either: a record more shifts all later ones, which then round anew.
        """
        if self._x.dtype == np.float64:
            return self._x.T @ weighted
        if len(self) <= DOUBLED:
            return self._x.astype(np.float64).T @ weighted
        total = np.zeros((self._x.shape[1],) + weighted.shape[1:])
        for start in range(0, len(self), DOUBLED):
            part = slice(start, start + DOUBLED)
            total += self._x[part].astype(np.float64).T @ weighted[part]
        return total

    def peaks(self) -> Array:
        """Largest absolute entry of each scaled row, the constant column left out: a bound, also as rounded."""
        top = self._x.max(axis=1, initial=0.0)
        np.maximum(top, -self._x.min(axis=1, initial=0.0), out=top)
        top *= self._scale
        return top

    def gram(self, h: Array) -> Array:
        """Rows' diag(h) rows, for h >= 0, block by block: no weighted copy of all rows is made."""
        total = np.zeros((self.width, self.width))
        for start in range(0, len(self), BLOCK):
            part = slice(start, start + BLOCK)
            root = np.sqrt(h[part])
            block = np.empty((len(root), self.width))
            np.multiply(
                self._x[part], (self._scale[part] * root)[:, None], out=block[:, : self._x.shape[1]]
            )
            if self.intercept:
                block[:, -1] = self.intercept * root
            total += block.T @ block
        return total

    def take(self, index: Array | slice) -> DenseRows:
        """The rows at `index`: copied, or viewed where it is a slice."""
        if isinstance(index, slice):
            return DenseRows(self._x[index], self._scale[index], self.norms[index], self.intercept)
        x = self._x.take(index, axis=0)
        return DenseRows(x, self._scale.take(index), self.norms.take(index), self.intercept)

    def parts(self, least: int) -> Iterator[slice]:
        """Consecutive rows in equal parts that stay near a core, of about `least` rows or more; one part if all do."""
        size = max(least, PART // (self._x.itemsize * max(self.width, 1)))
        count = max(1, round(len(self) / size))
        for k in range(count):
            yield slice(k * len(self) // count, (k + 1) * len(self) // count)


def _scaled(values: Array, scale: Array) -> Array:
    values *= scale if values.ndim == 1 else scale[:, None]
    return values


def _row_norms(block: Array) -> Array:
    """Norms that neither overflow nor underflow: rows are divided by their largest entry first."""
    top = np.abs(block).max(axis=1, initial=0.0)
    safe = np.where(top > 0, top, 1.0)
    scaled = block / safe[:, None]
    with np.errstate(over="ignore"):  # Records.admit refuses what is too large
        return safe * np.sqrt(np.einsum("ij,ij->i", scaled, scaled)) * (top > 0)
