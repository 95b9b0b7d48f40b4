"""Intake of a fit: what a user passed is opened here, checked, encoded by public declarations, and closed again.

An estimator hands its user's arguments on unopened, with a `Reader`: a registered value that says what its cells and
targets are. It gets back a closed table, and facts about it that are public. Each row, target and weight of the table
is a function of that record and of the declarations alone (`tests/laws/test_promises.py`), or the fit is refused.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse

from ..mechanisms import Documents, number_of_units
from ._arrays import Array, any_table, labels, table, warn_of_column
from ._cells import codes, numbers_of
from ._targets import (
    classes_of_targets,
    coded,
    grades,
    onto_unit,
    read_classes,
    read_targets,
    refuse_unfit,
    told,
)
from ._units import by_class, persons_of, shares_of_bound, sizes_of, units_of
from ._views import Table

__all__ = [
    "ENCODERS",
    "READERS",
    "Facts",
    "Given",
    "Grades",
    "Labels",
    "Numbers",
    "Reader",
    "Unlabelled",
    "register_encoder",
]


class Arguments(NamedTuple):
    """Arguments of a fit, as a user passed them."""

    X: Any
    y: Any = None
    sample_weight: Any = None
    groups: Any = None
    qid: Any = None
    sizes: Any = None


class Given:
    """Data of a fit, which nobody has looked at yet. None of them can be read from it.

    Parameters
    ----------
    X, y, sample_weight, groups
        As a user passed them to `fit`.
    qid, sizes
        Of lists of documents: ids, or how long each is.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp import DPLogisticRegression
    >>> from skdp.entry import Given, Labels
    >>> given = Given(np.array([[3.0, 4.0], [0.3, 0.4]]), ["a", "b"])
    >>> table, facts = given.close(DPLogisticRegression(), Labels(["a", "b", "c"]))
    >>> facts.n, facts.n_features, facts.classes.tolist()
    (2, 2, ['a', 'b', 'c'])
    """

    __slots__ = ("__given",)

    def __init__(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: ArrayLike | None = None,
        groups: Any = None,
        qid: Any = None,
        sizes: Any = None,
    ) -> None:
        self.__given = Arguments(X, y, sample_weight, groups, qid, sizes)

    def mapped(self, estimator: Any, encoder: Any, settle: Callable[[Any, int], None]) -> Given:
        """Return the same data with the rows that an encoder makes of a raw table, each of its own row alone.

        Parameters
        ----------
        estimator : estimator
            Keeps the names and the number of the table's columns, and says how many rows of a person enter.
        encoder : transformer
            Of a registered type, exactly: a subclass could map one record by another.
        settle : callable
            Takes the encoder once it knows the columns, and the number of records, of rows or of persons: 0 where that
            is private.

        Returns
        -------
        Given
        """
        if type(encoder) not in ENCODERS:
            raise TypeError(
                f"{type(encoder).__name__} is no registered encoder; register it with register_encoder."
            )
        X = any_table(estimator, self.__given.X, reset=True)
        _, units = units_of(estimator, self.__given.groups, len(X))
        settle(encoder.fit(X), units if estimator.neighbors == "replace_one" else 0)
        found = Given(None)
        found.__given = self.__given._replace(X=encoder.transform(X))
        return found

    def close(self, estimator: Any, reader: Reader) -> tuple[Table, Facts]:
        """Check and encode the records, or refuse them without showing a cell.

        Parameters
        ----------
        estimator : estimator
            Keeps the names and the number of columns, and knows whether the number of records is public.
        reader : Reader
            Of a registered type, exactly: a subclass could encode one record by another.

        Returns
        -------
        table : Table
            Closed.
        facts : Facts
            Public facts.
        """
        if type(reader) not in READERS:
            raise TypeError(
                f"{type(reader).__name__} is no registered reader; add it to READERS, with its proof."
            )
        found, facts = reader.read(estimator, self.__given)
        weighted = self.__given.sample_weight is not None
        private = getattr(estimator, "neighbors", None) != "replace_one"
        return found, replace(facts, n=None if private else facts.n, weighted=weighted)


@dataclass(frozen=True, eq=False)
class Facts:
    """Public facts about a closed table.

    Parameters
    ----------
    n : int or None
        Number of records: of rows, persons or lists; None where it is private.
    n_features : int
        Number of columns.
    single : bool
        Whether rows are in single precision.
    classes : ndarray or None
        Labels of a classifier, sorted: declared, or taken from the targets, which makes them public.
    targets : int
        Columns of targets.
    column : bool
        Whether targets came as the columns of a table.
    weighted : bool
        Whether rows have weights of their own.
    documents : Documents or None
        Documents, where these are public.
    sparse : bool
        Whether rows store only what is not zero.
    """

    n: int | None
    n_features: int
    single: bool = False
    classes: Array | None = None
    targets: int = 1
    column: bool = False
    weighted: bool = False
    documents: Documents | None = None
    sparse: bool = False


class Reader(ABC):
    """Declaration of what a user's cells and targets are. Subclasses are frozen dataclasses of public values."""

    @abstractmethod
    def read(self, estimator: Any, given: Arguments) -> tuple[Table, Facts]:
        """Check and encode."""


