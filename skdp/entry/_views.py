"""Registered views of a table: maps of single records, by public numbers and by answers.

Each record's image is a function of that record and of the view alone, to the last bit, wherever it stands, so that a
record that changes, comes or goes changes no other one (`tests/laws/test_promises.py`; docs/proofs/bought_scales.md,
docs/proofs/class_weights.md).

The closed table: it is looked at through registered views alone.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..exceptions import NotSupported
from ..mechanisms import Public, Records
from ..mechanisms._engine import is_foreign
from ..mechanisms._kernels import cells_of
from ..mechanisms._octaves import places_of, to_unit
from ..mechanisms._shared_memory import by_parts, copy_if_shared
from ..mechanisms._sparse_rows import lengths_of
from ._targets import onto_unit

__all__ = [
    "VIEWS",
    "ClassCodes",
    "ColumnPlaces",
    "ListLabels",
    "Parts",
    "RowLengths",
    "Rows",
    "ScoreCells",
    "ScorePairs",
    "Table",
    "View",
    "affine_of",
    "to_columns",
]


Array = np.ndarray[Any, Any]


class Parts(NamedTuple):
    """Contents of a table: rows, targets, owners, weights and lists."""

    rows: Any
    targets: Array
    owners: Array | None
    weights: Array | None
    lists: Array | None


class View(ABC):
    """A way to look at a table. Subclasses are frozen dataclasses of public numbers and answers."""

    early: ClassVar[bool] = False
    """Whether it rests on no answer, so that the vault that is checked before anything is paid is the one asked."""

    @abstractmethod
    def admit(self, parts: Parts, kept: dict[Any, Any]) -> Any:
        """Return the vault of what is seen; `kept` holds what an earlier view of this table has admitted."""


@dataclass(frozen=True, eq=False)
class Rows(View):
    """Rows of bounded norm, their targets and weights.

    Parameters
    ----------
    public : Public
        Facts of the vault.
    norm : float
        Bound of the rows; longer ones are shrunk to it.
    several : bool
        Whether each column of targets has a vault of its own, over the same rows.
    bounds : ndarray of shape (d, 2) or None
        Bought ones of the columns, which are then seen on [-1, 1].
    y_bounds : ndarray of shape (t, 2) or None
        Bought ones of the targets, which are then seen on [-1, 1].
    centred : bool
        Whether the midpoint of these is taken from targets.
    of_class : ndarray of shape (K,) or None
        What a record of each class weighs besides, over the heaviest one.
    units : ndarray of shape (d,) or None
        Bought ones of columns that are then seen by octaves; 0 for others.
    first : int or None
        How many of the columns of a dense table are seen, from the first; None for all.
    """

    public: Public
    norm: float
    several: bool = False
    bounds: Array | None = None
    y_bounds: Array | None = None
    centred: bool = True
    of_class: Array | None = None
    units: Array | None = None
    first: int | None = None

    def admit(self, parts: Parts, kept: dict[Any, Any]) -> Records | tuple[Records, ...]:
        """Map cells, bound rows, and weigh."""
        if self.first is not None:
            parts = parts._replace(rows=np.ascontiguousarray(dense(parts.rows)[:, : self.first]))
        vaults = self._mapped(parts) if self.bounds is not None else self._given(parts, kept)
        if self.of_class is None:
            return vaults
        if isinstance(vaults, tuple):
            return tuple(vault.weighed(self.of_class) for vault in vaults)
        return vaults.weighed(self.of_class)

    def _mapped(self, parts: Parts) -> Records | tuple[Records, ...]:
        assert self.bounds is not None
        rows = to_columns(dense(parts.rows, self.public.bought), self.bounds, self.units)
        given = (
            rows,
            self._onto_unit(parts.targets),
            self.public,
            self.norm,
            parts.owners,
            parts.weights,
        )
        return Records.admit_each(*given) if self.several else Records.admit(*given)

    def _onto_unit(self, targets: Array) -> Array:
        if self.y_bounds is None:
            return targets
        bounds = self.y_bounds[0] if len(self.y_bounds) == 1 else self.y_bounds
        return onto_unit(targets, bounds, self.centred)

    def _given(self, parts: Parts, kept: dict[Any, Any]) -> Records | tuple[Records, ...]:
        """Rows as they came; where bounds of targets are bought, those of an earlier view have other targets now."""
        key = self.public, self.norm, self.several, self.y_bounds is None, self.first
        if key not in kept:
            rest = parts.owners, parts.weights
            given = parts.rows, parts.targets, self.public, self.norm, *rest
            if self.y_bounds is not None:
                blank = np.zeros(len(parts.targets))
                kept[key] = Records.admit(parts.rows, blank, self.public, self.norm, *rest)
            elif self.several:
                kept[key] = Records.admit_each(*given)
            else:
                kept[key] = Records.admit(*given, lists=parts.lists)
        found = kept[key]
        if self.y_bounds is None:
            return found
        mapped = self._onto_unit(parts.targets)
        several = np.reshape(mapped, (len(mapped), -1)).T
        vaults = tuple(found.with_targets(column) for column in several)
        return vaults if self.several else vaults[0]


@dataclass(frozen=True, eq=False)
class ColumnPlaces(View):
    """Places of cells on a fixed scale of all doubles, for bounds of columns.

    Parameters
    ----------
    public : Public
        Facts of the vault: as many columns as are asked about.
    rows, targets : bool
        Whether cells of the rows, and targets, are among them.
    norm : float
        Bound of a row of places.
    whole : bool
        Whether the length of a whole row stands for its cells: of a sparse table.
    """

    public: Public
    norm: float
    rows: bool = True
    targets: bool = False
    whole: bool = False

    early: ClassVar[bool] = True

    def admit(self, parts: Parts, kept: dict[Any, Any]) -> Records:
        """Map each cell, or the length of each row, to its place."""
        columns = [_cells(parts.rows, self.whole)] if self.rows else []
        columns += [parts.targets] if self.targets else []
        n = len(parts.targets)
        whole = columns[0] if len(columns) == 1 else np.column_stack(columns)
        whole = whole.reshape(n, -1)
        places = by_parts(
            lambda part: places_of(whole[part].astype(np.float64)), whole.shape, np.float64, whole
        )
        return Records.admit(places, np.zeros(n), self.public, self.norm)


@dataclass(frozen=True, eq=False)
class RowLengths(View):
    """Lengths of rows whose columns lie on [-1, 1] between bounds, over the longest possible.

    Of a sparse table the one column is the length of a row.

    Parameters
    ----------
    public : Public
        Facts of the vault, of one column.
    bounds : ndarray of shape (d, 2)
        Bought ones.
    root : float
        The longest possible.
    units : ndarray of shape (d,) or None
        As of `Rows`.
    whole : bool
        As of `ColumnPlaces`.
    """

    public: Public
    bounds: Array
    root: float
    units: Array | None = None
    whole: bool = False

    def admit(self, parts: Parts, kept: dict[Any, Any]) -> Records:
        """Measure each row, a block of them at a time."""

        cells = _cells(parts.rows, self.whole)

        def lengths(part: slice) -> Array:
            block = cells[part].astype(np.float64)
            seen = to_unit(block, self.bounds[:, 0], self.bounds[:, 1], self.units)
            return np.sqrt(np.einsum("ij,ij->i", seen, seen))[:, None]

        found = by_parts(lengths, (len(cells), 1), np.float64, cells) / self.root
        return Records.admit(found, np.zeros(len(found)), self.public, 1.0)


@dataclass(frozen=True, eq=False)
class ClassCodes(View):
    """Codes of classes beside rows that say nothing, for counts of classes.

    Parameters
    ----------
    public : Public
        Facts of the vault.
    """

    public: Public

    early: ClassVar[bool] = True

    def admit(self, parts: Parts, kept: dict[Any, Any]) -> Records:
        """Take targets for what is asked about."""
        blank = np.zeros((len(parts.targets), 1))
        given = blank, parts.targets, self.public, 1.0
        return Records.admit(*given, parts.owners, parts.weights)


@dataclass(frozen=True, eq=False)
class ScoreCells(View):
    """Bins of the scores that a fit has just released, each with what the label is, for counts of records.

    Of two classes a cell is a bin of the score and a class. Of several it is a bin of the difference of the two largest
    scores, with the class of the larger or the smaller one; records of other classes share the last cell.

    Parameters
    ----------
    rows : Rows
        How the solver saw the records.
    public : Public
        Facts of the vault of cells.
    w : ndarray
        Answer: the solver's parameters.
    unit : float
        Divisor of scores.
    edges : tuple of float
        Between bins, which increase.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.entry import Rows, ScoreCells, Table
    >>> from skdp.mechanisms import CellCounts, Public
    >>> table = Table(np.array([[0.5], [-0.5], [0.8]]), np.array([1.0, -1.0, -1.0]))
    >>> public = Public(n=3, n_features=1, intercept=0.0, neighbors="replace_one", target_bound=5.0)
    >>> cells = ScoreCells(Rows(public, 1.0), public, w=np.array([4.0]), unit=1.0, edges=(0.0, 3.0))
    >>> CellCounts(cells=6, multiplier=1.0).measure(table.vault(cells)).tolist()  # by score, then by label
    [1.0, 0.0, 0.0, 1.0, 1.0, 0.0]
    """

    rows: Rows
    public: Public
    w: Array
    unit: float
    edges: tuple[float, ...]

    def admit(self, parts: Parts, kept: dict[Any, Any]) -> Records:
        """Score each row by itself, and number its cell."""
        vault = _vault_of(self.rows, parts, kept)
        cells = [self._cells(part) for part in vault.chunks(0)]
        return vault.in_cells(np.concatenate(cells), self.public)

    def _cells(self, vault: Records) -> Array:
        scores = _scores_of(vault, self.w)
        if scores.ndim == 1:
            return 2.0 * self._bins(scores) + (vault.y > 0)
        codes, each = cells_of(vault.y, scores.shape[1]), np.arange(len(scores))
        first = scores.argmax(axis=1)
        largest = scores[each, first]
        scores[each, first] = -math.inf
        second = scores.argmax(axis=1)
        cells = 2.0 * self._bins(largest - scores[each, second]) + (codes == first)
        return np.where((codes == first) | (codes == second), cells, 2.0 * len(self.edges) + 2.0)

    def _bins(self, scores: Array) -> Array:
        return np.searchsorted(self.edges, scores / self.unit)


@dataclass(frozen=True, eq=False)
class ScorePairs(View):
    """Bins of two scores of each record, of two models that have just been released, with its label of two.

    The cell of a record is its bin of the first score, its bin of the second, and its class: numbers that count in this
    order, the class fastest.

    Parameters
    ----------
    rows : tuple of (Rows, Rows)
        How the two solvers saw the records.
    public : Public
        Facts of the vault of cells.
    w : tuple of (ndarray, ndarray)
        Answers: the solvers' parameters.
    units : tuple of (float, float)
        Divisors of the scores.
    edges : tuple of float
        Between bins of either, which increase.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.entry import Rows, ScorePairs, Table
    >>> from skdp.mechanisms import CellCounts, Public
    >>> table = Table(np.array([[0.5, 0.0], [-0.5, 0.1], [0.8, 0.0]]), np.array([1.0, -1.0, -1.0]))
    >>> public = Public(n=3, n_features=2, intercept=0.0, neighbors="replace_one", target_bound=7.0)
    >>> rows = Rows(public, 1.0)
    >>> w = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    >>> pairs = ScorePairs((rows, rows), public, w, units=(1.0, 1.0), edges=(0.0,))
    >>> CellCounts(cells=8, multiplier=1.0).measure(table.vault(pairs)).tolist()
    [0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0]
    """

    rows: tuple[Rows, Rows]
    public: Public
    w: tuple[Array, Array]
    units: tuple[float, float]
    edges: tuple[float, ...]

    def admit(self, parts: Parts, kept: dict[Any, Any]) -> Records:
        """Score each row by itself with both, and number its cell."""
        bins, vault = [], None
        for rows, w, unit in zip(self.rows, self.w, self.units, strict=True):
            vault = _vault_of(rows, parts, kept)
            scores = np.concatenate([_scores_of(part, w) for part in vault.chunks(0)])
            bins.append(np.searchsorted(self.edges, scores / unit))
        assert vault is not None
        cells = (len(self.edges) + 1.0) * bins[0] + bins[1]
        return vault.in_cells(2.0 * cells + (vault.y > 0), self.public)


@dataclass(frozen=True, eq=False)
class ListLabels(View):
    """Labels of public documents.

    Parameters
    ----------
    public : Public
        Facts of the vault, with the documents.
    """

    public: Public

    early: ClassVar[bool] = True

    def admit(self, parts: Parts, kept: dict[Any, Any]) -> Records:
        """Take the labels; documents are those that are public."""
        return Records.of_labels(parts.targets, self.public)


VIEWS: frozenset[type[View]] = frozenset(
    {Rows, ColumnPlaces, RowLengths, ClassCodes, ScoreCells, ScorePairs, ListLabels}
)


def _vault_of(rows: Rows, parts: Parts, kept: dict[Any, Any]) -> Records:
    """Vault of the records of one fit, whose scores are looked at."""
    vault = rows.admit(parts, kept)
    assert isinstance(vault, Records), "one score for each class, of one fit"
    return vault


def _scores_of(vault: Records, w: Array) -> Array:
    """Scores of single rows; one that is no number is 0."""
    scores, _ = vault.model.forward(w, vault.rows)
    return np.nan_to_num(scores.astype(np.float64), nan=0.0)


def _cells(rows: Any, whole: bool) -> Array:
    """Cells of a dense table, or the length of each row of a sparse one; what no vault would admit is refused."""
    if not whole or is_foreign(rows):
        return dense(rows)
    found = lengths_of(rows)[:, None]
    if not np.isfinite(found).all():
        raise ValueError(
            "X holds values that are not finite or too large to be scaled; clip them first."
        )
    return found


def dense(rows: Any, bought: bool = True) -> Array:
    """Rows of a dense table; others have no bounds of columns."""
    if isinstance(rows, np.ndarray):
        return rows
    if is_foreign(rows):
        raise NotSupported(
            f"a table of type {type(rows).__name__} is held by an engine that shows no columns, and this fit needs "
            "them; declare data_norm, or pass an array."
        )
    if bought:
        raise NotSupported(
            "data_norm=None estimates private bounds of the columns, which needs a dense table, but X is sparse; "
            "declare data_norm, or pass X.toarray()."
        )
    raise NotSupported(
        "bounds= maps every cell, which needs a dense table, but X is sparse; declare data_norm alone, or pass "
        "X.toarray()."
    )


def to_columns(X: Array, bounds: Array, units: Array | None = None) -> Array:
    """Map columns to [-1, 1] between their bounds, or to their sign where they have none.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Finite.
    bounds : ndarray of shape (d, 2)
        That were bought.
    units : ndarray of shape (d,) or None
        Of columns that are seen by octaves; 0 where one is seen as it is.

    Returns
    -------
    ndarray of float64
    """

    def seen(part: slice) -> Array:
        return to_unit(X[part].astype(np.float64), bounds[:, 0], bounds[:, 1], units)

    with np.errstate(all="ignore"):  # one that a program has made fatal would show a record
        return by_parts(seen, X.shape, np.float64, X)


def affine_of(bounds: Array, units: Array | None = None) -> tuple[Array, Array]:
    """Return the slope and shift that map numbers between bounds to [-1, 1].

    Parameters
    ----------
    bounds : ndarray of shape (d, 2)
        Of columns; where both are one, a column is seen by its sign, and there is no such map.
    units : ndarray of shape (d,) or None
        Of columns that are seen by octaves; there is no such map of these.

    Returns
    -------
    slope, shift : ndarray of shape (d,)
    """
    low, high = bounds.T
    if (low == high).any():
        raise NotSupported(
            "Noise has hidden the scale of a column, so only its sign is used and its coefficient has no unit; "
            "declare bounds, or raise epsilon."
        )
    if units is not None and units.any():
        raise NotSupported(
            "A column with a heavy tail is seen by octaves, so its coefficient has no unit; declare bounds."
        )
    half = high / 2 - low / 2
    return 1.0 / half, -(low / 2 + high / 2) / half


class Table:
    """Rows, targets, owners and weights that a user gave. None of them can be read from it.

    Parameters
    ----------
    rows : ndarray or sparse table of shape (n, d)
        Finite.
    targets : ndarray of shape (n,) or (n, t)
        As the loss wants them, or before they are mapped by bounds that are bought.
    owners, weights, lists : ndarray of shape (n,) or None
        As `Records.admit` takes them.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.entry import Rows, Table
    >>> from skdp.mechanisms import Public
    >>> table = Table(np.array([[3.0, 4.0], [0.3, 0.4]]), np.array([1.0, -1.0]))
    >>> public = Public(n=2, n_features=2, intercept=0.0, neighbors="replace_one")
    >>> len(table.vault(Rows(public, norm=1.0)))
    2
    """

    __slots__ = ("__early", "__kept", "__parts")

    def __init__(
        self,
        rows: Any,
        targets: Array,
        owners: Array | None = None,
        weights: Array | None = None,
        lists: Array | None = None,
    ) -> None:
        # Views read them more than once, and must find what the first one found.
        self.__parts = Parts(*map(copy_if_shared, (rows, targets, owners, weights, lists)))
        self.__early: list[tuple[View, Any]] = []  # vaults that nobody has asked yet
        self.__kept: dict[Any, Any] = {}  # bounded rows, which several views share

    def vault(self, view: View) -> Records | tuple[Records, ...]:
        """Admit the records as a view sees them: one vault, or one for each column of targets.

        Parameters
        ----------
        view : View
            Of a registered type, exactly: a subclass could map one record by another.
        """
        for place, (known, found) in enumerate(self.__early):
            if type(known) is type(view) and vars(known) == vars(view):
                del self.__early[place]
                return found
        return self.__admit(view)

    def check(self, view: View) -> None:
        """Admit the records as a view sees them, or refuse them, before anything is paid; `vault` then finds them.

        Parameters
        ----------
        view : View
            As of `vault`.
        """
        found = self.__admit(view)
        if view.early:
            self.__early.append((view, found))

    def __admit(self, view: View) -> Records | tuple[Records, ...]:
        if type(view) not in VIEWS:
            raise TypeError(
                f"{type(view).__name__} is no registered view; add it to VIEWS, with its proof."
            )
        with np.errstate(all="ignore"):  # one that a program has made fatal would show a record
            return view.admit(self.__parts, self.__kept)
