"""Tables in Parquet and Arrow files: numbers in columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..exceptions import NotSupported
from ..mechanisms._shards import Part, Shards
from ._files import Paths, files_of

__all__ = ["open_arrow", "open_parquet"]

ROWS = 1 << 16  # at most, that are read together


def open_parquet(paths: Paths, columns: Sequence[str] | None = None) -> Shards:
    """Open a table in one Parquet file or in several, to be fitted without being loaded into memory.

    Parameters
    ----------
    paths : path or iterable of paths
        Files, in the order of their rows; a folder stands for its ``.parquet`` files in the order of their names.
    columns : sequence of str, default=None
        Names of the columns that are features, in their order; None for all. They hold numbers or booleans.

    Returns
    -------
    Shards
        What fits, predictions and scores take as X. No number of it has been read. A fit decodes each file once.

    See Also
    --------
    skdp.engines.open_arrow : Arrow files.
    skdp.engines.open_npy : Files of numpy.

    Notes
    -----
    This needs pyarrow: ``pip install skdp[arrow]``.
    """
    return _open(paths, ".parquet", columns)


def open_arrow(paths: Paths, columns: Sequence[str] | None = None) -> Shards:
    """Open a table in one Arrow (Feather) file or in several, to be fitted without being loaded into memory.

    Parameters
    ----------
    paths, columns
        As of `open_parquet`, of ``.arrow`` files in the format of Arrow's IPC files.

    Returns
    -------
    Shards
        What fits, predictions and scores take as X.

    See Also
    --------
    skdp.engines.open_parquet : Parquet files.
    skdp.engines.open_npy : Files of numpy.

    Notes
    -----
    This needs pyarrow: ``pip install skdp[arrow]``.
    """
    return _open(paths, ".arrow", columns)


def _open(paths: Paths, ending: str, columns: Sequence[str] | None) -> Shards:
    parts, first = [], None
    for path in files_of(paths, ending):
        file, schema, rows = _opened(path, ending)
        names = list(schema.names if columns is None else columns)
        first = names if first is None else first
        if names != first or len(set(names)) < len(names) or not set(names) <= set(schema.names):
            raise ValueError(
                "columns must be in every file, once each and in one order; name those that are features."
            )
        dtype = _type_of([schema.field(name).type for name in names])
        parts.append(Part((rows, len(names)), dtype, partial(_blocks, path, ending, names, dtype)))
        del file
    return Shards(parts)


def _opened(path: Path, ending: str) -> tuple[Any, Any, int]:
    """Return a file, its schema and its number of rows, none of which has been decoded."""
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise ImportError("Parquet and Arrow files need pyarrow; install skdp[arrow].") from None
    if ending == ".parquet":
        file = parquet.ParquetFile(path)
        return file, file.schema_arrow, file.metadata.num_rows
    stream = arrow.ipc.open_file(arrow.memory_map(str(path)))
    rows = sum(stream.get_batch(k).num_rows for k in range(stream.num_record_batches))
    return stream, stream.schema, rows


def _type_of(kinds: list[Any]) -> np.dtype[Any]:
    """Return float32 where all columns are of that, float64 otherwise; decided by their declared types alone."""
    from pyarrow import types

    numbers = types.is_integer, types.is_floating, types.is_boolean, types.is_decimal
    if not all(any(is_kind(kind) for is_kind in numbers) for kind in kinds):
        raise ValueError(
            "a column holds neither numbers nor booleans; name those that do in columns=, and encode the others."
        )
    single = all(types.is_float32(kind) for kind in kinds)
    return np.dtype(np.float32 if single else np.float64)


def _blocks(
    path: Path, ending: str, names: list[str], dtype: np.dtype[Any]
) -> Iterator[np.ndarray[Any, Any]]:
    """Decode the rows of a file once, some at a time; a cell that is null is NaN."""
    file, schema, _ = _opened(path, ending)
    if (
        not set(names) <= set(schema.names)
        or _type_of([schema.field(k).type for k in names]) != dtype
    ):
        raise NotSupported(
            "a file of X is not the one that was opened: its columns have changed; open it again."
        )
    for batch in _batches(file, ending, names):
        rows = np.empty((batch.num_rows, len(names)), dtype)
        for place, name in enumerate(names):
            cells = batch.column(name).cast(_arrow_type(dtype), safe=False)
            rows[:, place] = cells.to_numpy(zero_copy_only=False)
        yield rows


def _arrow_type(dtype: np.dtype[Any]) -> Any:
    from pyarrow import from_numpy_dtype

    return from_numpy_dtype(dtype)


def _batches(file: Any, ending: str, names: list[str]) -> Iterable[Any]:
    if ending == ".parquet":
        yield from file.iter_batches(batch_size=ROWS, columns=names, use_threads=False)
        return
    for k in range(file.num_record_batches):
        batch = file.get_batch(k)
        for start in range(0, batch.num_rows, ROWS):
            yield batch.slice(start, ROWS)