@dataclass(frozen=True, eq=False)
class Labels(Reader):
    """Numbers in the rows, and a label of each, coded by its place among the classes: -1 and 1 where these are two.

    Parameters
    ----------
    classes : array-like of labels or None
        All labels that may occur, as the user declared them; None takes them from y, which makes them public.
    of_label : dict or None
        Declared weights of labels; 1 for others.
    heaviest : float
        Largest of these weights.
    bound : float or None
        Largest weight of a row that counts; None stands for 1.
    weighted : bool
        Whether every row has a weight, if only of 1.
    """

    classes: ArrayLike | None = None
    of_label: dict[Any, float] | None = None
    heaviest: float = 1.0
    bound: float | None = None
    weighted: bool = False

    def read(self, estimator: Any, given: Arguments) -> tuple[Table, Facts]:
        """Code each label by itself alone: a file's other labels decide the type of its column."""
        name = type(estimator).__name__
        declared = None if self.classes is None else read_classes(self.classes, name)
        X = table(estimator, given.X, reset=True, engines=True)
        n = X.shape[0]
        y = labels(estimator, given.y, n)
        warn_of_column(given.y)
        classes = refuse_unfit(classes_of_targets(y), name) if declared is None else declared
        places = codes(y, classes)
        if (places == len(classes)).any():
            raise ValueError(
                f"y holds labels that are not among {told(classes)} (a continuous target has none); declare all "
                f"labels that may occur{coded(classes, y)}."
            )
        owners, units = units_of(estimator, given.groups, n)
        weights = self.weights(places, classes, given.sample_weight)
        found = 2 * places - 1 if len(classes) == 2 else places
        closed = Table(X, found.astype(np.float64), owners, weights)
        single = X.dtype == np.float32
        return closed, Facts(units, X.shape[1], single, classes, sparse=issparse(X))

    def weights(self, places: Array, classes: Array, sample_weight: Any) -> Array | None:
        """Return the weight of each row as a share of the largest possible, in [0, 1]; None where all weigh the same.

        Parameters
        ----------
        places : ndarray of int of shape (n,)
            Of the rows' labels among the classes.
        classes : ndarray
            All labels.
        sample_weight : array-like of shape (n,) or None
            What the user gave.
        """
        weights = shares_of_bound(sample_weight, self.bound, len(places))
        if self.weighted and weights is None:
            weights = np.ones(len(places))
        if not self.of_label:
            return weights
        of_class = by_class(self.of_label, classes) / self.heaviest
        shares: Array = of_class[places]
        return shares if weights is None else shares * weights


