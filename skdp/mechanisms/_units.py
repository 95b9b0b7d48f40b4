"""Units of several rows: whose rows lie where, and what each row weighs in its unit (docs/proofs/units.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._kernels import UNIT

__all__ = ["Units", "kept_lists", "kept_rows", "number_of_units"]

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
        What each row weighs; where units hold lists, what its list weighs.
    begins : ndarray of bool or None
        Where units hold several lists of documents: whether a list begins at each row.
    """

    offsets: Array
    weights: Array
    begins: Array | None = None

    @classmethod
    def of(cls, counts: Array) -> Units:
        """Units of so many rows each, of equal weights. Their sum is at most 1 also as computed."""
        counts = np.asarray(counts, dtype=np.intp)
        return cls(_ends(counts), np.repeat(_equal(counts), counts))

    @classmethod
    def of_lists(cls, counts: Array, begins: Array) -> Units:
        """Units of so many rows each, in which lists begin at these rows: lists of a unit have equal weights."""
        offsets = _ends(np.asarray(counts, dtype=np.intp))
        lists = np.diff(np.append(0, np.cumsum(begins))[offsets])
        return cls(offsets, np.repeat(_equal(lists), counts), begins)

    def weighted(self, weights: Array) -> Units:
        """Return the units with each row's weight multiplied by one in [0, 1]; sums stay at most 1 as computed."""
        return Units(self.offsets, self.weights * weights)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, index: Array | slice) -> tuple[Array | slice, Units]:
        """Return the places of the rows of the units at `index`, and these units; in the time of their rows."""
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step == 1:
                return self._between(start, max(start, stop))
            index = np.arange(start, stop, step)
        starts = self.offsets[:-1].take(index)
        offsets = _ends(self.offsets[1:].take(index) - starts)
        rows = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], np.diff(offsets))
        begins = None if self.begins is None else self.begins.take(rows)
        return rows, Units(offsets, self.weights.take(rows), begins)

    def _between(self, start: int, stop: int) -> tuple[slice, Units]:
        first, last = int(self.offsets[start]), int(self.offsets[stop])
        offsets = self.offsets[start : stop + 1] - first
        begins = None if self.begins is None else self.begins[first:last]
        return slice(first, last), Units(offsets, self.weights[first:last], begins)

    def of_rows(self, index: Array) -> Units:
        """Return the units with only the rows at `index`, which increases; weights stay the same."""
        return Units(index.searchsorted(self.offsets), self.weights.take(index))

    def aligned(self, parts: Iterable[slice]) -> Iterator[slice]:
        """Parts of rows, cut where units end: as slices of units, together all of them."""
        start = 0
        for part in parts:
            stop = int(self.offsets.searchsorted(part.stop, side="right")) - 1
            if stop > start:
                yield slice(start, stop)
                start = stop


def _equal(counts: Array) -> Array:
    """Equal weights of so many, whose sum is at most 1 also as computed."""
    return np.where(counts > 1, 1.0 - UNIT, 1.0) / np.maximum(counts, 1)


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
    unit, units = _numbered(np.array(groups))
    order, counts, within = _grouped(unit, units)
    return order[within < most], np.minimum(counts, most)


def kept_lists(groups: Any, lists: Any, n: int, most: int, rows: int) -> tuple[Array, Array, Array]:
    """The rows that enter where units hold lists: unit after unit, and in each list after list.

    A unit keeps its first lists, by their first rows, and each list its first rows. Rows are of one list if they are of
    one unit and have one id of a list: what others call theirs does not matter.

    Parameters
    ----------
    groups, lists : ndarray of shape (n,)
        The id of each row's unit, and of its list.
    n : int
        Rows.
    most : int
        Largest number of lists that a unit keeps.
    rows : int
        Largest number of rows that a list keeps.

    Returns
    -------
    index : ndarray
        The rows.
    counts : ndarray
        How many of each unit.
    begins : ndarray of bool
        Whether a list begins at each of the rows.
    """
    for ids in (groups, lists):
        _refuse_unless_ids(ids, n)
    unit, units = _numbered(np.array(groups))
    name, names = _numbered(np.array(lists))
    one, ones = _numbered(unit * max(names, 1) + name)
    owner = np.empty(ones, dtype=np.intp)
    owner[one] = unit
    order_of_lists, _, place = _grouped(owner, units)
    place_in_unit = np.empty(ones, dtype=np.intp)
    place_in_unit[order_of_lists] = place
    order, _, within = _grouped(one, ones)
    kept = order[(within < rows) & (place_in_unit[one[order]] < most)]
    index = kept[np.argsort(unit[kept], kind="stable")]
    begins = np.diff(one[index], prepend=-1) != 0
    return index, np.bincount(unit[index], minlength=units), begins


def _numbered(ids: Array) -> tuple[Array, int]:
    """Numbers in the place of ids, from 0, in the order in which they first appear; and how many there are."""
    _, first, code = np.unique(ids, return_index=True, return_inverse=True)
    place = np.empty(len(first), dtype=np.intp)
    place[np.argsort(first)] = np.arange(len(first))
    return place[code.reshape(len(ids))], len(first)


def _grouped(number: Array, groups: int) -> tuple[Array, Array, Array]:
    """An order in which those of a number stand together, how many there are of each, and each one's place there."""
    order = np.argsort(number, kind="stable")
    counts = np.bincount(number, minlength=groups)
    within = np.arange(len(number)) - np.repeat(_ends(counts)[:-1], counts)
    return order, counts, within


def number_of_units(groups: Any, n: int) -> int:
    """Count the units of n rows; refused where `groups` does not name the unit of each row."""
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
