"""Base class of transformers by declaration: `fit` reads the names and number of columns, and no cell.

Stages that estimate scales of columns privately for a transformer.

Location of a column's numbers, from noisy counts of powers of two: post-processing, which costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..entry import ColumnPlaces, Facts, Given, Unlabelled, numbers_of
from ..fitting import FromFields, Plan, PrivateEstimator, Purchase, Stage
from ..fitting._bases import BaseEstimator, TransformerMixin
from ..fitting.data import Array, any_table, is_frame
from ..fitting.run import Fitted, Heard
from ..fitting.stages import Known, Look
from ..mechanisms import ColumnCounts, ColumnMoments, Public, Statement, state
from ..mechanisms._octaves import BINS, edges_of
from ..privacy.spec import Spec
from ..solvers import Budget
from ..solvers._column_scales import buy_bounds, counts_asked, norm_of, support_of
from ._blocks import OTHER, Block, Column, all_of, assemble, place_of
from ._declaration import Declared, read_column, reading

__all__ = [
    "BoughtScales",
    "BoughtTransformer",
    "ByDeclaration",
    "ColumnMasses",
    "ColumnScales",
    "knots_of",
    "median_of",
]


def knots_of(masses: Array) -> tuple[Array, Array]:
    """A monotone curve through the ends of the octaves that hold something: numbers, and the share below each.

    Parameters
    ----------
    masses : ndarray of shape (4096,)
        Counts that are not negative.

    Returns
    -------
    numbers, shares : ndarray
        In order; both empty where no octave holds anything. Within an octave the curve is straight.
    """
    bins = np.flatnonzero(masses > 0.0)
    if not len(bins):
        return np.empty(0), np.empty(0)
    tiny = np.finfo(np.float64).tiny
    low, high = edges_of(bins)
    low, high = np.where(low == high, -tiny, low), np.where(low == high, tiny, high)
    above = np.cumsum(masses[bins])
    ends = np.column_stack([low, high]).ravel()
    shares = np.column_stack([above - masses[bins], above]).ravel() / above[-1]
    keep = np.append(True, ends[1:] > ends[:-1])  # octaves that touch share an end
    return ends[keep], shares[keep]


def median_of(masses: Array) -> float:
    """The number that half of them lie below; 0 where nothing is known.

    Parameters
    ----------
    masses : ndarray of shape (4096,)
        Counts that are not negative.

    Returns
    -------
    float
    """
    numbers, shares = knots_of(masses)
    if not len(numbers):
        return 0.0
    found = float(np.interp(0.5, shares, numbers / 2.0)) * 2.0  # halved: a difference may overflow
    tiny = np.finfo(np.float64).tiny
    return 0.0 if abs(found) <= tiny else found


class _OfPlaces(Stage):
    """Base class of the stages that ask about places of cells."""

    def views(self, plan: Plan | Purchase) -> tuple[ColumnPlaces, ...]:
        """Return the places of all cells."""
        return (ColumnPlaces(plan.public, norm_of(plan.public.n_features)),)


@dataclass(frozen=True, repr=False)
class ColumnScales(_OfPlaces):
    """Counts of all octaves, and if wanted moments within the bounds that they show.

    Parameters
    ----------
    moments : bool
        Whether to ask for means and deviations, too; each question then takes half of the budget in mu squared.
    """

    moments: bool = False
    share: float = 1.0

    def __repr__(self) -> str:
        return f"ColumnScales({'bounds, means and deviations' if self.moments else 'bounds'})"

    def state(self, plan: Plan | Purchase, noise: float) -> Statement:
        """State the counts, and the moments within any bounds: their price does not depend on these."""
        public = plan.public
        asked = [(self._counts(public, noise), 1)]
        within = np.zeros((public.n_features, 2))
        if self.moments:
            return state([*asked, (self._moments(public, noise, within), 1)], public)
        return state(asked, public)

    def run(
        self, look: Look, plan: Plan | Purchase, noise: float, budget: Budget, known: Known
    ) -> Known:
        """Buy bounds of each column, and its mean and deviation on [-1, 1]."""
        public, oracle = plan.public, look(self.views(plan)[0])
        bounds, _, n = buy_bounds(oracle, self._counts(public, noise))
        told = np.tile([0.0, 1.0], (public.n_features, 1))
        if self.moments:
            second = self._moments(public, noise, bounds)
            told = _mean_and_deviation(oracle.ask(second), second, public, n)
            told[bounds[:, 0] == bounds[:, 1]] = 0.0, 1.0
        return replace(known, found=np.hstack([bounds, told]))

    def _counts(self, public: Public, noise: float) -> ColumnCounts:
        return counts_asked(public, noise * math.sqrt(1 + self.moments))

    def _moments(self, public: Public, noise: float, bounds: Array) -> ColumnMoments:
        # The share of a question is its multiplier over what a neighbour moves in bounds; so that both take half:
        counts, given = self._counts(public, noise), {"low": bounds[:, 0], "high": bounds[:, 1]}
        one = ColumnMoments(multiplier=1.0, scale=norm_of(public.n_features), **given)
        moved = one.sensitivity(public) / one.bound(public)
        moved /= counts.sensitivity(public) / counts.bound(public)
        return ColumnMoments(multiplier=counts.multiplier * moved, scale=one.scale, **given)


@dataclass(frozen=True, repr=False)
class ColumnMasses(_OfPlaces):
    """Counts of all octaves, of which those are kept that stand out of the noise."""

    share: float = 1.0

    def __repr__(self) -> str:
        return "ColumnMasses()"

    def state(self, plan: Plan | Purchase, noise: float) -> Statement:
        """State the counts."""
        return state([(counts_asked(plan.public, noise), 1)], plan.public)

    def run(
        self, look: Look, plan: Plan | Purchase, noise: float, budget: Budget, known: Known
    ) -> Known:
        """Buy how many records lie in each octave of each column; 0 where none stand out."""
        public, question = plan.public, counts_asked(plan.public, noise)
        answer = look(self.views(plan)[0]).ask(question)
        counts = np.asarray(answer).reshape(public.n_features, BINS)
        deviation = question.multiplier * question.bound(public)
        seen = np.array([support_of(column, deviation, len(counts)) for column in counts])
        return replace(known, found=np.where(seen, np.maximum(counts, 0.0), 0.0))


def _mean_and_deviation(answer: Array, question: ColumnMoments, public: Public, n: float) -> Array:
    """Return mean and deviation of each column on [-1, 1]; deviations are kept above the noise."""
    d = public.n_features
    sums, squares = answer[:d] / n, answer[d:] / (question.weight(public) * n)
    mean = np.clip(sums, -1.0, 1.0)
    noise = question.multiplier * question.bound(public) / n
    least = min(max(2.0 * noise, 0.0025), 1.0)
    return np.column_stack([mean, np.sqrt(np.clip(squares - mean**2, least, 1.0))])


class BoughtTransformer(TransformerMixin, PrivateEstimator):
    """Base class of the transformers whose `fit` estimates columns privately, with no range declared.

    Parameters
    ----------
    epsilon : float, default=0.1
        Privacy loss that is promised. A twentieth of the budget in mu squared is enough beside an estimator's.
    """

    epsilon: float = 0.1
    _cells: ClassVar[str] = "any"  # as `skdp.entry.numbers_of` reads them

    def fit(self, X: Any, y: Any = None) -> Self:
        """Estimate the columns privately.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_features)
            Numbers in any unit; what is no number is missing.
        y : object, default=None
            Ignored.

        Returns
        -------
        self
        """
        return self._fit(Given(X))

    def transform(self, X: Any) -> Array:
        """Map each row by the private estimates, by itself, which costs nothing.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Of norm at most ``row_norm_``, where there is one.
        """
        check_is_fitted(self)
        # One layout: sums along a row are made in another order where the table lies otherwise.
        cells = numbers_of(self, X, self._cells, reset=False)
        return self._mapped(np.ascontiguousarray(cells))

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns, which are those that came in.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names, where fit saw none.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        own = getattr(self, "feature_names_in_", None)
        given = own if input_features is None else list(input_features)
        given = [f"x{j}" for j in range(self.n_features_in_)] if given is None else given
        if len(given) != self.n_features_in_:
            raise ValueError(
                f"input_features should have length equal to number of features ({self.n_features_in_}), "
                f"got {len(given)}."
            )
        if own is not None and list(own) != list(given):
            raise ValueError("input_features is not equal to feature_names_in_.")
        return np.asarray(given, dtype=object)

    def _mapped(self, x: Array) -> Array:
        """Map numbers to the output."""
        raise NotImplementedError

    def _stage(self) -> Stage:
        """Return the stage that pays."""
        raise NotImplementedError

    def _reader(self) -> Unlabelled:
        return Unlabelled(self._cells)

    def _declare(self, facts: Facts) -> dict[str, Any]:
        return {"bins": "octaves of the doubles"}

    def _public(self, n: int | None, n_features: int) -> Public:
        """Return facts about the rows."""
        return Public(n, n_features, 0.0, self.neighbors)

    def _plan(
        self, n: int | None, n_features: int, declared: dict[str, Any], *more: Any
    ) -> Purchase:
        spec = Spec(self.epsilon, self.delta, self.neighbors)
        if self.neighbors != "replace_one":
            n = None if self.n_public is None else int(self.n_public)
        facts: dict[str, Any] = {} if n is None else {"n": n}
        facts |= {"n_features": n_features, **declared}
        stage, public = self._stage(), self._public(n, n_features)
        return Purchase(spec, (stage,), public, repr(stage), self.accountant, facts)

    def _keep(self, fitted: Fitted, budget: Budget, heard: Heard | None) -> None:
        self._store(fitted.known.found)

    def _store(self, found: Any) -> None:
        """Store the estimates, in the units of the columns."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.allow_nan = True
        tags.input_tags.sparse = False
        return tags


