"""Files of the public data, and reading of a csv into columns."""

from __future__ import annotations

import csv
import gzip
import io
import os
from collections.abc import Callable, Container, Iterable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from ..preprocessing._cells import Array, as_numbers

__all__ = ["Folder", "data_home", "locate", "read_columns", "read_table"]

Folder = str | os.PathLike[str] | None

VARIABLE = "SKDP_DATA"
_BLOCK = 20_000


def data_home(folder: Folder = None) -> Path:
    """The folder of the data: the argument, else the environment variable SKDP_DATA."""
    folder = folder or os.environ.get(VARIABLE)
    if not folder:
        raise FileNotFoundError(
            f"No data folder: pass data_home='...' or set the environment variable {VARIABLE}."
        )
    return Path(folder).expanduser()


def locate(
    relative: str,
    folder: Folder = None,
    fetch: Callable[[Path], None] | None = None,
    hint: str = "",
) -> Path:
    """The path of ``relative`` in the data folder, made by ``fetch(path)`` when it is missing."""
    path = data_home(folder) / relative
    if path.exists():
        return path
    if fetch is None:
        remedy = hint or "pass download=True to get it from its public source"
        raise FileNotFoundError(f"{path} is missing: {remedy}.")
    path.parent.mkdir(parents=True, exist_ok=True)
    fetch(path)
    return path


def read_table(path: Path, numeric: Container[str]) -> dict[str, Array]:
    """The columns of a csv file (gz or not) with a header; those in ``numeric`` as floats."""
    opener = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8-sig", errors="replace", newline="") as stream:
        return read_columns(stream, numeric)


def read_columns(
    stream: Iterable[str], numeric: Container[str], delimiter: str = ","
) -> dict[str, Array]:
    """The columns of an open csv text; a field that is no number is NaN in a numeric column."""
    rows: Iterator[list[str]]
    rows = csv.reader(stream, delimiter=delimiter, skipinitialspace=True)
    header = [name.strip() for name in next(rows, [])]
    if len(set(header)) != len(header) or not header:
        raise ValueError(f"The first line must name every column once, got {header}.")
    if len(header) == 1 and ";" in header[0]:
        raise ValueError(
            f"The first line names one column, {header[0]!r}: separate columns by ',' and not by ';'."
        )
    rows = filter(None, rows)
    parts: list[list[Array]] = [[] for _ in header]
    # Block by block: a whole file of Python strings would take many times its size.
    while block := _block(rows):
        _check_width(block, len(header))
        for name, part, values in zip(header, parts, zip(*block)):
            part.append(as_numbers(values) if name in numeric else np.array(values))
    empty = [np.empty(0)]
    return {name: np.concatenate(part or empty) for name, part in zip(header, parts)}


def write_gz(path: Path, text: str) -> None:
    """Write a deterministic gz file in one move: an interrupted download leaves nothing behind."""
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as stream:
        stream.write(text.encode())
    replace_file(path, buffer.getvalue())


def replace_file(path: Path, content: bytes) -> None:
    """Write bytes under a temporary name, then rename."""
    partial = path.with_name(path.name + ".part")
    partial.write_bytes(content)
    partial.replace(path)


def _block(rows: Iterator[list[str]]) -> list[list[str]]:
    try:
        return list(islice(rows, _BLOCK))
    except csv.Error:
        # The reader's own words may quote the line.
        raise ValueError("The file is not a valid csv: check its quotes.") from None


def _check_width(block: list[list[str]], width: int) -> None:
    if any(len(row) != width for row in block):
        alone = "; fields are told apart by commas" if width == 1 else ""
        raise ValueError(
            f"Every line must have the {width} fields that the first line names{alone}."
        )
