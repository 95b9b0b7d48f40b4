"""Tables in parts that are read once, block by block: they need not fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ._rows import DenseRows
from ._shared_memory import store

__all__ = ["Part", "ShardRows", "Shards"]

Array = np.ndarray[Any, Any]


class Part(NamedTuple):
    """Consecutive rows of a table, as a file holds them.

    Parameters
    ----------
    shape : tuple of (int, int)
        Rows and columns, as they were when the file was opened.
    dtype : dtype
        Of its numbers.
    blocks : callable
        Without arguments: reads the rows once, in order, some at a time, each from its own place alone.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    blocks: Callable[[], Iterable[Array]]


class Shards:
    """A table whose rows lie in several files, of which no more than a block at a time is in memory.

    A fit reads each file once and keeps a copy of the rows in a temporary file that no other process can open. It needs
    room for that copy in the temporary folder, ``TMPDIR``, and memory for a few numbers of each row.

    Parameters
    ----------
    parts : sequence of Part
        Consecutive rows, with the same number of columns each.

    Attributes
    ----------
    shape : tuple of (int, int)
        Rows and columns of the whole table.
    dtype : dtype
        float32 where all parts are of that, float64 otherwise.

    See Also
    --------
    skdp.engines.open_npy : Opens ``.npy`` files.
    skdp.engines.open_parquet : Opens Parquet files.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from skdp import DPLogisticRegression
    >>> from skdp.engines import open_npy
    >>> rows = np.random.default_rng(0).normal(size=(200, 3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(Path(folder) / "0.npy", rows[:120])
    ...     np.save(Path(folder) / "1.npy", rows[120:])
    ...     model = DPLogisticRegression(epsilon=1.0, data_norm=3.0, classes=[False, True])
    ...     model.fit(open_npy(folder), rows[:, 0] > 0).n_features_in_
    3
    """

    __slots__ = ("_parts", "dtype", "shape")

    def __init__(self, parts: Iterable[Part]) -> None:
        self._parts = tuple(parts)
        widths = {part.shape[1] for part in self._parts if len(part.shape) == 2}
        if len(widths) != 1 or any(len(part.shape) != 2 for part in self._parts):
            raise ValueError(
                "the parts of a table must have two dimensions and the same number of columns; check each file's shape."
            )
        if any(part.dtype.kind not in "biuf" for part in self._parts):
            raise ValueError("the parts of a table must hold real numbers; convert other columns.")
        single = all(part.dtype == np.float32 for part in self._parts)
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self.shape = (sum(part.shape[0] for part in self._parts), widths.pop())

    def __repr__(self) -> str:
        return f"Shards({self.shape[1]} columns, {self.dtype})"

    def blocks(self) -> Iterator[Array]:
        """Read all rows once, in order, some at a time."""
        return chain.from_iterable(part.blocks() for part in self._parts)


class ShardRows(DenseRows):
    """Bounded rows of such a table, over its copy."""

    __slots__ = ()

    @staticmethod
    def admits(X: Any) -> bool:
        """Return whether a table lies in parts."""
        return isinstance(X, Shards)

    @staticmethod
    def from_dense(X: Any) -> Shards:
        """A table that is admitted, for the laws."""
        parts = np.array_split(X, 3)
        return Shards(Part(x.shape, x.dtype, lambda x=x: [x]) for x in parts)  # type: ignore[misc]

    @staticmethod
    def read(X: Any) -> Array:
        """Return the rows one below the other, in a file that nobody else can open."""
        return store(X.blocks(), X.shape, X.dtype)

    @classmethod
    def bounded(cls, X: Any, data_norm: float, intercept: float) -> DenseRows:
        """Rows of what was read."""
        return super().bounded(cls.read(X), data_norm, intercept)
