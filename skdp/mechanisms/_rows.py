"""Bounded rows in memory: the dense engine. What the proofs need of it, and of any other, is said in `_engine`.

Bound the norms of rows in other coordinates, for any engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.linalg.blas import dtrmm

from . import _twofold
from ._kernels import (
    AT_ONCE,
    PIECE,
    PIECES,
    ROUNDINGS,
    UNIT,
    add,
    in_pieces,
    pairwise_total,
    row_dots,
    row_norms,
)
from ._shared_memory import by_parts, take_rows
from ._shrunk import left_of

__all__ = ["ROUNDINGS", "UNIT", "DenseRows", "image_norms"]


Array = np.ndarray[Any, Any]

NUMBERS_AT_ONCE = 3 << 17  # numbers of a block of rows: they stay near a core
FACTORED = 8  # rows for each of the matrix's from which a triangle of it saves more than it costs


def image_norms(rows: Any, matrix: Array, in_place: bool) -> Array:
    """Bound on the norm of every row's image: its norm as computed, and what rounding may have taken from it.

    Parameters
    ----------
    rows : Table
        Rows of the vault.
    matrix : ndarray of shape (k, width)
        What maps them.
    in_place : bool
        Whether every record of a neighbour stands where it stood. If not, each row is mapped by itself: a product with
        a block of rows rounds a row by where it stands.
    """
    norms = np.empty(len(rows))
    slack = 8.0 * (rows.width + 4.0) * UNIT * float(np.linalg.norm(matrix))
    grown = 1.0 + (len(matrix) + 16.0) * UNIT
    factor = None
    if in_place and len(rows) >= FACTORED * len(matrix) and matrix.shape[0] == matrix.shape[1] > 1:
        factor, lost, longer = triangle(matrix)
        slack, grown = slack + lost, grown * longer
    size = max(PIECE, NUMBERS_AT_ONCE // max(rows.width, 1))
    for start in range(0, len(rows), size):
        part = slice(start, start + size)
        block = rows.take(part)
        plain = block.to_dense()
        if factor is not None:  # half of the work
            image = dtrmm(1.0, factor, plain.T, overwrite_b=True).T
        elif in_place:
            image = plain @ matrix.T
        else:
            image = (plain[:, None, :] @ matrix.T)[:, 0]
        norms[part] = np.sqrt(np.einsum("ij,ij->i", image, image)) * grown + slack * block.norms
    return norms


def triangle(matrix: Array) -> tuple[Array | None, float, float]:
    """R with ``|A x| <= grown |R x| + slack |x|`` for all x, and the two numbers; None where no triangle is that near.

    With Q as computed beside R: A x = Q R x + (A - Q R) x, and Q is no longer than the root of 1 + |Q'Q - I|. Both
    remainders are measured, with the rounding of that measure on top (docs/proofs/mapped.md).
    """
    k = len(matrix)
    q, r = np.linalg.qr(matrix)
    size = float(np.linalg.norm(matrix) + np.linalg.norm(q) * np.linalg.norm(r))
    slack = float(np.linalg.norm(matrix - q @ r)) + (k + 4.0) * UNIT * size
    stretch = float(np.linalg.norm(q.T @ q - np.eye(k))) + (k + 4.0) * UNIT * (
        k + float(np.linalg.norm(q)) ** 2
    )
    if not (slack + stretch < np.inf and stretch < 1e-6):
        return None, 0.0, 1.0
    return np.asfortranarray(r), (1.0 + 1e-6) * slack, 1.0 + stretch


def _divided(x: Array, divisor: Array, far: Array) -> Array:
    """Return a copy of some rows, of which those that are far too long are divided."""
    x = x.copy()
    x[far] = x[far] / divisor[far, None]
    return x


DOUBLED = 4 * PIECE  # rows of single precision turned into doubles at a time, inside the cache
NEAR = 1 << 19  # bytes of them where scores are made
BLOCK = 4096  # rows at a time where a weighted copy is needed
FEW = 256  # rows not worth a part of their own
PART = 6 << 20  # bytes of rows that stay near a core while they are read twice


class DenseRows:
    """Rows scaled down to norm at most 1, and a constant last column, without a copy of an array in C order.

    Scaling is a factor per row that is folded into scores and slopes; the intercept is arithmetic on one coordinate.
    A row that is too long is scaled down with its constant: what enters is a multiple of the row that was given.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The rows in C order, float64 or float32, only read.
    scale : ndarray of shape (n,)
        What each row is multiplied by, float64; see `bounded`.
    norms : ndarray of shape (n,)
        Upper bounds on the norms of the scaled rows, the constant column included.
    intercept : float
        Size of the constant column, 0 for none.
    shrink : ndarray of shape (n,) or None
        How much of each row is left: 1 for those within `data_norm`. None where all are.
    steady : bool
        Whether scores are made row by row. A product with a matrix rounds a row by where it stands.
    unshrunk : ndarray of shape (n,) or None
        ``scale / shrink``, where somebody has it already.
    widened : bool
        Whether rows of single precision count as doubles: each is made one where it is used, and no copy is kept.
    """

    __slots__ = (
        "_scale",
        "_steady",
        "_unshrunk",
        "_widened",
        "_x",
        "intercept",
        "norms",
        "shrink",
        "width",
    )

    def __init__(
        self,
        X: Array,
        scale: Array,
        norms: Array,
        intercept: float,
        shrink: Array | None = None,
        steady: bool = True,
        unshrunk: Array | None = None,
        widened: bool = False,
    ) -> None:
        self._x, self._scale, self._steady = X, scale, steady
        self._widened = widened and X.dtype != np.float64
        self.norms, self.intercept, self.shrink = norms, intercept, shrink
        self._unshrunk = scale / shrink if unshrunk is None and shrink is not None else unshrunk
        self.width = X.shape[1] + (intercept > 0)

    @staticmethod
    def admits(X: Any) -> bool:
        """Return whether a table is an array; one mapped from a file was copied before."""
        return isinstance(X, np.ndarray)

    @staticmethod
    def read(X: Any) -> Any:
        """Return an array as it is."""
        return X

    @classmethod
    def bounded(cls, X: Array, data_norm: float, intercept: float) -> DenseRows:
        """Rows divided by max(data_norm, their own norm), so that each has norm at most 1 whatever the data.

        All tables get one layout before anything looks at a value: another layout is another order of sums.
        """
        X = np.ascontiguousarray(X)
        longest = np.sqrt(np.finfo(X.dtype).max)
        divisor, norms, shrink = np.empty(len(X)), np.empty(len(X)), np.empty(len(X))
        far = np.empty(len(X), dtype=bool)
        for start in range(0, len(X), BLOCK):
            part = slice(start, start + BLOCK)
            raw = row_norms(X[part])
            np.maximum(raw, data_norm, out=divisor[part])
            np.greater(raw, longest, out=far[part])
            left, norms[part] = left_of(raw, divisor[part], data_norm, intercept)
            shrink[part] = 1.0 if left is None else left
        scale = 1.0 / divisor
        if far.any():
            # Products with these rows would overflow before the scale could bring them back.
            X = by_parts(
                lambda part: _divided(X[part], divisor[part], far[part]), X.shape, X.dtype, X
            )
            scale[far] = 1.0 - 4.0 * float(np.finfo(X.dtype).eps)
        whole = bool((shrink == 1.0).all())
        return cls(X, scale, norms, intercept, None if whole else shrink)

    def __len__(self) -> int:
        return len(self._x)

    @property
    def dtype(self) -> Any:
        """Type of the numbers that products are made of."""
        return np.dtype(np.float64) if self._widened else self._x.dtype

    def in_double(self) -> DenseRows:
        """The rows in double precision, for a release that bounds all rounding: quick products will do.

        Tiny scales are folded in once and for all: their rows' products with parameters could overflow before.
        """
        x, scale = self._x, self._scale
        if scale.min(initial=1.0) < 1e-100:
            x = by_parts(
                lambda part: self._x[part] * self._scale[part, None], x.shape, np.float64, x
            )
            scale = np.ones_like(scale)
        whole = x, scale, self.norms, self.intercept, self.shrink
        return DenseRows(*whole, steady=False, widened=True)

    def rough(self) -> DenseRows:
        """Return the rows in a form whose scores may be computed by blocks."""
        whole = self._x, self._scale, self.norms, self.intercept, self.shrink
        return DenseRows(*whole, steady=False, unshrunk=self._unshrunk, widened=self._widened)

    def dot(self, w: Array) -> Array:
        """Scores: rows times w, of shape (n,) or (n, K)."""
        scores = self._scaled_dot(w, self._scale)
        if self.intercept:
            np.add(scores, self._left_of(self._pull(w)), out=scores, casting="same_kind")
        return scores

    def whole_dot(self, w: Array) -> Array:
        """Scores of the rows before any was scaled down; their constants are whole, too."""
        scores = self._scaled_dot(w, self._scale if self._unshrunk is None else self._unshrunk)
        if self.intercept:
            scores += self._pull(w)
        return scores

    def _scaled_dot(self, w: Array, scale: Array) -> Array:
        features = (w[:-1] if self.intercept else w).astype(self.dtype, copy=False)
        scores: Array = row_dots(self._x, features) if self._steady else self._product(features)
        along = scale if scores.ndim == 1 else scale[:, None]
        return np.multiply(scores, along, out=scores, casting="same_kind")

    def _product(self, features: Array) -> Array:
        """Rows as given times features, by blocks."""
        if not self._widened:
            return np.asarray(self._x @ features)
        out = np.empty((len(self),) + features.shape[1:])
        size = max(16, NEAR // (8 * max(self._x.shape[1], 1)))
        for start in range(0, len(self), size):
            part = slice(start, start + size)
            np.matmul(self._doubles(part), features, out=out[part])
        return out

    def _doubles(self, part: slice) -> Array:
        """Return some rows as given, in double precision."""
        return self._x[part].astype(np.float64, copy=False)

    def _pull(self, w: Array) -> Any:
        """Return what a whole constant column adds to a score."""
        return self.dtype.type(self.intercept) * w[-1].astype(self.dtype)

    def _left_of(self, constant: Any, part: slice = slice(None)) -> Any:
        """A constant, or one for each output, as it is left of it in each row."""
        if self.shrink is None:
            return constant
        shrink = self.shrink[part] if np.ndim(constant) == 0 else self.shrink[part, None]
        return (shrink * constant).astype(np.result_type(constant), copy=False)

    def tdot(self, u: Array) -> Array:
        """Rows transposed times u, in float64, of shape (width,) or (width, K)."""
        scale = self._scale if u.ndim == 1 else self._scale[:, None]
        weights = np.multiply(u, scale, dtype=np.float64)
        if len(u) <= AT_ONCE and self._x.dtype == np.float64:
            total = self._x.T @ weights
        else:
            total = self._summed(weights)
        if not self.intercept:
            return np.asarray(total)
        out = np.empty((self.width,) + u.shape[1:])
        if self.shrink is not None:
            u = u * (self.shrink if u.ndim == 1 else self.shrink[:, None])
        out[:-1], out[-1] = total, self.intercept * pairwise_total(u)
        return out

    def reach(self) -> Array:
        """Return the norm of each row as stored, once scaled: rounding errors are proportional to it."""
        return self.norms

    def units_of_scores(self, w: Array) -> float:
        """Bound the error of a score at w in unit roundoffs of the row's `reach`, for any order of summation."""
        return (self.width + 8.0) * float(np.linalg.norm(w))

    def careful_dot(self, high: Array, low: Array) -> Array:
        """Scores at ``high + low``, off by a few units of the score itself."""
        features = slice(None, -1) if self.intercept else slice(None)
        pair = high[features], low[features]
        scores = np.empty((len(self),) + high.shape[1:])
        for start in range(0, len(self), PIECE):
            part = slice(start, start + PIECE)
            first, second = _twofold.dot(self._doubles(part), pair)
            scale = self._scale[part] if first.ndim == 1 else self._scale[part, None]
            scaled, lost = _twofold.times(first, scale)
            lost += second * scale
            if self.intercept:
                pull, more = _twofold.times(np.float64(self.intercept), high[-1])
                more = more + self.intercept * low[-1]
                if self.shrink is not None:
                    left = self.shrink[part] if first.ndim == 1 else self.shrink[part, None]
                    pull, rest = _twofold.times(left, pull)
                    more = rest + left * more
                scaled, error = _twofold.two_sum(scaled, pull)
                lost += error + more
            scores[part] = scaled + lost
        return scores

    def careful_tdot(self, u: Array) -> tuple[Array, Array]:
        """Rows transposed times u as a pair of which the first is the answer, the second what rounding took from it."""
        outputs = u if u.ndim > 1 else u[:, None]
        total, lost = (np.zeros((outputs.shape[1], self.width)) for _ in range(2))
        for start in range(0, len(self), PIECE):
            part = slice(start, start + PIECE)
            for k, weights in enumerate(outputs[part].T):
                high, low = self._weighted(part, weights)
                total[k], error = _twofold.two_sum(total[k], high)
                lost[k] += error + low
        return total.T.reshape((self.width,) + u.shape[1:]), lost.T.reshape(
            (self.width,) + u.shape[1:]
        )

    def _weighted(self, part: slice, weights: Array) -> tuple[Array, Array]:
        """Sum of a few rows times weights, in twofold precision."""
        high, low = np.empty((2, self.width))
        features = slice(0, self._x.shape[1])
        scaled = _twofold.times(weights, self._scale[part])
        high[features], low[features] = _twofold.weighted(self._doubles(part), *scaled)
        if self.intercept:
            more: Any = 0.0
            if self.shrink is not None:
                weights, more = _twofold.times(weights, self.shrink[part])
            pull, lost = _twofold.times(weights, np.float64(self.intercept))
            high[-1], low[-1] = _twofold.fold(pull, lost + self.intercept * more)
        return high, low

    def _summed(self, weights: Array) -> Array:
        """Sum of rows times weights, at most PIECES pieces at a time."""
        size = PIECE * PIECES if self._x.dtype == np.float64 else DOUBLED
        if len(self) <= size:
            return in_pieces(self._doubles(slice(None)), weights)
        total = np.zeros((self._x.shape[1],) + weights.shape[1:])
        lost = np.zeros_like(total)
        for start in range(0, len(self), size):
            part = slice(start, start + size)
            add(total, lost, in_pieces(self._doubles(part), weights[part]))
        total += lost
        return total

    def max_abs(self) -> Array:
        """Largest absolute entry of each scaled row, the constant column left out."""
        top = self._x.max(axis=1, initial=0.0).astype(np.float64)
        np.maximum(top, -self._x.min(axis=1, initial=0.0).astype(np.float64), out=top)
        top *= self._scale
        return top

    def to_dense(self) -> Array:
        """The scaled rows in doubles, the constant column among them: for a few rows at a time."""
        rows = np.empty((len(self), self.width))
        features = rows[:, : self._x.shape[1]]
        np.multiply(self._x, self._scale[:, None], out=features, dtype=np.float64)
        if self.intercept:
            rows[:, -1] = self._left_of(self.intercept)
        return rows

    def moment(self) -> Array:
        """Sum of the rows' outer squares, within ROUNDINGS as any sum."""
        total = np.zeros((self.width, self.width))
        lost = np.zeros_like(total)
        for start in range(0, len(self), BLOCK):
            rows = self.take(slice(start, start + BLOCK)).to_dense()
            part = np.zeros_like(total)
            for first in range(0, len(rows), PIECE):
                piece = rows[first : first + PIECE]
                part += piece.T @ piece
            add(total, lost, part)
        total += lost
        return total

    def image_norms(self, matrix: Array, in_place: bool) -> Array:
        """Bounds on the norms of the rows' images, block by block."""
        return image_norms(self, matrix, in_place)

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
                block[:, -1] = self._left_of(self.intercept, part) * root
            total += block.T @ block
        return total

    def take(self, index: Array | slice) -> DenseRows:
        """The rows at `index`: copied, or viewed where it is a slice."""
        if isinstance(index, slice):
            x, scale, norms = self._x[index], self._scale[index], self.norms[index]
        else:
            x = take_rows(self._x, index)
            scale, norms = self._scale.take(index), self.norms.take(index)
        shrink = None if self.shrink is None else self.shrink[index]
        unshrunk = None if self._unshrunk is None else self._unshrunk[index]
        whole = x, scale, norms, self.intercept, shrink
        return DenseRows(*whole, self._steady, unshrunk, self._widened)

    def chunks(self, least: int) -> Iterator[slice]:
        """Consecutive rows in parts of whole pieces that stay near a core, of about `least` rows or more; or in one."""
        size = max(least, PART // (self._x.itemsize * max(self.width, 1)))
        pieces = -(-len(self) // PIECE)
        count = max(1, round(len(self) / size), -(-pieces // PIECES))
        ends = [min(k * pieces // count * PIECE, len(self)) for k in range(count + 1)]
        for start, stop in pairwise(ends):
            yield slice(start, stop)
