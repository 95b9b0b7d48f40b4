"""Pairs of neighbouring tables that are hard on a mechanism: far, zero, repeated, turned and tiny records, anywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..mechanisms import Public
from ..mechanisms._rows import DenseRows
from ..mechanisms._shrunk import LEAST_SHRINK

__all__ = [
    "LAYOUTS",
    "Array",
    "Data",
    "Neighbours",
    "adversarial_pairs",
    "common_row",
    "worst_case_pair",
]


Array = np.ndarray[Any, Any]
Data = tuple[Array, Array]  # rows and labels


def worst_case_pair(
    *,
    n: int = 4,
    n_features: int = 1,
    data_norm: float = 1.0,
    neighbors: str = "replace_one",
    others: str = "silent",
    classes: tuple[Any, Any] = (0, 1),
) -> tuple[Data, Data]:
    """Make two data sets that differ in one record at the bound of the rows.

    Parameters
    ----------
    n : int
        Records of the first data set.
    n_features : int
        Columns; the changed record lies along the first.
    data_norm : float
        Norm of the changed record's row.
    neighbors : {"replace_one", "add_remove"}
        Whether its label is flipped, or the record is left out of the second data set.
    others : {"silent", "opposed"}
        Rows of the other records: zeros, which keep out of the way, or the same row as the changed record's with the
        label against it, the worst case of batches of fixed size.
    classes : tuple of two labels
        Labels.

    Returns
    -------
    pair : tuple of two (X, y)
        The data sets.

    See Also
    --------
    audit : What it is for.
    adversarial_pairs : Many pairs, for replays.

    Examples
    --------
    >>> from skdp.audit import worst_case_pair
    >>> (X, y), (X_other, y_other) = worst_case_pair(n=3, data_norm=2.0)
    >>> X.ravel().tolist(), y.tolist(), y_other.tolist()  # one label is flipped
    ([2.0, 0.0, 0.0], [1, 1, 0], [0, 1, 0])
    """
    if neighbors not in ("replace_one", "add_remove"):
        raise ValueError(
            f"neighbors={neighbors!r} is not known; use 'replace_one' or 'add_remove'."
        )
    if others not in ("silent", "opposed"):
        raise ValueError(f"others={others!r} is not known; use 'silent' or 'opposed'.")
    row = np.zeros(n_features)
    row[0] = data_norm
    X = np.zeros((n, n_features)) if others == "silent" else np.tile(row, (n, 1))
    X[0] = row
    codes = np.arange(n) % 2 if others == "silent" else np.zeros(n, dtype=int)
    codes[0] = 1
    y = np.asarray(classes)[codes]
    if neighbors == "add_remove":
        return (X, y), (X[1:], y[1:])
    flipped = codes.copy()
    flipped[0] = 0
    return (X, y), (X, np.asarray(classes)[flipped])


ROUNDING = 1e-12
LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "single": lambda X: _single(X),
    "single columns": lambda X: np.asfortranarray(_single(X)),
}


def _single(X: Array) -> Array:
    return np.clip(X, -3e38, 3e38).astype(np.float32)


# Of the first table and the second.
LAID = (*((layout, layout) for layout in LAYOUTS), ("rows", "columns"), ("strided", "rows"))


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Pair of tables that differ in one record.

    Parameters
    ----------
    name : str
        What is hard about them.
    first, second : tuple (X, y)
        The tables; labels 0 and 1.
    place : int
        Where the record stands: in both under ``replace_one``, else in the longer table.
    data_norm : float
        Bound of the rows that estimators declare.

    See Also
    --------
    adversarial_pairs : Makes them.
    replay : Runs on both.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.audit import Neighbours
    >>> X, y = np.zeros((3, 1)), np.array([0, 1, 1])
    >>> Neighbours("first one goes", (X, y), (X[1:], y[1:]), place=0).grown
    -1
    """

    name: str
    first: Data
    second: Data
    place: int
    data_norm: float = 1.0

    @property
    def grown(self) -> int:
        """Records of the second table less those of the first: 0, 1 or -1."""
        return len(self.second[1]) - len(self.first[1])

    def positions(self, chosen: Array) -> Array:
        """Return where records chosen in the first table stand in the second; a new record is always chosen."""
        if self.grown == 0:
            return chosen
        if self.grown < 0:
            others = chosen[chosen != self.place]
            return others - (others > self.place)
        return np.sort(np.append(chosen + (chosen >= self.place), self.place))

    def batches(self, batch_of: Array) -> Array:
        """Return the batch of each record of the second table; a new record is in the first batch."""
        if self.grown == 0:
            return batch_of
        if self.grown < 0:
            return np.delete(batch_of, self.place)
        return np.insert(batch_of, self.place, 0)

    def gradients(self, question: Any, public: Public, point: Array) -> Array:
        """Sum of the records' gradients at a point, first table less second, by a formula of its own.

        Only the changed record's differ. The question is a perturbed objective, in coordinates or not.
        """
        total = np.zeros(np.shape(point))
        for sign, (X, y) in ((1.0, self.first), (-1.0, self.second)):
            if len(y) >= max(len(self.first[1]), len(self.second[1])):
                # The row as it is admitted alone: that is a function of the record.
                alone = DenseRows.bounded(
                    X[self.place : self.place + 1], self.data_norm, public.intercept
                )
                label = 2.0 * y[self.place] - 1.0
                row, norm = alone.tdot(np.ones(1)), float(alone.norms[0])
                left = 1.0 if alone.shrink is None else float(alone.shrink[0])
                total += sign * _gradient(question, (row, norm, left), label, point)
        return total


