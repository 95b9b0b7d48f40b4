"""Downloads from the public sources, checked before they are kept.

A source is fetched with the standard library alone, its checksum (where one is well known) or its
counts are verified, and the result is written in the one layout that the loaders read.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import os
import zipfile
from collections.abc import Callable, Container, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ..fitting.data import Array, as_numbers

__all__ = [
    "URLS",
    "Folder",
    "data_home",
    "fetch_adult",
    "fetch_bank",
    "fetch_bike",
    "fetch_kddcup99",
    "fetch_mnist",
    "locate",
    "read_columns",
    "read_table",
]


Folder = str | os.PathLike[str] | None

VARIABLE = "SKDP_DATA"
USUAL = "~/skdp_data"
_BLOCK = 20_000


def data_home(folder: Folder = None) -> Path:
    """Return the folder of the data: the argument, else the environment variable SKDP_DATA, else ~/skdp_data."""
    return Path(folder or os.environ.get(VARIABLE) or USUAL).expanduser()


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
        raise FileNotFoundError(
            f"{path} is missing: {remedy}, or name the folder that has it by data_home='...' or {VARIABLE}."
        )
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


_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist"

URLS = {
    "adult.data": f"{_UCI}/adult/adult.data",
    "adult.test": f"{_UCI}/adult/adult.test",
    "bank": f"{_UCI}/00222/bank.zip",
    "bike": f"{_UCI}/00275/Bike-Sharing-Dataset.zip",
    "kddcup99": "http://kdd.ics.uci.edu/databases/kddcup99/kddcup.data_10_percent.gz",
    "wine-red": f"{_UCI}/wine-quality/winequality-red.csv",
    "wine-white": f"{_UCI}/wine-quality/winequality-white.csv",
    "X_train": f"{_MNIST}/train-images-idx3-ubyte.gz",
    "y_train": f"{_MNIST}/train-labels-idx1-ubyte.gz",
    "X_test": f"{_MNIST}/t10k-images-idx3-ubyte.gz",
    "y_test": f"{_MNIST}/t10k-labels-idx1-ubyte.gz",
}

# MD5 of the sources as published (of the uncompressed files for MNIST).
MD5 = {
    "adult.data": "5d7c39d7b8804f071cdd1f2a7c460872",
    "adult.test": "35238206dfdf7f1fe215bbb874adecdc",
    "X_train": "6bbc9ace898e44ae57da46a324031adb",
    "y_train": "a25bea736e30d166cdddb491f175f624",
    "X_test": "2646ac647ad5339dbf082846283269ea",
    "y_test": "27ae3e4e09519cfbb04c329615203637",
}

# Rows of the sources that have no well-known checksum.
ROWS = {"bank": 45_211, "bike": 17_379, "kddcup99": 494_021, "wine-red": 1_599, "wine-white": 4_898}


def fetch_adult(path: Path, header: Iterable[str]) -> None:
    """Fetch both parts of Adult; blanks and the trailing dots of the test part are removed."""
    lines = [",".join(header)]
    for part in ("train", "test"):
        text = download("adult.data" if part == "train" else "adult.test").decode()
        rows = [line.rstrip(".") for line in text.replace(", ", ",").splitlines()]
        lines += [f"{row},{part}" for row in rows if row and not row.startswith("|")]
    write_gz(path, "\n".join(lines) + "\n")


def fetch_bank(path: Path) -> None:
    """The full bank marketing file, semicolons to commas."""
    text = _member(download("bank"), "bank-full.csv").replace('"', "").replace(";", ",")
    _write_counted(path, "bank", text.splitlines())


def fetch_bike(path: Path) -> None:
    """The hourly file of bike sharing, as it is."""
    _write_counted(path, "bike", _member(download("bike"), "hour.csv").splitlines())


def fetch_kddcup99(path: Path, header: Iterable[str]) -> None:
    """The ten per cent file, with a header and without the labels' trailing dots."""
    rows = [line.rstrip(".") for line in gzip.decompress(download("kddcup99")).decode().split()]
    _write_counted(path, "kddcup99", [",".join(header), *rows])


def fetch_wine(path: Path, header: Iterable[str]) -> None:
    """Red rows, then white ones, with their colour."""
    lines = [",".join(header)]
    for color in ("red", "white"):
        rows = download(f"wine-{color}").decode().replace(";", ",").split("\n")[1:]
        rows = [f"{row.strip()},{color}" for row in rows if row.strip()]
        _check_rows(f"wine-{color}", len(rows))
        lines += rows
    write_gz(path, "\n".join(lines) + "\n")


def fetch_mnist(path: Path) -> None:
    """The four idx files as one npz of unsigned bytes."""
    arrays: dict[str, Any] = {}
    for name in ("X_train", "y_train", "X_test", "y_test"):
        raw = gzip.decompress(download(name, check=False))
        _check_md5(name, raw)
        shape = np.frombuffer(raw, ">i4", count=raw[3], offset=4)
        arrays[name] = np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(shape)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    replace_file(path, buffer.getvalue())


def download(name: str, check: bool = True) -> bytes:
    """The bytes of one source; its checksum is verified where one is known."""
    import urllib.error  # here, since few programs download
    import urllib.request

    request = urllib.request.Request(URLS[name], headers={"User-Agent": "skdp"})
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            content = response.read()
    except (urllib.error.URLError, TimeoutError) as error:
        reason = getattr(error, "reason", error)
        raise OSError(
            f"Could not download {URLS[name]} ({reason}): fetch it by hand, or check the network."
        ) from error
    if check and name in MD5:
        _check_md5(name, content)
    return content


def _check_md5(name: str, content: bytes) -> None:
    digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
    if digest != MD5[name]:
        raise OSError(
            f"{URLS[name]} has MD5 {digest} instead of {MD5[name]}: the source has changed or the "
            "download was cut; try again."
        )


def _check_rows(name: str, n: int) -> None:
    if n != ROWS[name]:
        raise OSError(
            f"{URLS[name]} has {n} rows instead of {ROWS[name]}: the source has changed or the "
            "download was cut; try again."
        )


def _write_counted(path: Path, name: str, lines: list[str]) -> None:
    lines = [line.strip() for line in lines if line.strip()]
    _check_rows(name, len(lines) - 1)
    write_gz(path, "\n".join(lines) + "\n")


def _member(content: bytes, name: str) -> str:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return archive.read(name).decode()