class BoughtScales(BoughtTransformer):
    """Base of those that map columns to bounds, and rows to a norm of at most 1.

    Attributes
    ----------
    bounds_ : ndarray of shape (n_features, 2)
        Private bounds; twice 0 where a column is seen by its sign.
    row_norm_ : float
        1: the norm of a row that leaves, for a private estimator's ``data_norm``.
    """

    moments: ClassVar[bool] = False

    bounds_: Array = field(init=False)

    @property
    def row_norm_(self) -> float:
        """Bound on the norm of transformed rows: 1, since each row is divided by the largest norm it may have."""
        return 1.0

    def _stage(self) -> Stage:
        return ColumnScales(self.moments)

    def _store(self, found: Array) -> None:
        self.bounds_ = np.asarray(found[:, :2])


class ByDeclaration(FromFields, TransformerMixin, BaseEstimator):
    """Base class of the transformers by declaration; each one says which blocks its columns become.

    Attributes
    ----------
    columns_ : list of (place, name, declared)
        The columns as declared.
    row_norm_ : float
        Public bound on the norm of a row that leaves; a private estimator's ``data_norm``.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of str
        Their names, where they have any.
    """

    n_features_in_: int = field(init=False)
    feature_names_in_: Array = field(init=False)
    columns_: list[Column] = field(init=False)
    only: ClassVar[type | None] = (
        None  # what every column must be declared as, in the table's order
    )

    def fit(self, X: Any, y: Any = None) -> Self:
        """Settle which column is which; no record is read.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_features)
            A table with the columns that will be transformed.
        y : object, default=None
            Ignored.

        Returns
        -------
        self
        """
        self._check()
        before = dict(vars(self))
        try:
            rows = len(any_table(self, X, reset=True))
            names = [*X.columns] if is_frame(X) else [f"x{j}" for j in range(self.n_features_in_)]
            self.settle(names, is_frame(X), rows)
        except BaseException:  # as it was
            vars(self).clear()
            vars(self).update(before)
            raise
        return self

    def settle(self, names: list[Any], named: bool, rows: int) -> None:
        """Decide by public facts of a table what `fit` decides.

        Parameters
        ----------
        names : list
            Of the table's columns.
        named : bool
            Whether they are its own.
        rows : int
            Number of records.
        """
        self.columns_ = self._settled(names, named)
        self._size(rows)

    def transform(self, X: Any) -> Any:
        """Transform each row to numbers, by the declaration alone.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out), or a sparse array of it
            Of bounded norm, see ``row_norm_``.
        """
        check_is_fitted(self)
        return self._encoded(any_table(self, X, reset=False))

    def reading(self) -> str:
        """Return the reading of the declaration as text, one line a column, to check before anything is fitted.

        Returns
        -------
        str
        """
        self._check()
        given = self._declaration()
        if isinstance(given, Mapping):
            return reading((name, self._read(name, declared)) for name, declared in given.items())
        return reading([("every column", self._read("every column", given))])

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns that `transform` returns.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns that came in, where fit saw none.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        if input_features is not None:
            given = self._same(input_features)
            return np.asarray(self._names(dict(enumerate(given))), dtype=object)
        return np.asarray(self._names(), dtype=object)

    def _names(self, given: Mapping[int, Any] | None = None) -> list[str]:
        """Names of the blocks' columns, by names of the columns that came in."""
        pairs = zip(self.columns_, self._blocks())
        return [
            name
            for column, block in pairs
            for name in block.names(str((given or {}).get(column.place, column.name)))
        ]

    def _same(self, input_features: Any) -> Sequence[Any]:
        """Names that a caller gave, if they may be those of the columns."""
        given = list(input_features)
        if len(given) != self.n_features_in_:
            raise ValueError(
                f"input_features should have length equal to number of features ({self.n_features_in_}), "
                f"got {len(given)}."
            )
        if given != list(getattr(self, "feature_names_in_", given)):
            raise ValueError("input_features is not equal to feature_names_in_.")
        return given

    def _settled(self, names: list[Any], named: bool) -> list[Column]:
        """Declared columns and their places among the names of a table."""
        given = self._declaration()
        if not isinstance(given, Mapping):
            return [Column(j, name, self._read(name, given)) for j, name in enumerate(names)]
        columns = []
        for key, declared in given.items():
            place = place_of(key, names, named)
            columns.append(Column(place, names[place], self._read(key, declared)))
        if len({column.place for column in columns}) < len(columns):
            raise ValueError("A column is declared by its name and by its place; declare it once.")
        return columns if self.only is None else all_of(columns, names)

    def _read(self, name: object, declared: Any) -> Declared:
        found = read_column(name, declared)
        if self.only is not None and not isinstance(found, self.only):
            raise ValueError(
                f"Column {name!r} is declared as {found}: use {OTHER[self.only]} for it, or TableEncoder for both."
            )
        return found

    def _declaration(self) -> Any:
        """Return the declaration: of every column by name or place, or one for all columns."""
        raise NotImplementedError

    def _blocks(self) -> list[Block]:
        """Return the blocks that the columns become, once they are known."""
        raise NotImplementedError

    def _encoded(self, table: Any) -> Any:
        """Encode a table that has been checked."""
        cells = [column.cells(table) for column in self.columns_]
        X = assemble(cells, self._blocks(), len(table))
        return np.ascontiguousarray(self._finished(X, cells))

    def _size(self, rows: int) -> None:
        """Choose settings that depend on the number of rows, where that is public."""

    def _check(self) -> None:
        """Refuse parameters that no table makes right."""

    def _finished(self, X: Array, cells: Sequence[Any]) -> Array:
        """Blocks side by side as they leave, and what else the cells of the columns become."""
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = True
        tags.requires_fit = True
        return tags
