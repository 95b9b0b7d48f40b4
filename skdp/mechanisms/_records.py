"""The vault: bounded records, how they are admitted, and the public facts about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from ..models import Model
from . import _rows
from ._engine import engine_of
from ._kernels import add, cells_of
from ._mapped import Images
from ._public import Public
from ._shared_memory import copy_if_shared
from ._units import Units, kept_lists, kept_rows

__all__ = ["Kept", "Records", "kept_by", "refuse_weights", "units_for"]


class Kept(NamedTuple):
    """Rows that enter, how many of each unit, and where lists begin, if units hold several."""

    rows: Array
    counts: Array
    begins: Array | None = None


def units_for(
    counts: Array, weights: Array | None, public: Public, begins: Array | None = None
) -> Units | None:
    """Units of so many rows each; None where all rows count alone and in full."""
    if not public.shares:
        return None
    if begins is not None:
        return Units.of_lists(counts, begins)
    units = Units.of(counts)
    return units if weights is None else units.weighted(weights)


def refuse_weights(weights: Array | None, n: int, public: Public) -> None:
    """Refuse weights that could make a record count more than once, without showing one."""
    if (weights is not None) != public.weighted:
        raise ValueError(
            f"weighted={public.weighted} was declared; give weights, one for each row, if and only if it is True."
        )
    if weights is None:
        return
    plain = type(weights) is np.ndarray and weights.dtype == np.float64 and weights.shape == (n,)
    if not plain or not ((weights >= 0.0) & (weights <= 1.0)).all():
        raise ValueError("weights must be an array of one number in [0, 1] for each row of X.")


def kept_by(groups: Array | None, n: int, public: Public, lists: Array | None) -> Kept | None:
    """Rows that enter, and how many of each unit; None where every row is a unit."""
    if (lists is not None) != (public.lists_each > 0):
        raise ValueError(
            f"lists_each={public.lists_each} was declared; give lists, the id of each row's list, if and only if units "
            "hold several."
        )
    if groups is None:
        if public.rows > 1:
            raise ValueError(
                f"rows={public.rows} declares units of several rows; give groups, the id of each row's unit."
            )
        return None
    if lists is None:
        kept = Kept(*kept_rows(groups, n, public.rows))
    else:
        most = public.lists_each
        kept = Kept(*kept_lists(groups, lists, n, most, public.rows // most))
    if public.replace_one and len(kept.counts) != public.n:
        raise ValueError(
            f"groups does not hold the n={public.n} units that were declared; under replace_one n is their number."
        )
    return kept


Array = np.ndarray[Any, Any]

LEAST_NORM = 1e-30  # bound of rows, below which scaled ones lose digits; far above, they vanish


@dataclass(frozen=True, eq=False, repr=False)
class Records:
    """Rows and targets, and what is public about them. Nothing else of it is ever printed.

    A record is what is protected, a unit: one row, or several where `units` says so. All methods count in records.

    Parameters
    ----------
    rows : Rows
        Bounded rows, of whichever engine: a `Table`, or one seen in other coordinates.
    y : ndarray
        The rows' targets as the loss wants them: -1 or +1 for two classes.
    public : Public
        What may be known of them without paying.
    whole : bool
        Whether these are all records in their order, or consecutive ones of them: not a batch.
    units : Units or None
        Which rows belong together, and what each weighs; None where every record is one row of weight 1.
    images : Images or None
        How long all rows are in the coordinates that were asked for last. It never leaves.
    epoch : object or None
        The batches that the last epoch of random allocation still has to hand out. They never leave.

    See Also
    --------
    Public : What may be known of it.
    Oracle : The only way to ask it something.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.mechanisms import Public, Records
    >>> public = Public(n=2, n_features=2, intercept=0.0, neighbors="replace_one")
    >>> X, y = np.array([[3.0, 4.0], [0.3, 0.4]]), np.array([1.0, -1.0])
    >>> vault = Records.admit(X, y, public, data_norm=1.0)  # the first row is scaled down
    >>> len(vault), vault.rows.norms.round(6).tolist()
    (2, [1.0, 0.5])
    """

    rows: Any
    y: Array
    public: Public
    whole: bool = True
    units: Units | None = None
    images: Images | None = field(default=None, init=False)
    epoch: Any = field(default=None, init=False)

    @classmethod
    @np.errstate(all="ignore")  # one that a program has made fatal would show a record
    def admit(
        cls,
        X: Array,
        y: Array,
        public: Public,
        data_norm: float,
        groups: Array | None = None,
        weights: Array | None = None,
        lists: Array | None = None,
    ) -> Records:
        """Bound the rows and take the records in.

        `X` and `y` are finite arrays of matching length (the estimator has checked that, by scikit-learn's rules);
        what the guarantee needs of them is enforced here again, and no message shows a value of theirs. `groups` holds
        the id of each row's unit; without it every row is a unit of its own. `weights`, in [0, 1], are what each row's
        contribution is multiplied by once it is bounded: a record cannot weigh more than one without them. `lists`
        holds the id of each row's list, where a unit holds several lists.

        What another process may write (a memory map, shared memory) is copied first, and only the copy is looked at: a
        question reads rows anew, and must find those that were bounded.
        """
        X, y, groups, weights, lists = map(copy_if_shared, (X, y, groups, weights, lists))
        if not LEAST_NORM <= data_norm <= 1.0 / LEAST_NORM**5:
            raise ValueError(
                f"data_norm={data_norm:g} must lie between {LEAST_NORM:g} and {1.0 / LEAST_NORM**5:g}."
            )
        if X.shape[1] != public.n_features or X.shape[0] != len(y):
            raise ValueError(f"X must have {public.n_features} columns and as many rows as y.")
        kept = kept_by(groups, len(y), public, lists)
        if (len(y) if kept is None else len(kept.counts)) > public.most:
            raise ValueError(
                f"X has more than the {public.most} {'rows' if kept is None else 'units'} that rounding is bounded "
                "for; declare a rough count in n_public."
            )
        if public.documents is not None:
            raise ValueError("documents are public: admit their labels with Records.of_labels.")
        _refuse_targets(y, public)
        rows = engine_of(X).bounded(X, data_norm, public.intercept)
        if not np.isfinite(rows.norms).all():
            raise ValueError(
                "X holds values that are not finite or too large to be scaled; clip them first."
            )
        refuse_weights(weights, len(y), public)
        y = y.astype(rows.dtype, copy=False)
        if kept is None:
            return cls(
                rows, y, public, units=units_for(np.ones(len(y), dtype=np.intp), weights, public)
            )
        weights = None if weights is None else weights.take(kept.rows)
        units = units_for(kept.counts, weights, public, kept.begins)
        return cls(rows.take(kept.rows), y.take(kept.rows), public, units=units)

    @classmethod
    def admit_each(
        cls,
        X: Array,
        targets: Array,
        public: Public,
        data_norm: float,
        groups: Array | None = None,
        weights: Array | None = None,
    ) -> tuple[Records, ...]:
        """Admit a vault for each column of targets, over the same rows; otherwise as `admit`."""
        targets = copy_if_shared(targets)
        one = np.ascontiguousarray(targets[:, 0])
        first = cls.admit(X, one, public, data_norm, groups, weights)
        kept = kept_by(groups, len(targets), public, None)
        entered = targets if kept is None else targets.take(kept.rows, axis=0)
        return first, *(first.with_targets(column) for column in entered.T[1:])

    def with_targets(self, y: Array) -> Records:
        """Return a vault of the same rows, in the order in which they entered, with other targets."""
        if y.shape != self.y.shape:
            raise ValueError("y must hold one target for each row that entered.")
        y = copy_if_shared(y)
        _refuse_targets(y, self.public)
        y = np.ascontiguousarray(y, dtype=self.rows.dtype)
        return Records(self.rows, y, self.public, self.whole, self.units)

    def in_cells(self, cells: Array, public: Public) -> Records:
        """Return a vault of the same units, with a cell for each row that entered in the place of row and target."""
        if cells.shape != self.y.shape or public.shares != self.public.shares:
            raise ValueError(
                "cells must hold one number for each row that entered, weighted alike."
            )
        _refuse_targets(cells, public)
        blank = np.zeros((len(cells), public.n_features))
        rows = engine_of(blank).bounded(blank, 1.0, public.intercept)
        return Records(rows, np.ascontiguousarray(cells, np.float64), public, True, self.units)

    def weighed(self, of_cell: Array) -> Records:
        """Return the records with each row's weight multiplied by a public number in [0, 1] for its target."""
        of_cell = np.array(of_cell, dtype=np.float64)
        if self.units is None or not self.public.weighted:
            raise ValueError("weighted=False was declared; declare weighted=True to weigh rows.")
        if of_cell.ndim != 1 or not ((of_cell >= 0.0) & (of_cell <= 1.0)).all():
            raise ValueError("of_cell must hold one number in [0, 1] for each cell.")
        units = self.units.weighted(of_cell[cells_of(self.y, len(of_cell))])
        return Records(self.rows, self.y, self.public, self.whole, units)

    @classmethod
    @np.errstate(all="ignore")
    def of_labels(cls, y: Array, public: Public) -> Records:
        """The vault of labels of public documents: these are its rows, whatever else somebody has in hand."""
        shown = public.documents
        if shown is None or y.shape != (len(shown.rows),):
            raise ValueError("y must hold one label for each of the public documents.")
        y = copy_if_shared(y)
        _refuse_targets(y, public)
        return cls(shown.rows, y.astype(np.float64), public, units=shown.units)

    @classmethod
    def blank(cls, public: Public) -> Records:
        """A vault with no record, for the rehearsal: the same code runs on it, and there is nothing to touch."""
        none = np.empty((0, public.n_features))
        rows = engine_of(none).bounded(none, 1.0, public.intercept)
        units = Units.of(np.empty(0)) if public.shares else None
        return cls(rows, np.empty(0), public, units=units)

    def __len__(self) -> int:
        return len(self.rows if self.units is None else self.units)

    def __repr__(self) -> str:
        return f"Records({self.public})"

    def chunks(self, least: int) -> Iterator[Records]:
        """Views of consecutive records whose rows stay in a core's cache, for sums that read them more than once."""
        parts = self.rows.chunks(least)
        for part in parts if self.units is None else self.units.aligned(parts):
            yield self if part == slice(0, len(self)) else self.take(part)

    def sum(self, measure: Callable[[Records], Array], least: int = 0) -> Array:
        """The measure summed over parts of about `least` rows or more, so that rows are fetched from memory once.

        Parts are added with what rounding took from them, so that their number does not matter.
        """
        least = least or _rows.FEW
        if len(self.rows) <= least:
            return measure(self)
        parts = self.chunks(least)
        total = measure(next(parts))
        lost = np.zeros_like(total)
        for part in parts:
            add(total, lost, measure(part))
        total += lost
        return total

    def keep(self, images: Images) -> Images:
        """Keep what was worked out of all rows for the questions to come."""
        object.__setattr__(self, "images", images)
        return images

    def begin(self, epoch: Any) -> None:
        """Begin an epoch of random allocation; what the last one has left is never asked."""
        object.__setattr__(self, "epoch", epoch)

    def take(self, index: Array | slice) -> Records:
        """The records at `index`."""
        whole, units = self.whole and isinstance(index, slice), self.units
        if units is not None:
            index, units = units.take(index)
        return Records(self.rows.take(index), self._targets(index), self.public, whole, units)

    def one_against_rest(self, code: int) -> Records:
        """Return the records with targets of two classes: +1 where the target is this code, -1 elsewhere."""
        y = np.where(self.y == code, 1.0, -1.0).astype(self.y.dtype)
        public = replace(self.public, target_bound=1.0)
        return Records(self.rows, y, public, self.whole, self.units)

    def of_rows(self, index: Array) -> Records:
        """Return the records with only the rows at `index`, which increases."""
        units = None if self.units is None else self.units.of_rows(index)
        return Records(self.rows.take(index), self._targets(index), self.public, False, units)

    def _targets(self, index: Array | slice) -> Array:
        return self.y[index] if isinstance(index, slice) else self.y.take(index, axis=0)

    @property
    def share(self) -> Array | None:
        """Weight of each row in its unit; None where all weigh 1."""
        return None if self.units is None else self.units.weights

    def shared(self, values: Array) -> Array:
        """Multiply bounded values of the rows by the rows' weights in their units, in place."""
        weights = self.share
        if weights is not None:
            values *= weights if values.ndim == 1 else weights[:, None]
        return values

    @property
    def model(self) -> Model:
        """Model that gives scores from parameters and rows."""
        return self.public.model

    @property
    def in_place(self) -> bool:
        """True if a neighbour has all rows but one in the same places: units may differ in their rows."""
        return self.whole and self.public.replace_one and self.public.rows == 1


def _refuse_targets(y: Array, public: Public) -> None:
    if not np.isfinite(y).all() or np.abs(y).max(initial=0.0) > public.target_bound:
        raise ValueError(
            f"targets must be finite and at most {public.target_bound:g} in absolute value."
        )
