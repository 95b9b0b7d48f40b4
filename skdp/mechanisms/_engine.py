"""Protocol of the engines that hold rows for the vault, and the engines that there are.

An engine is a class that holds a user's table as bounded rows: dense in memory, sparse, distributed. Adding one is a
file and a line in `ENGINES`; the laws of tests/laws/test_rows.py then hold it against exact sums. Nobody reaches behind
these methods, and nobody asks which engine it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from ..exceptions import NotSupported
from ._rows import DenseRows
from ._shards import ShardRows
from ._shared_memory import copy_if_shared
from ._sparse_rows import SparseRows

__all__ = ["ENGINES", "Rows", "Table", "engine_of", "is_foreign", "read_table"]

Array = np.ndarray[Any, Any]


class Rows(Protocol):
    """Bounded rows ``x_1, ..., x_n`` of which nobody sees more than sums, and what the proofs need of them.

    With ``u = 2^-53`` (docs/proofs/sums.md, tests/laws/test_rows.py):

    1. *A score belongs to its row.* `dot` gives a row the same bits wherever it stands, whoever stands beside it, in
       every layout of the table, in every part or batch, and for any number of threads; so does `whole_dot`, whose bits
       are those of `dot` where nothing was scaled down. Rows `in_double` need not.
    2. *Norms are bounds.* ``norms[i]`` is at least the norm of row i as it is stored, without the caller's word.
    3. *Sums are near.* `tdot` is within ``(ROUNDINGS + depth) u sum_i |v_i| reach_i`` of the exact sum of ``v_i x_i``,
       in norm, whatever the rows' precision; depth is 0 for a table, and the width below for rows on top of others.
    4. *Double is double.* Scores of rows `in_double` are within ``units_of_scores(w) u reach_i`` of the exact ones, in
       any order of summation; those of `careful_dot` within a few units of the score itself.
    5. *Nothing is lost.* `take` and `chunks` keep every row, its norm, its precision and its bits.
    6. *What is left is known.* Row i is ``shrink[i]`` times a row whose length nobody bounded; a record's own is a
       function of that record and of public numbers. Where none was scaled down, None stands for ones, to the last bit.
    7. *Rows stay what they were.* Memory that another process may write is not held: an array or a sparse table of
       scipy is copied before it comes to `bounded`, and an engine of other tables sees to it (docs/proofs/sums.md).
    """

    @property
    def width(self) -> int:
        """Columns, the constant one included."""

    @property
    def dtype(self) -> Any:
        """Type of the numbers that scores are made of."""

    @property
    def norms(self) -> Array:
        """Upper bound on the norm of each row, the constant column included."""

    @property
    def shrink(self) -> Array | None:
        """Factor in (0, 1] by which each row was scaled down; None where all are whole."""

    @property
    def intercept(self) -> float:
        """Size of the constant last column, 0 for none."""

    def __len__(self) -> int:
        """Rows, empty ones included."""

    def dot(self, w: Array, /) -> Array:
        """Scores: rows times w, of shape (n,) or (n, K)."""

    def whole_dot(self, w: Array, /) -> Array:
        """Scores of the rows before any was scaled down: `dot` over `shrink`, in whatever order of operations."""

    def tdot(self, v: Array, /) -> Array:
        """Rows transposed times v, in float64, of shape (width,) or (width, K)."""

    def gram(self, h: Array) -> Array:
        """Rows' diag(h) rows, for h >= 0: it shapes steps, and no promise rests on its last digits."""

    def take(self, index: Array | slice) -> Rows:
        """The rows at `index`."""

    def chunks(self, least: int) -> Iterator[slice]:
        """Consecutive parts of about `least` rows or more that are cheap to read twice; together all rows, in order."""

    def in_double(self) -> Rows:
        """Return the rows in double precision, for a release that bounds all rounding: quick products will do."""

    def rough(self) -> Rows:
        """Return the rows in their quickest form: they shape steps, and no guarantee rests on a digit of theirs."""

    def reach(self) -> Array:
        """Return the norm of each row as stored: rounding errors of products are proportional to it."""

    def units_of_scores(self, w: Array, /) -> float:
        """Bound the error of a score of rows `in_double` at w, in unit roundoffs of the row's `reach`."""

    def careful_dot(self, high: Array, low: Array) -> Array:
        """Scores of rows `in_double` at ``high + low``, off by a few units of the score itself."""

    def careful_tdot(self, u: Array) -> tuple[Array, Array]:
        """Sum of rows `in_double` times u as a pair: the answer, and what rounding took from it."""