@dataclass(frozen=True, eq=False)
class Numbers(Reader):
    """Numbers in the rows, and a number for each or several, on [-1, 1] between declared bounds.

    Parameters
    ----------
    bounds : ndarray of shape (2,) or (t, 2), or None
        Of the target, or of each; None leaves targets as they are, for bounds that are bought.
    centred : bool
        Whether the midpoint of the bounds is taken from targets.
    several : bool
        Whether targets may be the columns of a table.
    bound : float or None
        Largest weight of a row that counts; None stands for 1.
    """

    bounds: Array | None = None
    centred: bool = True
    several: bool = False
    bound: float | None = None

    def read(self, estimator: Any, given: Arguments) -> tuple[Table, Facts]:
        """Map each target by itself alone."""
        X = table(estimator, given.X, reset=True, engines=True)
        n = X.shape[0]
        found = read_targets(estimator, given.y, n, self.several)
        column = found.ndim == 2
        if not self.several:
            warn_of_column(given.y)
        if column and found.shape[1] == 1:
            found = found[:, 0]
        count = found.shape[1] if found.ndim == 2 else 1
        if self.bounds is not None:
            if self.bounds.ndim == 2 and len(self.bounds) != count:
                raise ValueError(
                    f"y_bounds holds bounds of {len(self.bounds)} targets, but y has another number of columns; give a "
                    "pair for each, or one for all."
                )
            found = onto_unit(found, self.bounds, self.centred)
        owners, units = units_of(estimator, given.groups, n)
        weights = shares_of_bound(given.sample_weight, self.bound, n)
        facts = Facts(units, X.shape[1], X.dtype == np.float32, targets=count, column=column)
        return Table(X, found, owners, weights), replace(facts, sparse=issparse(X))


@dataclass(frozen=True, eq=False)
class Grades(Reader):
    """Documents in the rows, list after list, and a grade of each.

    Parameters
    ----------
    protects : {"list", "list_labels", "user"}
        What is private: whole lists, the labels of lists whose documents are public, or all lists of a person.
    norm : float
        Bound of a document.
    """

    protects: str
    norm: float

    def read(self, estimator: Any, given: Arguments) -> tuple[Table, Facts]:
        """Number the lists; where documents are public, they are among the facts, and labels in the table."""
        X = table(estimator, given.X, reset=True)
        found = grades(estimator, given.y, X.shape[0])
        if (given.groups is not None) != (self.protects == "user"):
            raise ValueError(
                f"privacy_unit={self.protects!r} {'needs' if given.groups is None else 'takes no'} groups=, the id of "
                "each list's person; only privacy_unit='user' protects persons, with all of their documents."
            )
        sizes = sizes_of(given.qid, given.sizes, X.shape[0])
        facts = Facts(len(sizes), X.shape[1], X.dtype == np.float32)
        if self.protects == "list_labels":
            return Table(X, found), replace(facts, documents=Documents.of(X, sizes, self.norm))
        lists = np.repeat(np.arange(len(sizes)), sizes)
        if self.protects == "list":
            return Table(X, found, lists), facts
        persons = persons_of(given.groups, sizes)
        facts = replace(facts, n=number_of_units(persons, X.shape[0]))
        return Table(X, found, persons, lists=lists), facts


@dataclass(frozen=True, eq=False)
class Unlabelled(Reader):
    """Rows of a transformer, which have no targets.

    Parameters
    ----------
    cells : {"numbers", "any", "finite"}
        Whether each cell must be a number, or what is none is missing; "finite": what is infinite is missing too.
    """

    cells: str = "any"

    def read(self, estimator: Any, given: Arguments) -> tuple[Table, Facts]:
        """Read each cell by itself alone."""
        rows = numbers_of(estimator, given.X, self.cells, reset=True)
        return Table(rows, np.zeros(len(rows))), Facts(len(rows), rows.shape[1])


READERS: frozenset[type[Reader]] = frozenset({Grades, Labels, Numbers, Unlabelled})
ENCODERS: set[type] = (
    set()
)  # of raw tables, by declaration: each maps a row by itself, and reads no cell in fit


def register_encoder(kind: type[Any]) -> type[Any]:
    """Let a transformer stand between a raw table and a reader; tests/laws/test_maps.py holds it to mapping rows alone.

    Parameters
    ----------
    kind : type
        The transformer, of which no subclass is let in.

    Returns
    -------
    type
    """
    ENCODERS.add(kind)
    return kind
