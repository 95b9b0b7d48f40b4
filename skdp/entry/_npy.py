"""Tables in `.npy` files."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..exceptions import NotSupported
from ..mechanisms._shards import Part, Shards
from ._files import Paths, files_of

__all__ = ["open_npy"]

AT_ONCE = 1 << 23  # bytes that are read together


class _Header(NamedTuple):
    """Header of a file: where its numbers begin, and how they lie."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    offset: int
    by_column: bool


def open_npy(paths: Paths) -> Shards:
    """Open a table in one `.npy` file or in several, to be fitted without being loaded into memory.

    Parameters
    ----------
    paths : path or iterable of paths
        Files, in the order of their rows; a folder stands for its ``.npy`` files in the order of their names. Each file
        holds a two-dimensional array of numbers, rows or columns first.

    Returns
    -------
    Shards
        What fits, predictions and scores take as X. No number of it has been read.

    See Also
    --------
    skdp.engines.open_parquet : Columns of Parquet files.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from skdp.engines import open_npy
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/X.npy", np.zeros((5, 3), np.float32))
    ...     open_npy(f"{folder}/X.npy")
    Shards(3 columns, float32)
    """
    parts = []
    for path in files_of(paths, ".npy"):
        header = _header_of(path)
        parts.append(Part(header.shape, header.dtype, partial(_blocks, path, header)))  # type: ignore[arg-type]
    return Shards(parts)


def _header_of(path: Path) -> _Header:
    shown: Any = np.load(path, mmap_mode="r", allow_pickle=False)
    by_column = not shown.flags.c_contiguous
    return _Header(shown.shape, shown.dtype, shown.offset, by_column)


def _blocks(path: Path, header: _Header) -> Iterator[np.ndarray[Any, Any]]:
    """Read the rows of a file, some at a time; what it held when it was opened must still be what it holds."""
    if _header_of(path) != header:
        raise NotSupported(
            "a file of X is not the one that was opened: its shape or type has changed; open it again."
        )
    n, d = header.shape
    size = max(AT_ONCE // max(d * header.dtype.itemsize, 1), 1)
    with path.open("rb") as file:
        for start in range(0, n, size):
            yield _rows(file, header, start, min(size, n - start))


def _rows(file: Any, header: _Header, start: int, count: int) -> np.ndarray[Any, Any]:
    """Read consecutive rows into memory of this process: a file that has become shorter is an error."""
    (n, d), dtype = header.shape, header.dtype
    if not header.by_column:
        file.seek(header.offset + start * d * dtype.itemsize)
        return np.fromfile(file, dtype, count * d).reshape(count, d)
    rows = np.empty((count, d), dtype)
    for column in range(d):
        file.seek(header.offset + (column * n + start) * dtype.itemsize)
        rows[:, column] = np.fromfile(file, dtype, count)
    return rows
