"""Files of one column, and what readers of files make of it."""

import csv
import io
import random
import string

import numpy as np
import pandas as pd

try:
    import polars as pl
except ImportError:  # the laws hold of the other readers without it
    pl = None
try:
    import pyarrow
except ImportError:
    pyarrow = None

BOOLEANS = ["True", "False", "TRUE", "FALSE", "true", "false", "tRUE", " True", "false "]
SMALL = [
    "1",
    "0",
    "01",
    "+1",
    "1.0",
    "1.",
    " 1",
    "1 ",
    "1e0",
    "-0",
    "0.0",
    "-0.0",
    "-1",
    "2",
    "02",
    "2.50",
    "2.5",
    "\t2",
]
LARGE = [
    "9007199254740993",
    "9007199254740992",
    "18446744073709551616",
    "-9223372036854775809",
    "1e400",
    "-1e308",
]
LONG = [
    "0.1",
    "0.10000000000000000555",
    "0.1000000000000000056",
    "1e-30",
    "5e-324",
    ".1",
    "1E-1",
    "0.30000000000000004",
]
MISSING = ["", "NA", "nan", "None", "null", "N/A", "NaN", "NAN", "-nan", " ", "<NA>"]
WORDS = [
    "f",
    "m",
    " f",
    "F",
    "yes",
    "no",
    "?",
    "1_000",
    "1,000",
    "0x10",
    "1j",
    "inf",
    "-Infinity",
    "12:30",
    "2020-01-01",
]
WORDS += [
    "\u00e9",
    "\u0661",
    "\uff11",
    "\xa01",
    "1 2",
    "--1",
    "1e",
    "e1",
    "True!",
    "'1'",
    "$1",
    "5%",
]
FAMILIES = [BOOLEANS, SMALL, LARGE, LONG, SMALL + LONG, BOOLEANS + ["1", "0"], WORDS]
SPELLINGS = sorted({*BOOLEANS, *SMALL, *LARGE, *LONG, *MISSING, *WORDS})

# pandas 2 reads a number of 17 digits as the nearest double, or in a third of cases as a neighbour of that.
VERSION = tuple(int(part) for part in pd.__version__.split(".")[:2])
EXACT = {} if VERSION >= (3, 1) else {"float_precision": "round_trip"}


def drawn_cell(rng):
    """A usual spelling, or any text."""
    if rng.random() < 0.8:
        return rng.choice(SPELLINGS)
    if rng.random() < 0.5:
        return repr(
            rng.choice(
                [
                    rng.gauss(0, 1),
                    rng.randrange(-(10**20), 10**20),
                    rng.random() * 10.0 ** rng.randrange(-300, 300),
                ]
            )
        )
    return "".join(rng.choice(string.printable[:95]) for _ in range(rng.randrange(1, 6)))


def drawn_column(rng):
    """Cells mostly of one family, so that readers infer its type; and now and then others among them."""
    family = rng.choice(FAMILIES)
    cells = [rng.choice(family) for _ in range(rng.randrange(1, 9))]
    if rng.random() < 0.4:
        cells.insert(rng.randrange(len(cells) + 1), rng.choice(MISSING))
    if rng.random() < 0.3:
        cells.insert(rng.randrange(len(cells) + 1), drawn_cell(rng))
    return cells


def written(cells):
    """A file with the column `a`, and the number of each row besides: a line with one empty cell would be none."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerows([["a", "row"], *([cell, row] for row, cell in enumerate(cells))])
    return stream.getvalue()


def objects(cells):
    """One object for each cell."""
    held = np.empty(len(cells), dtype=object)
    held[:] = cells
    return held


def as_pandas(text, **given):
    """The column as pandas reads it."""
    return pd.read_csv(io.StringIO(text), **EXACT, **given)["a"]


def as_polars(text, **given):
    """The column as polars reads it, as a frame of pandas cannot hold it."""
    return pl.read_csv(io.BytesIO(text.encode()), **given)["a"]


READERS = {
    "pandas": as_pandas,
    "pandas, all text": lambda text: as_pandas(text, dtype=str),
    "pandas, all text, nothing missing": lambda text: as_pandas(
        text, dtype=str, keep_default_na=False
    ),
    "pandas, objects": lambda text: as_pandas(text).astype(object),
    "pandas, nullable": lambda text: as_pandas(text).convert_dtypes(),
    "pandas, categorical": lambda text: as_pandas(text).astype("category"),
    "objects of Python": lambda text: pd.Series(objects(as_pandas(text).tolist()), dtype=object),
    "list of text": lambda text: [row[0] for row in csv.reader(io.StringIO(text))][1:],
    "bytes": lambda text: objects([row[0].encode() for row in csv.reader(io.StringIO(text))][1:]),
}
if pyarrow is not None:
    READERS["pandas, in Arrow"] = lambda text: as_pandas(text, dtype_backend="pyarrow")
if pl is not None:
    READERS["polars"] = lambda text: as_polars(text, infer_schema_length=None)
    READERS["polars, all text"] = lambda text: as_polars(text, infer_schema=False)


def framed(column):
    """A table of the column alone."""
    if pl is not None and isinstance(column, pl.Series):
        return column.to_frame()
    if isinstance(column, pd.Series):
        return column.to_frame()
    return [[cell] for cell in column]


def every_reading(cells):
    """What each reader makes of a column; of some files Arrow and polars make none."""
    text, found = written(cells), {}
    for name, read in READERS.items():
        try:
            found[name] = read(text)
        except Exception:
            if "polars" not in name and "Arrow" not in name:
                raise
    return found


def seeded(seed):
    """Numbers at random that are the same everywhere."""
    return random.Random(seed)
