"""Sparse tables at the door: any format of `scipy.sparse`, brought to one form before anything looks at a value.

A row's entries stand in the order of its columns, entries of one cell are added in the order in which they were stored,
and zeros go. All of it is done row by row: what a row becomes does not depend on how another one is stored.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from ._entries import Array, Entries

__all__ = ["entries_of", "is_sparse"]

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
    """Sorted along rows, cells of several entries added up in doubles, zeros left out."""
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
