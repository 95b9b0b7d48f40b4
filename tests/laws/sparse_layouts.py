"""The same numbers in the forms that scipy's sparse tables take, orderly and not."""

import warnings

import numpy as np
from scipy import sparse

__all__ = ["SPARSE", "sparse_laid_out"]


def _unsorted(X):
    """Every row from right to left."""
    table = sparse.csr_array(X)
    for start, stop in zip(table.indptr, table.indptr[1:]):
        table.indices[start:stop] = table.indices[start:stop][::-1].copy()
        table.data[start:stop] = table.data[start:stop][::-1].copy()
    table.has_sorted_indices = table.has_canonical_format = True  # and it says that it is sorted
    return table


def _halved(X):
    """Every cell in two entries."""
    table = sparse.csr_array(X)
    parts = np.repeat(table.data, 2)
    parts[::2] /= 2
    parts[1::2] -= parts[::2]
    return sparse.csr_array((parts, np.repeat(table.indices, 2), 2 * table.indptr), shape=X.shape)


def _with_zeros(X):
    """All cells, zeros of either sign among them."""
    n, d = X.shape
    cells = np.where(X == 0, X.dtype.type(-0.0), X).ravel()
    return sparse.csr_array(
        (cells, np.tile(np.arange(d), n), np.arange(0, n * d + 1, d)), shape=X.shape
    )


def _cancelling(X):
    """Two more entries in every row, which cancel."""
    n, d = X.shape
    table = sparse.coo_array(X)
    rows, big = np.arange(n), np.full(n, 0.25, dtype=X.dtype)
    columns = np.full(n, d - 1)
    return sparse.coo_array(
        (
            np.concatenate([big, -big, table.data]),
            (
                np.concatenate([rows, rows, table.row]),
                np.concatenate([columns, columns, table.col]),
            ),
        ),
        shape=X.shape,
    )


def _shuffled(X):
    """Triplets in any order."""
    table = sparse.coo_array(X)
    order = np.random.default_rng(0).permutation(len(table.data))
    coords = table.row[order], table.col[order]
    return sparse.coo_array((table.data[order], coords), shape=X.shape)


def _long_indices(X):
    table = sparse.csr_array(X)
    table.indices, table.indptr = table.indices.astype(np.int64), table.indptr.astype(np.int64)
    return table


def _read_only(X):
    table = sparse.csr_matrix(X)
    for array in (table.data, table.indices, table.indptr):
        array.setflags(write=False)
    return table


def _roomy(X):
    """Arrays that are longer than what is stored."""
    table = sparse.csr_array(X)
    table.data = np.append(table.data, X.dtype.type(np.nan))
    table.indices = np.append(table.indices, np.int32(77))
    return table


def _diagonals(X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sparse.SparseEfficiencyWarning)
        return sparse.dia_array(X)


SPARSE = {
    "csr": sparse.csr_array,
    "matrix": sparse.csr_matrix,
    "csc": sparse.csc_array,
    "blocks": sparse.bsr_array,
    "lists": sparse.lil_array,
    "keys": sparse.dok_array,
    "diagonals": _diagonals,
    "shuffled": _shuffled,
    "unsorted": _unsorted,
    "halved": _halved,
    "zeros": _with_zeros,
    "cancelling": _cancelling,
    "int64": _long_indices,
    "read-only": _read_only,
    "roomy": _roomy,
}


def sparse_laid_out(X, layout):
    """A table of these numbers."""
    return SPARSE[layout](np.asarray(X))
