"""Wrong data by the hundred, each with cells that would be recognised in any text: the canaries."""

import collections
import datetime
import decimal
import fractions
import itertools
import re
import warnings

import numpy as np
import pandas as pd
from scipy import sparse

N = 61
NUMBER, TEXT = 4711.0815, "Alice-4711"
CELLS_SHOWN = re.compile(r"4711|0815|Alice")
COUNT_SHOWN = re.compile(
    r"\b(61|62|65|122|130)\b"
)  # and lengths of what is made of so many rows below

GOOD_X = np.random.default_rng(0).uniform(-0.5, 0.5, (N, 2))
GOOD_Y = (GOOD_X[:, 0] > 0).astype(int)


class Patient:
    """An object that tells its name to whoever prints it, and fails at being a number in saying so."""

    def __repr__(self):
        return TEXT

    __str__ = __repr__

    def __float__(self):
        raise ValueError(f"no number: {TEXT}")

    def __lt__(self, other):
        raise TypeError(f"no order: {TEXT}")

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError(f"no array: {TEXT}")

    def __hash__(self):
        return hash(TEXT)


CELLS = {
    "float": NUMBER,
    "text": TEXT,
    "digits": str(NUMBER),
    "bytes": TEXT.encode(),
    "complex": complex(NUMBER, NUMBER),
    "huge int": 47110815 * 10**400,
    "huge float": NUMBER * 1e304,
    "long double": np.longdouble(NUMBER) * np.longdouble(10) ** 300,
    "none": None,
    "nan": np.nan,
    "infinite": -np.inf,
    "not available": pd.NA,
    "not a time": pd.NaT,
    "decimal": decimal.Decimal(str(NUMBER)),
    "no decimal": decimal.Decimal("sNaN4711"),
    "fraction": fractions.Fraction(47110815, 10**4),
    "day": datetime.date(4711, 8, 15),
    "moment": pd.Timestamp("2011-04-17 11:47:11"),
    "datetime64": np.datetime64("4711-08-15"),
    "timedelta64": np.timedelta64(47110815, "s"),
    "dict": {TEXT: NUMBER},
    "set": {NUMBER},
    "list": [NUMBER, NUMBER],
    "array": np.array([NUMBER, 1.0, 2.0]),
    "patient": Patient(),
}


def _objects(rows):
    table = np.empty((len(rows), len(rows[0])), dtype=object)
    for i, j in itertools.product(*map(range, table.shape)):
        table[i, j] = rows[i][j]
    return table


def _frame(rows):
    return pd.DataFrame(rows, columns=["age", "income"])


CONTAINERS = {
    "lists": lambda rows: [list(row) for row in rows],
    "tuples": lambda rows: tuple(map(tuple, rows)),
    "array": np.array,
    "objects": _objects,
    "frame": _frame,
    "frame of the cell's type": lambda rows: _frame(rows).convert_dtypes(),
    "categories": lambda rows: _frame(rows).astype("category"),
    "sparse": lambda rows: sparse.csr_array(np.array(rows)),
    "sparse matrix": lambda rows: sparse.coo_matrix(np.array(rows)),
    "matrix": np.matrix,
    "masked": np.ma.masked_invalid,
    "records": lambda rows: np.rec.fromrecords(rows),
    "structured": lambda rows: np.array(
        [tuple(row) for row in rows], dtype=[("a", object), ("b", object)]
    ),
    "memory": lambda rows: memoryview(np.array(rows)),
    "three dimensions": lambda rows: np.array([rows, rows]),
    "flat": lambda rows: [cell for row in rows for cell in row],
    "flat array": lambda rows: np.array(rows).ravel(),
    "series": lambda rows: pd.Series([row[0] for row in rows], name=TEXT),
    "index": lambda rows: pd.Index([row[0] for row in rows]),
    "ragged": lambda rows: [list(row)[: 1 + k % 2] for k, row in enumerate(rows)],
    "longer": lambda rows: [list(row) for row in [*rows, *rows[:4]]],
    "one row": lambda rows: [list(rows[0])],
    "wide": lambda rows: [[*row, *row] for row in rows],
    "deque": lambda rows: collections.deque(map(list, rows)),
    "generator": lambda rows: (list(row) for row in rows),
    "dict": lambda rows: {TEXT: [list(row) for row in rows]},
    "cell": lambda rows: rows[0][0],
    "scalar": lambda rows: np.array(rows[0][0]),
    "printed": lambda rows: repr(rows[:2]),
    "encoded": lambda rows: repr(rows[:2]).encode(),
}


def _made(container, rows):
    """What the container holds, or None where it cannot hold such cells at all."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numpy.matrix is not recommended
            return CONTAINERS[container](rows)
    except Exception:
        return None


def tables():
    """(name, X) of wrong tables; a few turn out to be right, as whole numbers of text are."""
    ordinary = [tuple(row) for row in GOOD_X.tolist()]
    for (kind, cell), container in itertools.product(CELLS.items(), CONTAINERS):
        first = [(cell, NUMBER), *((NUMBER, cell) for _ in range(3)), *ordinary[4:]]
        found = _made(container, first)
        if found is not None:
            yield f"{kind} in {container}", found
    for name, shape in {"no rows": (0, 2), "no columns": (N, 0), "nothing": (0, 0)}.items():
        yield name, np.empty(shape)
    yield "nobody", None


COLUMNS = ("lists", "array", "objects", "flat", "series", "index", "ragged", "longer")
COLUMNS += ("sparse", "matrix", "frame", "dict", "cell", "scalar", "printed", "generator")


def columns():
    """(name, y) of wrong targets, among them tables and columns with one wrong label or many."""
    for (kind, cell), container in itertools.product(CELLS.items(), COLUMNS):
        found = _made(container, [(cell, NUMBER)] * N)
        if found is not None:
            yield f"{kind} in {container}", found
    for kind, cell in CELLS.items():
        one = [*GOOD_Y.tolist()[1:], cell]
        yield f"one {kind}", one
        yield f"one {kind} of objects", _objects([[label] for label in one]).ravel()
        yield f"one {kind} too many", [*GOOD_Y.tolist(), cell]
        yield f"one {kind} in a column", _objects([[label] for label in one])
    yield "all different", [f"{TEXT}-{k}" for k in range(N)]
    yield "all numbers", (NUMBER + np.arange(N)).tolist()
    yield "all whole", 47110815 + np.arange(N)
    yield "nobody", None
    yield "no labels", []