class Table(Rows, Protocol):
    """Rows as a user gave them, bounded: their columns are features, and entries mean something.

    `moment` is within ``ROUNDINGS u sum_i norms_i^2`` of the exact one. An engine shows nothing else: how many
    values it stores, and where, is as private as the rows.
    """

    @staticmethod
    def admits(X: Any) -> bool:
        """Return whether this engine is the one for a table, by its kind and never by its values."""

    @staticmethod
    def read(X: Any) -> Any:
        """Return a table as a fit holds it: an array, a sparse table of scipy, or one that this engine admits.

        It has a `shape` and a `dtype`. Arrays and tables of scipy are checked by scikit-learn afterwards; any other is
        float64 or float32, finite, and nobody else writes it. NotSupported says why a table cannot be read, without a
        cell of it.
        """

    @classmethod
    def bounded(cls, X: Any, data_norm: float, intercept: float) -> Table:
        """Rows divided by data_norm, beside a constant column; longer ones are scaled down together with it."""

    def take(self, index: Array | slice) -> Table:
        """The rows at `index`."""

    def max_abs(self) -> Array:
        """Largest absolute entry of each row, the constant column left out."""

    def to_dense(self) -> Array:
        """The rows in doubles, the constant column among them: for a few rows at a time."""

    def moment(self) -> Array:
        """Sum of the rows' outer squares."""

    def image_norms(self, matrix: Array, in_place: bool) -> Array:
        """Bound on the norm of ``matrix @ x`` for each row x: as computed, and what rounding may have taken from it.

        A record's is a function of that record and of the matrix. If `in_place`, every record of a neighbour stands
        where it stood, and it may depend on where that is.
        """


ENGINES: tuple[type[Table], ...] = (
    DenseRows,  # a numpy array; one that is mapped from a file has been copied
    SparseRows,  # a sparse matrix or array of scipy
    ShardRows,  # files that are read once, in blocks of rows
)


def read_table(X: Any, own: bool) -> tuple[Any, bool]:
    """Return a table as its engine reads it, and whether that engine holds it, and neither numpy nor scipy.

    A list, a frame or what else no engine admits is returned as it is. Nothing is passed on of an error but what an
    engine refuses in a sentence of its own.

    Parameters
    ----------
    X : object
        What a user gave.
    own : bool
        Whether what another process may write is copied.
    """
    refusal: Exception = NotSupported(
        f"X, of type {type(X).__name__}, could not be read; open it again."
    )
    try:
        with np.errstate(all="ignore"):
            for engine in ENGINES:
                if engine.admits(X):
                    table = copy_if_shared(engine.read(X)) if own else engine.read(X)
                    return table, not (DenseRows.admits(table) or SparseRows.admits(table))
            return X, False
    except NotSupported as error:
        refusal = NotSupported(str(error))
    except MemoryError:
        refusal = MemoryError("X does not fit into memory; fit on fewer columns, or give float32.")
    except Exception:
        pass
    raise refusal


def is_foreign(X: Any) -> bool:
    """Return whether an engine holds a table that is neither an array nor a table of scipy."""
    known = DenseRows.admits(X) or SparseRows.admits(X)
    return not known and any(engine.admits(X) for engine in ENGINES)


def engine_of(X: Any) -> type[Table]:
    """The engine for a table, by its type alone."""
    for engine in ENGINES:
        if engine.admits(X):
            return engine
    raise NotSupported(
        f"no engine holds a table of type {type(X).__name__}; give a numpy array or a sparse table of scipy."
    )
