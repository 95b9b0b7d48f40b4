"""Memory that nobody else may write: a vault holds no other, for rows are bounded once and read again.

What another process could write is copied: into memory, or, where a table is large, into a temporary file without a
name. Such a file has one owner. It is written once, mapped to be read, and gone with the last array that shows it, also
where the process is killed. To everything else it is an array of this process (docs/proofs/sums.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from mmap import mmap
from tempfile import TemporaryFile, gettempdir
from typing import Any
from weakref import WeakSet

import numpy as np
from scipy.sparse import issparse

from ..exceptions import NotSupported

__all__ = ["by_parts", "copy_if_shared", "is_shared", "is_stored", "parts_of", "store", "take_rows"]

Array = np.ndarray[Any, Any]

_PARTS = ("data", "indices", "indptr", "row", "col")  # arrays of a sparse table
LARGE = 1 << 26  # bytes from which a table is worth a file
AT_ONCE = 1 << 19  # bytes that are worked on together: they stay in the cache
_OWN: WeakSet[mmap] = WeakSet()


def store(blocks: Iterable[Array], shape: tuple[int, int], dtype: Any) -> Array:
    """Write blocks of rows one below the other, and return the table: read-only, in C order.

    Parameters
    ----------
    blocks : iterable of ndarray of shape (m, d)
        Consecutive rows, of any type of numbers.
    shape : tuple of (int, int)
        Of the whole table: blocks that do not fill it, or go beyond it, are refused.
    dtype : dtype
        Of the table.
    """
    file: Any = _try(TemporaryFile)
    try:
        _write(blocks, shape, dtype, file)
        if not shape[0] * shape[1]:
            return np.empty(shape, dtype)
        shown = np.memmap(file, dtype, "r", shape=shape)
    finally:
        with suppress(OSError):  # what cannot be written has been refused
            file.close()
    base: Any = shown.base
    _OWN.add(base)
    return np.asarray(shown)


def _write(blocks: Iterable[Array], shape: tuple[int, int], dtype: Any, file: Any) -> None:
    """Write a table that blocks fill exactly."""
    rows = 0
    for block in blocks:
        rows += len(block)
        if np.shape(block)[1:] != shape[1:] or rows > shape[0]:
            rows = -1
            break
        numbers = np.ascontiguousarray(block, dtype)
        _try(partial(file.write, numbers.data))
    if rows != shape[0]:
        raise NotSupported(
            "X does not hold the rows and columns that it had when it was opened; open it again."
        )
    _try(file.flush)


def _try(call: Callable[[], Any]) -> Any:
    """Make or write a temporary file, or refuse without what the system says of it."""
    with suppress(OSError):
        return call()
    raise NotSupported(
        f"the temporary folder {gettempdir()!r} has no room for a copy of X; set the environment variable TMPDIR to a "
        "folder of a larger disk, or load X into memory."
    )


def _maps_own_file(base: Any) -> bool:
    """Return whether the memory that an array belongs to is a map of such a file."""
    return isinstance(base, mmap) and base in _OWN


def is_stored(array: Array) -> bool:
    """Return whether an array is a table in such a file, or a view of one."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return _maps_own_file(array.base)


def parts_of(n: int, row_bytes: int) -> Iterator[slice]:
    """Consecutive slices of n rows of so many bytes each."""
    size = max(AT_ONCE // max(row_bytes, 1), 1)
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def by_parts(
    of: Callable[[slice], Array], shape: tuple[int, int], dtype: Any, beside: Array
) -> Array:
    """Return what `of` makes of all rows, part by part: in a file where the table that it reads lies in one.

    Parameters
    ----------
    of : callable
        From consecutive places to the new rows there, each of which depends on its place alone.
    shape, dtype
        Of the new table.
    beside : ndarray
        The table that it reads.
    """
    parts = parts_of(shape[0], max(shape[1] * np.dtype(dtype).itemsize, beside.strides[0]))
    if shape[0] * shape[1] * np.dtype(dtype).itemsize >= LARGE and is_stored(beside):
        return store(map(of, parts), shape, dtype)
    out = np.empty(shape, dtype)
    for part in parts:
        out[part] = of(part)
    return out


def take_rows(X: Array, index: Array) -> Array:
    """Return the rows of a table at `index`, in a file where the table lies in one and they are many."""
    row_bytes = X.shape[1] * X.itemsize
    if len(index) * row_bytes < LARGE or not is_stored(X):
        return X.take(index, axis=0)
    parts = parts_of(len(index), row_bytes)
    return store((X.take(index[part], axis=0) for part in parts), (len(index), X.shape[1]), X.dtype)


def is_shared(array: Array) -> bool:
    """Return whether another process may write to an array's memory.

    Only memory that numpy itself has set aside, immutable bytes, and maps of temporary files without a name are known
    to be this process' alone. A map of any other file, shared memory, a tensor or a buffer of another library may
    change between two reads.
    """
    while isinstance(array.base, np.ndarray):
        array = array.base
    own = array.base is None and array.flags.owndata
    return not (own or isinstance(array.base, bytes) or _maps_own_file(array.base))


def copy_if_shared(X: Any) -> Any:
    """Copy an array or a sparse table whose memory others may write; return anything else as it is.

    Parameters
    ----------
    X : ndarray, sparse table or object
        What is about to be admitted.

    Returns
    -------
    object
        The same numbers, which nobody but this process can change.
    """
    if isinstance(X, np.ndarray):
        return _copy(X) if is_shared(X) else X
    if issparse(X):
        parts = (getattr(X, name, None) for name in _PARTS)
        if any(isinstance(part, np.ndarray) and is_shared(part) for part in parts):
            return X.copy()
    return X


def _copy(X: Array) -> Array:
    """Copy an array: a large table into a file that nobody else can open, anything else into memory."""
    if X.ndim != 2 or X.nbytes < LARGE:
        return np.array(X)
    parts = parts_of(len(X), X.shape[1] * X.itemsize)
    return store((X[part] for part in parts), X.shape, X.dtype)
