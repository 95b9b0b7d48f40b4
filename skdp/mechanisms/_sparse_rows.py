"""Bounded rows that store only what is not zero: the sparse engine. Nothing of the size of a dense table is built."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from . import _twofold
from ._entries import Array, Entries, few_pairs, image_bounds, outer_squares
from ._kernels import PIECE, PIECES, UNIT, add, pairwise_total
from ._rows import BLOCK, PART
from ._shrunk import left_of

__all__ = ["SparseRows", "entries_of", "is_sparse", "lengths_of"]


MALFORMED = (
    "X is a malformed sparse table of floats: its index arrays do not fit its shape; rebuild it."
)


def is_sparse(X: Any) -> bool:
    """Return whether X is a sparse matrix or a sparse array of two dimensions."""
    return issparse(X) and X.ndim == 2


def entries_of(X: Any) -> Entries:
    """The entries of a table in canonical CSR: its own arrays where they are that already.

    Parameters
    ----------
    X : sparse matrix or array of shape (n, d)
        In float64 or float32; never changed. What it says of itself (sorted, canonical) is not asked.
    """
    if X.format == "csr":
        rows = _checked(X, X.data, X.indices, X.indptr)
    elif X.format == "csc":
        across = _checked(X, X.data, X.indices, X.indptr)
        rows = _turned(across, X.shape)
    else:
        rows = _from_triplets(X)
    return rows if _canonical(rows) else _settled(rows)


def _checked(X: Any, data: Array, indices: Array, indptr: Array) -> Entries:
    """Entries whose columns and rows exist: what is out of bounds would be read from elsewhere in memory."""
    lines, across = X.shape if X.format != "csc" else X.shape[::-1]
    whole = all(isinstance(a, np.ndarray) and a.ndim == 1 for a in (data, indices, indptr))
    sound = whole and data.dtype in (np.float64, np.float32) and len(indptr) == lines + 1
    sound = sound and indices.dtype.kind == indptr.dtype.kind == "i" and indptr[0] == 0
    sound = sound and bool((indptr[1:] >= indptr[:-1]).all())
    sound = sound and indptr[-1] <= min(len(data), len(indices))
    if sound:
        size = int(indptr[-1])
        data, indices = data[:size], indices[:size]
        sound = not size or (indices.min() >= 0 and indices.max() < across)
    if not sound:
        raise ValueError(MALFORMED)
    short = max(size, across, lines) < np.iinfo(np.int32).max
    kind = np.int32 if short else np.int64
    return Entries(
        np.ascontiguousarray(data, dtype=data.dtype.newbyteorder("=")),
        np.ascontiguousarray(indices, dtype=kind),
        np.ascontiguousarray(indptr, dtype=kind),
        int(across),
    )


def _turned(across: Entries, shape: tuple[int, int]) -> Entries:
    """Turn columns into rows, or back; entries of one line keep their order."""
    turned = csr_array((across.data, across.indices, across.indptr), shape=shape[::-1]).tocsc()
    return Entries(turned.data, turned.indices, turned.indptr, shape[1])


def _from_triplets(X: Any) -> Entries:
    """Convert any other format: entries sorted by row, and otherwise as stored."""
    triplets = X.tocoo()
    line = triplets.row
    if len(line) and not (line.min() >= 0 and line.max() < X.shape[0]):
        raise ValueError(MALFORMED)
    order = np.argsort(line, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(line, minlength=X.shape[0]))])
    return _checked(X, triplets.data[order], triplets.col[order], indptr)


def _canonical(rows: Entries) -> bool:
    """Return whether columns increase along each row, and no entry is zero."""
    further = rows.indices[1:] > rows.indices[:-1]
    first = rows.indptr[1:-1]
    further[first[(first > 0) & (first < len(rows.data))] - 1] = True
    return bool(further.all()) and np.count_nonzero(rows.data) == len(rows.data)


def _settled(rows: Entries) -> Entries:
    """Sort along rows; add up cells of several entries in doubles, and leave out zeros."""
    shape = len(rows), rows.columns
    by_column = csr_array((rows.data, rows.indices, rows.indptr), shape=shape).tocsc()
    by_row = by_column.tocsr()  # counting sorts, both of them: entries of one cell keep their order
    data, indices, indptr = by_row.data, by_row.indices, by_row.indptr
    new = np.ones(len(data), dtype=bool)
    new[1:] = indices[1:] != indices[:-1]
    new[indptr[:-1][indptr[:-1] < len(data)]] = True
    cell = np.cumsum(new) - 1
    with np.errstate(over="ignore"):  # Records.admit refuses what is too large
        sums = np.bincount(cell, weights=data, minlength=int(new.sum())).astype(rows.data.dtype)
    kept = sums != 0.0
    before = np.concatenate([[0], np.cumsum(kept)])  # of the first cells, how many are kept
    ends = np.concatenate([[0], np.cumsum(new)])[indptr]  # cells before each row
    return Entries(
        sums[kept],
        indices[new][kept],
        before[ends].astype(indptr.dtype),
        rows.columns,
    )


AT_ONCE = 1 << 17  # entries that are worked on together where each needs some more numbers


class SparseRows:
    """Rows scaled down to norm at most 1, and a constant last column, without a copy of a table in canonical CSR.

    Parameters
    ----------
    rows : Entries
        The features as given, float64 or float32, only read.
    scale : ndarray of shape (n,)
        What each row is multiplied by, float64.
    norms : ndarray of shape (n,)
        Upper bounds on the norms of the scaled rows, the constant column included.
    intercept : float
        Size of the constant column, 0 for none.
    shrink : ndarray of shape (n,) or None
        How much of each row, its constant included, is left: 1 for those within `data_norm`. None where all are.
    """

    __slots__ = ("_rows", "_scale", "intercept", "norms", "shrink", "width")

    from_dense = staticmethod(csr_array)  # a table that is admitted, for the laws

    def __init__(
        self,
        rows: Entries,
        scale: Array,
        norms: Array,
        intercept: float,
        shrink: Array | None = None,
    ) -> None:
        self._rows, self._scale = rows, scale
        self.norms, self.intercept, self.shrink = norms, intercept, shrink
        self.width = rows.columns + (intercept > 0)

    @staticmethod
    def admits(X: Any) -> bool:
        """Return whether a table is a sparse matrix or array, of any format."""
        return is_sparse(X)

    @staticmethod
    def read(X: Any) -> Any:
        """Return a sparse table as it is."""
        return X

    @classmethod
    def bounded(cls, X: Any, data_norm: float, intercept: float) -> SparseRows:
        """Rows divided by data_norm; longer ones are scaled down to norm 1, together with their constant."""
        rows = entries_of(X)
        raw = _lengths(rows)
        divisor = np.maximum(raw, data_norm)
        shrink, norms = left_of(raw, divisor, data_norm, intercept)
        scale = 1.0 / divisor
        far = raw > np.sqrt(np.finfo(rows.data.dtype).max)
        if far.any():
            # Products with these rows would overflow before the scale could bring them back.
            quotients = rows.data / rows.along(np.where(far, divisor, 1.0))
            rows = replace(rows, data=quotients.astype(rows.data.dtype))
            scale[far] = 1.0 - 4.0 * float(np.finfo(rows.data.dtype).eps)
        return cls(rows, scale, norms, intercept, shrink)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def dtype(self) -> Any:
        """Type of the numbers that products are made of."""
        return self._rows.data.dtype

    def in_double(self) -> SparseRows:
        """The rows in double precision; tiny scales are folded in, for products with them could overflow before."""
        rows, scale = self._rows, self._scale
        if scale.min(initial=1.0) < 1e-100:
            rows = rows.alone()
            rows, scale = replace(rows, data=rows.data * rows.along(scale)), np.ones_like(scale)
        elif self.dtype != np.float64:
            rows = rows.alone()
        return SparseRows(rows, scale, self.norms, self.intercept, self.shrink)

    def rough(self) -> SparseRows:
        """Return the rows themselves: no order of sums is quicker."""
        return self

    def dot(self, w: Array) -> Array:
        """Scores: rows times w, of shape (n,) or (n, K)."""
        scores = self._scaled_dot(w, self._scale)
        if self.intercept:
            np.add(scores, self._left_of(self._pull(w)), out=scores, casting="same_kind")
        return scores

    def whole_dot(self, w: Array) -> Array:
        """Scores of the rows before any was scaled down; their constants are whole, too."""
        whole = self._scale if self.shrink is None else self._scale / self.shrink
        scores = self._scaled_dot(w, whole)
        if self.intercept:
            scores += self._pull(w)
        return scores

    def _scaled_dot(self, w: Array, scale: Array) -> Array:
        scores = self._rows.dot(w[:-1] if self.intercept else w)
        return np.multiply(scores, _beside(scale, scores), out=scores, casting="same_kind")

    def _pull(self, w: Array) -> Any:
        """Return what a whole constant column adds to a score."""
        return self.dtype.type(self.intercept) * w[-1].astype(self.dtype)

    def _left_of(self, constant: Any) -> Any:
        """A constant, or one for each output, as it is left of it in each row."""
        if self.shrink is None:
            return constant
        left = np.multiply.outer(self.shrink, constant)
        return left.astype(np.result_type(constant), copy=False)

    def tdot(self, u: Array) -> Array:
        """Rows transposed times u, in float64, of shape (width,) or (width, K)."""
        total = self._rows.tdot(np.multiply(u, _beside(self._scale, u), dtype=np.float64))
        if not self.intercept:
            return total
        if self.shrink is not None:
            u = u * _beside(self.shrink, u)
        last = np.asarray(self.intercept * pairwise_total(u))
        return np.concatenate([total, last[None]])

    def reach(self) -> Array:
        """Return the norm of each row as stored, once scaled: rounding errors are proportional to it."""
        return self.norms

    def units_of_scores(self, w: Array) -> float:
        """Bound the error of a score at w in unit roundoffs of the row's `reach`, for any order of summation."""
        return (self.width + 8.0) * float(np.linalg.norm(w))

    def careful_dot(self, high: Array, low: Array) -> Array:
        """Scores at ``high + low``, off by a few units of the score itself."""
        scores = np.empty((len(self),) + high.shape[1:])
        pairs = list(zip(high.reshape(self.width, -1).T, low.reshape(self.width, -1).T))
        outputs = scores.reshape(len(self), len(pairs))
        for part, block in self._rows.blocks(AT_ONCE, len(self)):
            for k, pair in enumerate(pairs):
                outputs[part, k] = self._careful_scores(block, part, *pair)
        return scores

    def _careful_scores(self, block: Entries, part: slice, high: Array, low: Array) -> Array:
        scale = self._scale[part]
        terms, lost = _twofold.times(block.data, high.take(block.indices))
        lost += block.data * low.take(block.indices)
        first, second = _twofold.fold_parts(terms, lost, block.indptr)
        scaled, lost = _twofold.times(first, scale)
        lost += second * scale
        if self.intercept:
            pull, more = _twofold.times(np.float64(self.intercept), high[-1])
            more = more + self.intercept * low[-1]
            if self.shrink is not None:
                pull, rest = _twofold.times(self.shrink[part], pull)
                more = rest + self.shrink[part] * more
            scaled, error = _twofold.two_sum(scaled, pull)
            lost += error + more
        return np.asarray(scaled + lost)

    def careful_tdot(self, u: Array) -> tuple[Array, Array]:
        """Rows transposed times u as a pair of which the first is the answer, the second what rounding took from it."""
        outputs = u if u.ndim > 1 else u[:, None]  # of no records as of others
        total, lost = (np.zeros((outputs.shape[1], self.width)) for _ in range(2))
        for part, block in self._rows.blocks(AT_ONCE, BLOCK):
            across = block.by_column()
            for k, weights in enumerate(outputs[part].T):
                high, low = self._careful_sum(across, weights, part)
                total[k], error = _twofold.two_sum(total[k], high)
                lost[k] += error + low
        shape = (self.width,) + u.shape[1:]
        return total.T.reshape(shape), lost.T.reshape(shape)

    def _careful_sum(self, across: Entries, weights: Array, part: slice) -> tuple[Array, Array]:
        """Sum of a few rows, sorted by column, times weights, in twofold precision."""
        scaled, rest = _twofold.times(weights, self._scale[part])
        terms, lost = _twofold.times(across.data, scaled.take(across.indices))
        lost += across.data * rest.take(across.indices)
        high, low = _twofold.fold_parts(terms, lost, across.indptr)
        if not self.intercept:
            return high, low
        more: Any = 0.0
        if self.shrink is not None:
            weights, more = _twofold.times(weights, self.shrink[part])
        constants, lost = _twofold.times(weights, np.float64(self.intercept))
        last = _twofold.fold(constants, lost + self.intercept * more)
        return np.append(high, last[0]), np.append(low, last[1])

    def max_abs(self) -> Array:
        """Largest absolute entry of each scaled row, the constant column left out."""
        top = np.empty(len(self))
        for part, block in self._rows.blocks(AT_ONCE, len(self)):
            top[part] = _largest(block)
        top *= self._scale
        return top

    def to_dense(self) -> Array:
        """The scaled rows in doubles, the constant column among them: for a few rows at a time."""
        rows, block = np.zeros((len(self), self.width)), self._rows.alone()
        owner = block.along(np.arange(len(self)))
        rows[owner, block.indices] = block.data * self._scale.take(owner)
        if self.intercept:
            rows[:, -1] = self._left_of(self.intercept)
        return rows

    def moment(self) -> Array:
        """Sum of the rows' outer squares, within ROUNDINGS as any sum."""
        if few_pairs(self._rows):
            return self._squares(np.ones(len(self)))
        total = np.zeros((self.width, self.width))
        lost = np.zeros_like(total)
        for rows in self._dense_pieces():
            add(total, lost, rows.T @ rows)
        total += lost
        return total

    def gram(self, h: Array) -> Array:
        """Rows' diag(h) rows, for h >= 0."""
        if few_pairs(self._rows):
            return self._squares(np.sqrt(h))
        total = np.zeros((self.width, self.width))
        for start, rows in enumerate(self._dense_pieces()):
            total += rows.T @ (rows * h[start * PIECE : (start + 1) * PIECE, None])
        return total

    def _squares(self, factors: Array) -> Array:
        """Sum of the outer squares of rows times factors, from pairs of entries."""
        scale = self._scale * factors
        inner = outer_squares(self._rows, scale)
        if not self.intercept:
            return inner
        total = np.empty((self.width, self.width))
        constants = factors * self._left_of(self.intercept)
        total[:-1, :-1] = inner
        total[-1, :-1] = total[:-1, -1] = self._rows.tdot(constants * scale)
        total[-1, -1] = pairwise_total(np.square(constants))
        return total

    def _dense_pieces(self) -> Iterator[Array]:
        return (self.take(slice(k, k + PIECE)).to_dense() for k in range(0, len(self), PIECE))

    def image_norms(self, matrix: Array, in_place: bool) -> Array:
        """Bounds on the norms of the rows' images; each row is mapped by itself, wherever it stands."""
        constant = self._left_of(self.intercept) * np.ones(len(self))
        if not self.intercept:
            matrix = np.pad(matrix, ((0, 0), (0, 1)))
        return image_bounds(self._rows, self._scale, constant, matrix)

    def take(self, index: Array | slice) -> SparseRows:
        """The rows at `index`: copied, or viewed where it is a slice."""
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step == 1:
                rows = self._rows.part(start, max(start, stop))
            else:
                rows = self._rows.at(np.arange(start, stop, step))
        else:
            rows = self._rows.at(index)
        shrink = None if self.shrink is None else self.shrink[index]
        return SparseRows(rows, self._scale[index], self.norms[index], self.intercept, shrink)

    def chunks(self, least: int) -> Iterator[slice]:
        """Consecutive rows in parts of whole pieces that stay near a core, of about `least` rows or more; or in one."""
        entry = self.dtype.itemsize + self._rows.indices.itemsize
        mean = entry * self._rows.size / max(1, len(self)) + 4.0 * 8.0
        size = min(max(least, int(2.0 * PART / mean)), PIECE * PIECES)
        size = max(1, size // PIECE) * PIECE
        for start in range(0, max(1, len(self)), size):
            yield slice(start, min(start + size, len(self)))


def _beside(factor: Array, values: Array) -> Array:
    """Shape a factor for each row so that it multiplies values of one output or several."""
    return factor if values.ndim == 1 else factor[:, None]


def _largest(rows: Entries) -> Array:
    """Largest absolute entry of each row."""
    top = np.zeros(len(rows))
    full = np.flatnonzero(rows.counts)
    if full.size:
        top[full] = np.maximum.reduceat(np.abs(rows.data), rows.indptr[full])
    return top


def lengths_of(X: Any) -> Array:
    """Upper bounds of the norms of the rows of a sparse table, each a function of its own row alone.

    Parameters
    ----------
    X : sparse matrix or array of shape (n, d)
        In float64 or float32.

    Returns
    -------
    ndarray of float64 of shape (n,)
        Not finite where a row is too long for its type.
    """
    return _lengths(entries_of(X))


def _lengths(rows: Entries) -> Array:
    raw = np.empty(len(rows))
    for part, block in rows.blocks(AT_ONCE, len(rows)):
        raw[part] = _norms(block)
    return raw


def _norms(rows: Entries) -> Array:
    """Upper bounds of norms that neither overflow nor underflow; a row's squares are added in turn."""
    top = _largest(rows)
    safe = np.where(top > 0, top, 1.0)
    slack = 1.0 + (rows.columns + 16.0) * UNIT
    with np.errstate(over="ignore", invalid="ignore"):  # Records.admit refuses what is too large
        scaled = rows.data / rows.along(safe)
        squares = replace(rows, data=np.square(scaled)).dot(np.ones(rows.columns))
        return np.asarray(safe * np.sqrt(squares) * (slack * (top > 0)))
