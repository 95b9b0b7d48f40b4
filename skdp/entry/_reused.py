"""Closed records that several private fits and scores read: those of a search, and the parts of a cross-validation.

What a fit gives back is an answer; what a model says of a record is made here, once all is paid, and asked by a query.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import csr_array, issparse, vstack
from sklearn.base import clone

from ..mechanisms._shared_memory import copy_if_shared
from ..privacy.ledger import paid
from ._arrays import Array, any_table, attempt, table
from ._held import Held, codes_of, of_nobody, refuse_many, refuse_without
from ._intake import Given
from ._targets import targets

__all__ = ["FoldedRecords", "Judged", "SearchRecords", "quietly", "sizes_along"]

Result = TypeVar("Result")
Steps = Sequence[tuple[Any, bool]]  # of a candidate, each with whether it pays for itself


def quietly(call: Callable[[], Result]) -> Result | None:
    """Call a part of a search that is paid for, and return its result without warnings; None where it raises."""
    with paid(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found: Result | None = attempt(call)[0]
        return found


class SearchRecords:
    """Rows and targets that candidates of a search are fitted and scored on. They cannot be read from it.

    Parameters
    ----------
    steps : sequence of (estimator, bool)
        Of a candidate, each with whether it pays for itself.
    X, y : array-like
        What the user gave; refused as the candidate's own fit would refuse it.
    """

    __slots__ = ("__X", "__codes", "__y")

    def __init__(self, steps: Steps, X: Any, y: Any) -> None:
        X, y = map(copy_if_shared, (X, y))  # every run reads them anew
        last = clone(steps[-1][0])
        rows: Any = (
            table(last, X, reset=True)
            if len(steps) == 1
            else any_table(clone(steps[0][0]), X, reset=True)
        )
        through, paying = _through(steps, rows)
        if len(paying) == 1 and len(steps) > 1:  # else numbers are missing until scales are bought
            table(last, through, reset=True)
        n = int(rows.shape[0])
        if not isinstance(X, np.ndarray) and not hasattr(X, "columns"):
            X = rows.tocsr() if issparse(rows) else rows  # of others no rows could be taken
        self.__X = X
        if hasattr(last, "classes"):
            classes = np.unique(np.asarray(last.classes))
            self.__y, self.__codes = y, codes_of(y, classes, n, last.neighbors)
        else:
            self.__y = self.__codes = targets(last, y, n)

    def count(self, neighbors: str) -> int | None:
        """Return the number of records, where it may be known."""
        return len(self.__codes) if neighbors == "replace_one" else None

    def widths(self, steps: Steps) -> tuple[int, ...]:
        """Return the number of columns at each paying step of a candidate, by the first row."""
        return _through(steps, _first(self.__X))[1]

    def refuse(self, steps: Steps, most: float) -> None:
        """Refuse records that a candidate would, or more of them than rounding is bounded for."""
        refuse_many(len(self.__codes), most)
        SearchRecords(steps, self.__X, self.__y)
        rows = self.__X
        for step, pays in steps:
            step = clone(step)
            if pays:  # rows behind it are not known yet: they are bounded by what it estimates
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    step._refuse(Given(rows, self.__y))
                return
            rows = _transformed(step, rows)

    def fit(self, model: Any) -> Any:
        """Fit a private model on the records, and return it."""
        return model.fit(self.__X, self.__y)

    def judged(self, *models: Any, neighbors: str) -> Judged:
        """Return the records as models speak of them; None stands for a model that failed."""
        alone, empty = neighbors != "replace_one", np.empty(0)
        held = [
            None
            if model is None
            else Held(model, self.__X, self.__codes, getattr(model, "classes_", empty), alone)
            for model in models
        ]
        return Judged(held, len(self.__codes))


class Judged:
    """Records beside the models that are scored on them.

    Parameters
    ----------
    held : list of Held or None
        For each model.
    n : int
        Records.
    """

    __slots__ = ("__held", "__n")

    def __init__(self, held: list[Held | None], n: int) -> None:
        self.__held, self.__n = held, n

    def loss(self, loss: Callable[[Held], Array]) -> Array:
        """Return the losses of the records under the one model."""
        (held,) = self.__held
        if held is None:
            raise ValueError("there is no model to score")
        return loss(held)

    def losses(self, loss: Callable[[Held], Array]) -> Array:
        """Return a column of losses for each model; of one that failed, or fails now, the largest."""
        columns = np.ones((self.__n, len(self.__held)))
        for held, column in zip(self.__held, columns.T):
            found = None if held is None else quietly(partial(loss, held))
            column[:] = 1.0 if found is None else found
        return columns


def sizes_along(steps: Steps, X: Any) -> list[tuple[int | None, int]]:
    """Return the sizes of the fit of each paying step: records, where their number is public, and columns.

    Parameters
    ----------
    steps : sequence of (estimator, bool)
        Of a pipeline, each with whether it pays for itself.
    X : array-like
        What the user gave, of which the first row is looked at.
    """
    n, widths = int(X.shape[0]), _through(steps, _first(X))[1]
    paying = [step for step, pays in steps if pays]
    public = [n if step.neighbors == "replace_one" else None for step in paying]
    return list(zip(public, widths, strict=True))


def _first(X: Any) -> Any:
    return getattr(X, "iloc", X)[:1]


def _through(steps: Steps, rows: Any) -> tuple[Any, tuple[int, ...]]:
    """Rows as they come to the last step, but for scales that are bought, which keep the number of columns."""
    widths = []
    for step, pays in steps:
        if pays:
            widths.append(int(rows.shape[1]))
        else:
            rows = _transformed(clone(step), rows)
    return rows, tuple(widths)


def _transformed(step: Any, rows: Any) -> Any:
    """Return rows as transformed by a step that reads no record in fit.

    Errors of scikit-learn's steps are replaced, since they would show a row.
    """
    if type(step).__module__.split(".")[0] == "skdp":
        return step.fit(rows).transform(rows)
    found, kind = attempt(lambda: step.fit(rows).transform(rows))
    if kind is not None:
        raise kind(f"{type(step).__name__} cannot take these rows; look at them without this step.")
    return found


class FoldedRecords:
    """Records in parts, each spoken of by the model that has not seen it; fits run when they are first asked for.

    Parameters
    ----------
    estimator : estimator
        A private classifier with declared classes.
    X, y : array-like
        What the user gave.
    folds : object
        A splitter for which the partition theorem holds.
    groups : array-like or None
        Keys of the records.
    """

    __slots__ = ("__X", "__folds", "classes", "codes", "estimator", "n_features")

    def __init__(self, estimator: Any, X: Any, y: Any, folds: Any, groups: Any) -> None:
        self.__folds = list(folds.split(X, None, groups))
        self.estimator = estimator
        self.__X = table(estimator, X, reset=True)
        self.n_features = int(self.__X.shape[1])
        y = copy_if_shared(np.asarray(y))
        self.classes = np.unique(np.asarray(estimator.classes))
        self.codes = codes_of(y, self.classes, self.__X.shape[0], estimator.neighbors)
        # What any fit would refuse: each record by itself, or their number, so that no part is refused once it is paid.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clone(estimator)._refuse(Given(*self.__beside_public(self.__X, self.codes)))

    def counts(self) -> list[int | None]:
        """Return the number of records that each fit sees, where they may be known."""
        public = self.estimator.neighbors == "replace_one"
        return [len(train) if public else None for train, _ in self.__folds]

    def public_count(self) -> int | None:
        """Number of records, where it may be known."""
        return int(self.__X.shape[0]) if self.estimator.neighbors == "replace_one" else None

    def refuse_without(self, what: str, most: float = math.inf) -> None:
        """Refuse an estimator that has no such outcomes, or too many records."""
        refuse_many(len(self.codes), most)
        refuse_without(self.estimator, what)

    def predicted(self) -> Array:
        """Places of the predicted labels."""
        return self._of("predicted")

    def probabilities(self) -> Array:
        """Return the probability of every class."""
        return self._of("probabilities")

    def scores(self) -> Array:
        """Return the score of the second class."""
        return self._of("scores")

    def _of(self, what: str) -> Array:
        found = of_nobody(what, self.__X.shape[0], len(self.classes))
        for train, test in self.__folds:
            # What a fit of some records raises or warns is not told: they have been paid for, and it is no answer.
            told = quietly(partial(self._told, what, train, test))
            if told is not None:
                found[test] = told
        return found

    def _told(self, what: str, train: Array, test: Array) -> Array:
        """Outcomes of one part by the model of the others."""
        alone = self.estimator.neighbors != "replace_one"
        rows, labels = self.__beside_public(self.__X[train], self.codes[train])
        model = clone(self.estimator).fit(rows, labels)
        held = Held(model, self.__X[test], self.codes[test], self.classes, alone)
        return np.asarray(getattr(held, what)())

    def __beside_public(self, rows: Any, codes: Array) -> tuple[Any, Array]:
        """Rows and labels; where their number is private, with a public row of zeros, of the first class.

        By keys all records may fall into one part. A fit on none has no law that is near one on one record, so no fit
        is on none.
        """
        if self.estimator.neighbors == "replace_one":
            return rows, self.classes[codes]
        zeros = np.zeros((1, rows.shape[1]), rows.dtype)
        together = (
            vstack([rows, csr_array(zeros)], format="csr")
            if issparse(rows)
            else np.vstack([rows, zeros])
        )
        return together, self.classes[np.append(codes, 0)]