def _gradient(
    question: Any, bounded: tuple[Array, float, float], label: float, point: Array
) -> Array:
    """Return one record's gradient: the slope at the score of the whole row, capped by a clip, times the bounded row.

    In other coordinates the score is as whole as the question says. Where targets are scaled with their rows it is
    the slope of what is left of both.
    """
    row, norm, left = bounded
    if hasattr(question, "coordinates"):
        row = question.coordinates.matrix @ row / question.scale
        norm = float(np.linalg.norm(row))
        cut = (1.0 - ROUNDING) / max(1.0, norm)
        undone = 1.0 - question.whole * (1.0 - cut)
        row, norm, left = row * cut, min(1.0, norm), max(left * undone, LEAST_SHRINK)
        question = question.question
    if question.loss.kind == "regression" and question.loss.scales_targets:
        slope = float(question.loss.dz(np.array([row @ point]), np.array([left * label]))[0])
    else:
        slope = left * float(question.loss.dz(np.array([row @ point / left]), np.array([label]))[0])
    if question.clip is not None:
        longest = question.clip * (1.0 - ROUNDING) / max(norm, 1e-300)
        slope = min(max(slope, -longest), longest)
    return slope * row


def common_row(n_features: int) -> Array:
    """The row of tables whose records are all alike: what turns one record's score turns all."""
    return (0.4 * np.sin(1.0 + np.arange(n_features))).astype(np.float32).astype(np.float64)


def adversarial_pairs(
    neighbors: str, n: int = 24, n_features: int = 3, seed: int = 0
) -> Iterator[Neighbours]:
    """Make pairs of neighbours under a relation, in several layouts and both precisions.

    Parameters
    ----------
    neighbors : {"replace_one", "add_remove"}
        The relation.
    n : int
        Records of the first table.
    n_features : int
        Columns.
    seed : int
        Of the records that both tables share.

    Yields
    ------
    Neighbours
        Under ``add_remove`` one record more and one record less, at the front, inside and at the end.

    See Also
    --------
    replay : What they are for.
    worst_case_pair : One pair for `audit`.

    Examples
    --------
    >>> from skdp.audit import adversarial_pairs
    >>> pairs = list(adversarial_pairs("replace_one", n=6))
    >>> len(pairs), pairs[0].name, {pair.grown for pair in pairs}
    (98, 'label turned: rows, rows', {0})
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features)) * rng.choice([0.1, 1.0, 30.0], size=(n, 1))
    X, y = X.astype(np.float32).astype(np.float64), rng.integers(0, 2, size=n)
    alike = np.tile(common_row(n_features), (n, 1)), np.ones_like(y)
    for what, table in (("", (X, y)), (" among equal rows", alike)):
        for name, row, label, place in _records(*table):
            for verb, first, second in _tables(neighbors, table, row, label, place):
                for pair in LAID:
                    one, two = (_laid(t, layout) for t, layout in zip((first, second), pair))
                    yield Neighbours(f"{name}{what}{verb}: {', '.join(pair)}", one, two, place)


def _tables(
    neighbors: str, table: Data, row: Array, label: int, place: int
) -> list[tuple[str, Data, Data]]:
    """(what happens, first table, second table) where a record turns into another, or comes and goes."""
    X, y = table
    if neighbors == "replace_one":
        other, labels = X.copy(), y.copy()
        other[place], labels[place] = row, label
        return [("", table, (other, labels))]
    longer = np.insert(X, place, row, axis=0), np.insert(y, place, label)
    return [(" comes", table, longer), (" goes", longer, table)]


def _records(X: Array, y: Array) -> Iterator[tuple[str, Array, int, int]]:
    """Yield what the changed record becomes: (name, row, label, place)."""
    n, d = X.shape
    along = X[0] / np.linalg.norm(X[0])
    yield "label turned", X[n // 2], 1 - y[n // 2], n // 2
    yield "far row", 1e6 * along, 1, 0
    yield "farthest row", np.full(d, 1e200) * np.sign(along), 0, n - 1
    yield "zero row", np.zeros(d), 1, 0
    yield "duplicate", X[1], y[1], n - 1
    yield "tiny row", np.full(d, 1e-30), 0, n // 2
    yield "row at the bound", along, 1 - y[0], 1


def _laid(table: Data, layout: str) -> Data:
    return LAYOUTS[layout](table[0]), table[1]
