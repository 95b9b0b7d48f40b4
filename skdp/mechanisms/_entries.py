"""Rows as lists of entries: arithmetic goes entry by entry, in the order in which a row stores them.

So what comes out of a row is a function of that row alone, wherever it stands. The loops are those of
`scipy.sparse`.

Pairs of entries of one row: what second moments and norms in other coordinates are made of, where rows are sparse.

A row of m entries has m (m + 1) / 2 pairs, however many columns there are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array

from ._kernels import AT_ONCE, PIECE, PIECES, UNIT, add

__all__ = ["Entries", "few_pairs", "image_bounds", "outer_squares"]


Array = np.ndarray[Any, Any]

WIDE = 4  # columns for each entry of a piece, from which on entries are sorted by column before they are added


class _Shared:
    """A matrix of scipy over arrays that may be parts of longer ones; it looks at lengths as others do."""

    def prune(self) -> None:
        """Do nothing: the constructor would copy such arrays, which takes longer than a product with them."""


class _SharedRows(_Shared, csr_array):
    """Row after row."""


class _SharedColumns(_Shared, csc_array):
    """The rows as columns: transposed."""


@dataclass(frozen=True, eq=False, repr=False)
class Entries:
    """Rows in CSR, in its canonical form: columns increase along a row, and no entry is zero.

    Parameters
    ----------
    data : ndarray
        Entries, row after row.
    indices : ndarray
        The column of each.
    indptr : ndarray of shape (n + 1,)
        Row i has the entries from ``indptr[i]`` to before ``indptr[i + 1]``; it need not begin with 0.
    columns : int
        How many there are: every index lies below.
    """

    data: Array
    indices: Array
    indptr: Array
    columns: int

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def counts(self) -> Array:
        """Entries of each row."""
        return np.diff(self.indptr)

    @property
    def size(self) -> int:
        """Entries of all rows."""
        return int(self.indptr[-1] - self.indptr[0])

    def part(self, start: int, stop: int) -> Entries:
        """Consecutive rows, without a copy."""
        return replace(self, indptr=self.indptr[start : stop + 1])

    def at(self, index: Array) -> Entries:
        """Copies of the rows at `index`, in the time of their entries."""
        starts = self.indptr[:-1].take(index)
        counts = self.indptr[1:].take(index) - starts
        indptr = np.zeros(len(counts) + 1, dtype=self.indptr.dtype)
        np.cumsum(counts, out=indptr[1:])
        place = np.arange(indptr[-1]) + np.repeat(starts - indptr[:-1], counts)
        return replace(
            self, data=self.data.take(place), indices=self.indices.take(place), indptr=indptr
        )

    def moved(self) -> Entries:
        """Return the rows without entries of other rows, so that `indptr` begins with 0."""
        inside = slice(int(self.indptr[0]), int(self.indptr[-1]))
        if inside == slice(0, len(self.data)):
            return self
        indptr = self.indptr - self.indptr[0]
        return replace(self, data=self.data[inside], indices=self.indices[inside], indptr=indptr)

    def alone(self) -> Entries:
        """Return the rows `moved`, in doubles."""
        rows = self.moved()
        if rows.data.dtype == np.float64:
            return rows
        return replace(rows, data=rows.data.astype(np.float64))

    def along(self, values: Array) -> Array:
        """Repeat one value of each row for each of the row's entries."""
        return np.repeat(values, self.counts)

    def blocks(self, entries: int, rows: int) -> Iterator[tuple[slice, Entries]]:
        """Consecutive rows of about so many entries, and at most so many rows, `alone`."""
        start, n = 0, len(self)
        while start < n:
            stop = int(self.indptr.searchsorted(self.indptr[start] + entries, side="right")) - 1
            stop = min(max(stop, start + 1), start + rows, n)
            yield slice(start, stop), self.part(start, stop).alone()
            start = stop

    def dot(self, w: Array) -> Array:
        """Rows times w, of shape (n,) or (n, K), one entry after the other in the rows' own precision."""
        rows = self.moved()
        table = _SharedRows((rows.data, rows.indices, rows.indptr), shape=(len(self), self.columns))
        return np.asarray(table @ np.asarray(w, dtype=self.data.dtype))

    def tdot(self, v: Array) -> Array:
        """Rows transposed times v, in doubles: pieces of rows, and parts of them with what rounding takes."""
        if len(self) <= AT_ONCE:
            return self.alone()._added(self.columns, v)
        total = np.zeros((self.columns,) + v.shape[1:])
        lost = np.zeros_like(total)
        wide = self.columns * len(self) > WIDE * PIECE * self.size
        wide = wide or self.columns * PIECES > np.iinfo(self.indices.dtype).max
        for start in range(0, len(self), PIECE * PIECES):
            stop = min(start + PIECE * PIECES, len(self))
            rows, given = self.part(start, stop).alone(), v[start:stop]
            add(total, lost, rows._by_column(given) if wide else rows._in_pieces(given))
        total += lost
        return total

    def _in_pieces(self, v: Array) -> Array:
        """Add up in one product in which each piece has columns of its own, and then add the totals."""
        pieces = -(-len(self) // PIECE)
        ends = self.indptr[np.minimum(np.arange(pieces + 1) * PIECE, len(self))]
        further = np.arange(pieces, dtype=self.indices.dtype) * self.columns
        indices = np.repeat(further, np.diff(ends))
        indices += self.indices
        totals = replace(self, indices=indices)._added(pieces * self.columns, v)
        by_piece = totals.reshape((pieces, self.columns) + v.shape[1:])
        return np.asarray(np.add.reduce(by_piece, axis=0))

    def _added(self, columns: int, v: Array) -> Array:
        """Row after row onto one total: for no more rows than one product may have, or columns for each piece."""
        table = self.data, self.indices, self.indptr
        return np.asarray(_SharedColumns(table, shape=(columns, len(self))) @ v)

    def _by_column(self, v: Array) -> Array:
        """Sort by column and add pairwise, as numpy does along a contiguous axis: no piece costs all columns."""
        sorted_ = self.by_column()
        full = np.flatnonzero(sorted_.counts)
        total = np.zeros((self.columns,) + v.shape[1:])
        outputs = v.reshape(len(v), -1)
        for k, across in enumerate(total.reshape(self.columns, -1).T):
            terms = sorted_.data * outputs[:, k].take(sorted_.indices)
            across[full] = np.add.reduceat(terms, sorted_.indptr[full]) if full.size else 0.0
        return total

    def by_column(self) -> Entries:
        """Return the transpose, `alone`: the entries column after column."""
        rows = self.alone()
        shape = len(self), self.columns
        across = _SharedRows((rows.data, rows.indices, rows.indptr), shape=shape).tocsc()
        return Entries(across.data, across.indices, across.indptr, len(self))


NEAR = 1 << 15  # entries that are paired together: they and their pairs stay near a core
PERIOD = (
    1 << 20,
    1 << 15,
)  # entries and rows: multiples of a grid, one of each row, add up without rounding
GRID = 2.0**-37  # of the largest product among them
LINES = 16  # of a matrix in one product
FLAT = 4  # a matrix of fewer lines than a part of its columns is not squared
FEW = 16  # columns for each entry, from which on pairs are quicker than products of blocks
TIGHT = 2.0**-40  # of the square of an image's norm: how much rounding a norm from pairs may add


def few_pairs(rows: Entries) -> bool:
    """Return whether rows have so few entries that their pairs are the quicker way."""
    return rows.size * FEW <= rows.columns * len(rows)


def _alike(rows: Entries) -> Iterator[tuple[Array, Array, Array]]:
    """Rows of equally many entries together: which, and their entries and columns, a line for each place in a row."""
    counts = rows.counts
    order = np.argsort(counts, kind="stable")
    ends = np.flatnonzero(np.diff(counts[order])) + 1
    for which in np.split(order, ends) if len(order) else ():
        place = rows.indptr.take(which) + np.arange(counts[which[0]])[:, None]
        yield which, rows.data.take(place), rows.indices.take(place).astype(np.intp)


def outer_squares(rows: Entries, scale: Array) -> Array:
    """Sum of the outer squares of rows times `scale`, one factor for each row.

    Products are split at a grid: the high parts add up exactly, and what is left is too small for its rounding to count
    (Rump, Ogita and Oishi 2008).
    """
    width = rows.columns
    total, lost = np.zeros((2, width * width))
    for part, block in rows.blocks(*PERIOD):
        scaled = replace(block, data=block.data * block.along(scale[part]))
        # Adding 3/2 of 2^52 grids leaves a multiple of the grid.
        largest = float(np.abs(scaled.data).max(initial=0.0)) ** 2
        grid = GRID * 2.0 ** math.frexp(largest)[1] if math.isfinite(largest) else 1.0
        high, low = np.zeros((2, width * width))
        for _, near in scaled.blocks(NEAR, len(scaled)):
            _add_pairs(near, 1.5 * 2.0**52 * grid, high, low)
        add(total, lost, high)
        lost += low
    total += lost
    upper = total.reshape(width, width)
    return np.asarray(upper + np.triu(upper, 1).T)


def _add_pairs(rows: Entries, shift: float, high: Array, low: Array) -> None:
    """Add the upper triangle of the rows' outer squares in two parts; a row has one product in each of its cells."""
    for _, values, columns in _alike(rows):
        lines = columns * rows.columns
        for apart in range(len(values)):
            upto = len(values) - apart
            products = (values[:upto] * values[apart:]).reshape(-1)
            cells = (lines[:upto] + columns[apart:]).reshape(-1)
            coarse = (products + shift) - shift
            np.add.at(high, cells, coarse)
            products -= coarse
            np.add.at(low, cells, products)


def image_bounds(rows: Entries, scale: Array, constant: Array, matrix: Array) -> Array:
    """Bounds on the norms of the images of rows beside a last column: as computed, and what rounding may have taken.

    A row decides by itself how: from its pairs where it has few entries and they do not cancel, else entry by entry.

    Parameters
    ----------
    rows : Entries
        Of the features.
    scale : ndarray of shape (n,)
        What each row is multiplied by.
    constant : ndarray of shape (n,)
        What each row has in the last column.
    matrix : ndarray of shape (k, columns + 1)
        What maps them.
    """
    if FLAT * len(matrix) < matrix.shape[1]:
        return _by_entries(rows, scale, constant, matrix)
    norms, square = np.empty(len(rows)), _squared(matrix)
    for part, block in rows.blocks(NEAR, NEAR):
        scaled = replace(block, data=block.data * block.along(scale[part]))
        norms[part] = _from_pairs(scaled, constant[part], square)
    untold = np.flatnonzero(np.isinf(norms))
    norms[untold] = _by_entries(rows.at(untold), scale[untold], constant[untold], matrix)
    return norms


def _squared(matrix: Array) -> Array:
    """The matrix transposed times itself, a few lines at a time, with what rounding takes where those are added."""
    total, lost = np.zeros((2, matrix.shape[1], matrix.shape[1]))
    for start in range(0, len(matrix), LINES):
        lines = matrix[start : start + LINES]
        add(total, lost, lines.T @ lines)
    return np.asarray(total + lost)


def _from_pairs(rows: Entries, last: Array, square: Array) -> Array:
    """Norms by the quadratic form of the matrix's square, infinite where that tells too little."""
    lengths = np.sqrt(square.diagonal())
    few = rows.counts * FEW <= rows.columns
    told = rows if few.all() else rows.at(np.flatnonzero(few))
    constant = last[few]
    squares = _forms(told, np.ascontiguousarray(square[:-1, :-1]).reshape(-1))
    squares += constant * (2.0 * told.dot(square[:-1, -1]) + constant * square[-1, -1])
    reach = replace(told, data=np.abs(told.data)).dot(lengths[:-1]) + constant * lengths[-1]
    # Entries of the square are off by LINES + 8 units of two columns' lengths, a form by two for each of its entries.
    off = (LINES + 2.0 * told.counts + 32.0) * UNIT * np.square(reach)
    norms = np.full(len(rows), np.inf)
    bounds = np.sqrt(np.maximum(squares, 0.0) + off) * (1.0 + 16.0 * UNIT)
    norms[few] = np.where(off <= TIGHT * squares, bounds, np.inf)
    return norms


def _forms(rows: Entries, inner: Array) -> Array:
    """The quadratic form of each row; each row's terms are added one after the other."""
    forms = np.zeros(len(rows))
    for which, values, columns in _alike(rows):
        lines = columns * rows.columns
        terms = np.zeros_like(values)
        for apart in range(len(values)):
            upto = len(values) - apart
            factor = inner.take(lines[:upto] + columns[apart:])
            factor *= values[apart:]
            terms[:upto] += 2.0 * factor if apart else factor
        terms *= values
        for term in terms:
            forms[which] += term
    return forms


def _by_entries(rows: Entries, scale: Array, constant: Array, matrix: Array) -> Array:
    """Norms of images that are made column of the matrix after column."""
    norms = np.empty(len(rows))
    across = np.ascontiguousarray(matrix.T)
    lengths = np.sqrt(np.square(across).sum(axis=1))
    grown = 1.0 + (len(matrix) + 16.0) * UNIT
    for part, block in rows.blocks(PERIOD[0], max(1, PERIOD[0] // len(matrix))):
        scaled = replace(block, data=block.data * block.along(scale[part]))
        image = scaled.dot(across[:-1]) + constant[part, None] * across[-1]
        reach = replace(scaled, data=np.abs(scaled.data)).dot(lengths[:-1])
        reach += constant[part] * lengths[-1]
        slack = (matrix.shape[1] + 8.0) * UNIT * reach
        norms[part] = (np.sqrt(np.einsum("ij,ij->i", image, image)) + slack) * grown
    return norms
