"""Units of several rows: whose rows lie where, and what each row weighs in its unit (docs/proofs/units.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._kernels import UNIT

__all__ = ["Units", "kept_rows", "number_of_units"]

Array = np.ndarray[Any, Any]

_OF_ONE_KIND = (str, int)  # what ids among objects may be: what has no operators of its own


@dataclass(frozen=True, eq=False, repr=False)
class Units:
    """Consecutive rows that belong together, unit after unit. One unit, one vote: its rows share a weight of 1.

    Parameters
    ----------
    offsets : ndarray of shape (N + 1,)
        Unit u has the rows from ``offsets[u]`` to before ``offsets[u + 1]``; it may have none.
    weights : ndarray
        What each row weighs.
    """

    offsets: Array
    weights: Array

    @classmethod
    def of(cls, counts: Array) -> Units:
        """Units of so many rows each, of equal weights. Their sum is at most 1 also as computed."""
        counts = np.asarray(counts, dtype=np.intp)
        shares = np.where(counts > 1, 1.0 - UNIT, 1.0) / np.maximum(counts, 1)
        return cls(_ends(counts), np.repeat(shares, counts))

    def weighted(self, weights: Array) -> Units:
        """The same units where each row counts with a weight in [0, 1] besides; sums stay at most 1 as computed."""
        return Units(self.offsets, self.weights * weights)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, index: Array | slice) -> tuple[Array | slice, Units]:
        """Where the rows of the units at `index` lie, and these units; in the time of their rows."""
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step == 1:
                return self._between(start, max(start, stop))
            index = np.arange(start, stop, step)
        starts = self.offsets[:-1].take(index)
        offsets = _ends(self.offsets[1:].take(index) - starts)
        rows = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], np.diff(offsets))
        return rows, Units(offsets, self.weights.take(rows))

    def _between(self, start: int, stop: int) -> tuple[slice, Units]:
        first, last = int(self.offsets[start]), int(self.offsets[stop])
        offsets = self.offsets[start : stop + 1] - first
        return slice(first, last), Units(offsets, self.weights[first:last])

    def of_rows(self, index: Array) -> Units:
        """The same units where only the rows at `index`, which increases, are left; weights stay what they were."""
        return Units(index.searchsorted(self.offsets), self.weights.take(index))

    def aligned(self, parts: Iterable[slice]) -> Iterator[slice]:
        """Parts of rows, cut where units end: as slices of units, together all of them."""
        start = 0
        for part in parts:
            stop = int(self.offsets.searchsorted(part.stop, side="right")) - 1
            if stop > start:
                yield slice(start, stop)
                start = stop


def _ends(counts: Array) -> Array:
    offsets = np.zeros(len(counts) + 1, dtype=np.intp)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def kept_rows(groups: Any, n: int, most: int) -> tuple[Array, Array]:
    """The rows that enter, unit after unit, and how many of each unit.

    Units are listed in the order in which they first appear: sorted by their ids, one that is replaced would move those
    between. Each keeps its first rows, so that nobody else decides which; how many were cut is nobody's business.

    Parameters
    ----------
    groups : ndarray of shape (n,)
        The id of each row's unit.
    n : int
        Rows.
    most : int
        Largest number of rows that a unit keeps.
    """
    _refuse_unless_ids(groups, n)
    _, first, group = np.unique(np.array(groups), return_index=True, return_inverse=True)
    place = np.empty(len(first), dtype=np.intp)
    place[np.argsort(first)] = np.arange(len(first))
    unit = place[group.reshape(n)]
    order = np.argsort(unit, kind="stable")
    counts = np.bincount(unit, minlength=len(first))
    within = np.arange(n) - np.repeat(_ends(counts)[:-1], counts)
    return order[within < most], np.minimum(counts, most)


def number_of_units(groups: Any, n: int) -> int:
    """How many units n rows are of; refused where `groups` does not say of each row whose it is."""
    _refuse_unless_ids(groups, n)
    return len(np.unique(np.array(groups)))


def _refuse_unless_ids(groups: Any, n: int) -> None:
    """Refuse what does not say of each row whose it is, without showing an id or a count."""
    if not isinstance(groups, np.ndarray) or groups.shape != (n,):
        raise ValueError("groups must be an array of one id for each row of X; give one.")
    kind = groups.dtype.kind
    if kind == "O":
        missing = not any(all(type(one) is k for one in groups) for k in _OF_ONE_KIND)
    elif kind in "fcmM":
        missing = bool((groups != groups).any())  # NaN and NaT differ from themselves
    else:
        missing = kind not in "biuSU"
    if missing or bool(np.ma.getmaskarray(groups).any()):
        raise ValueError(
            "groups holds missing values, or objects that are neither all strings nor all integers; give each row "
            "the id of its unit."
        )
