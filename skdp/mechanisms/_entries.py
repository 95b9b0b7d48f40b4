"""Rows as lists of entries: arithmetic goes entry by entry, in the order in which a row stores them.

So what comes out of a row is a function of that row alone, wherever it stands. The loops are those of
`scipy.sparse`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array

from ._kernels import AT_ONCE, PIECE, PIECES, add

__all__ = ["Entries"]

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
        """Every piece has columns of its own in one product, and their totals are added."""
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
        """Sorted by column and added pairwise, as numpy does along a contiguous axis: no piece costs all columns."""
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
