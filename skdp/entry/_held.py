"""Outputs of a model on each record, as the numbers that the vault takes in.

The model is public: an answer that has been paid for, or fitted on other records. What it says of a record must be a
function of that record. Under replace-one neighbours, where every other record keeps its place, it may round by place
too; under add/remove places move, so each record is shown to the model alone.

A row that the model cannot take is scored as if nobody spoke of it. Under replace-one, a row that the model takes
stands in for it while the others are asked, so that theirs are what they are beside any row that it takes.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted

from ..exceptions import NotSupported
from ._arrays import Array, labels, table
from ._cells import codes
from ._targets import targets

__all__ = ["Held", "codes_of", "groups_of", "of_nobody", "refuse_without"]


@dataclass(frozen=True, eq=False)
class Held:
    """Held-out records and the model that is scored, checked; nothing has been predicted.

    Parameters
    ----------
    model : callable or estimator
        Fitted.
    X : ndarray of shape (n_samples, n_features)
        Rows.
    codes : ndarray of shape (n_samples,)
        Places of their labels in `classes`.
    classes : ndarray
        Of the model, sorted.
    alone : bool
        Whether records are shown to the model one by one, and their number is private.
    groups : ndarray of shape (n_samples,) or None
        Places of their groups among declared names.
    """

    model: Any
    X: Array
    codes: Array
    classes: Array
    alone: bool
    groups: Array | None = None

    @classmethod
    def of(cls, estimator: Any, X: ArrayLike, y: ArrayLike, neighbors: str) -> Held:
        """Check model and data, and hold them; errors show no cell."""
        check_is_fitted(estimator)
        classes = getattr(estimator, "classes_", None)
        if classes is None:
            raise NotSupported(
                f"{type(estimator).__name__} has no classes_; private scores need a classifier."
            )
        rows = _as_doubles(table(estimator, X, reset=False))
        codes = codes_of(y, classes, rows.shape[0], neighbors)
        return cls(estimator, rows, codes, classes, neighbors != "replace_one")

    @classmethod
    def of_numbers(cls, estimator: Any, X: ArrayLike, y: ArrayLike, neighbors: str) -> Held:
        """Hold the records of a regressor; targets take the place of codes."""
        check_is_fitted(estimator)
        if not is_regressor(estimator):
            raise NotSupported(
                f"{type(estimator).__name__} is not a regressor; choose a scoring for classifiers."
            )
        rows = _as_doubles(table(estimator, X, reset=False))
        found = targets(SimpleNamespace(neighbors=neighbors), y, rows.shape[0])
        return cls(estimator, rows, found, np.empty(0), neighbors != "replace_one")

    def grouped(self, groups: ArrayLike, names: Array) -> Held:
        """Return the same records with the places of their groups among declared names."""
        relation = "add_remove" if self.alone else "replace_one"
        return replace(self, groups=groups_of(groups, names, self.X.shape[0], relation))

    def public_count(self) -> int | None:
        """Number of records, where it may be known."""
        return None if self.alone else int(self.X.shape[0])

    def refuse_without(self, what: str, most: float = math.inf) -> None:
        """Refuse a model without such outcomes, by its class, or too many records, before anything is paid."""
        refuse_many(int(self.X.shape[0]), most)
        refuse_without(self.model, what)

    def predicted(self) -> Array:
        """Places of the predicted labels."""
        return self._asked("predicted", self._as_places)

    def probabilities(self) -> Array:
        """Return the probability of every class, in [0, 1]; non-numbers count as 0."""
        return self._asked("probabilities", self._as_probabilities)

    def numbers(self) -> Array:
        """Return the predictions of a regressor; non-numbers count as 0."""
        return self._asked("numbers", _as_numbers)

    def scores(self) -> Array:
        """Return the score of the second class; non-numbers count as 0.

        Any increasing function of the model's score will do.
        """
        return self._asked("scores", _as_scores)

    def _as_places(self, found: Array, n: int) -> Array:
        places = _places_among(self.classes, found.reshape(n))
        if places is None:
            raise ValueError
        return places

    def _as_probabilities(self, found: Array, n: int) -> Array:
        table = found.astype(np.float64).reshape(n, len(self.classes))
        return np.nan_to_num(table).clip(0.0, 1.0)

    def _asked(self, what: str, read: Callable[[Array, int], Array]) -> Array:
        """Return the model's output on each record; a record that it cannot take gets the output for nobody.

        Nothing is raised: all has been paid, and a failure of the model would tell of a record. A KeyboardInterrupt
        passes, for it is the user's; a model that raises one itself is outside the promise.
        """
        ask = _method_of(self.model, what)

        def of(rows: Any) -> Array | None:
            return _said(lambda: read(_one_each(ask(rows), rows.shape[0]), rows.shape[0]))

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            whole = None if self.alone else of(self.X)
            if whole is not None:
                return whole
            n = self.X.shape[0]
            rows = getattr(self.X, "iloc", self.X)
            singly = [of(rows[i : i + 1]) for i in range(n)]
            taken = np.flatnonzero([one is not None for one in singly])
            found = of_nobody(what, n, len(self.classes))
            if len(taken):
                found[taken] = np.concatenate([singly[i] for i in taken])
            if 0 < len(taken) < n and not self.alone:
                again = of(_with_stand_ins(rows, taken, n))
                found[taken] = found[taken] if again is None else again[taken]
            return found


def _with_stand_ins(rows: Any, taken: Array, n: int) -> Any:
    """The n rows, with a row that is taken in the place of each that is not.

    It is as large a table, in which each row stands as it stood: so the others round as they do where none is refused.
    """
    index = np.full(n, taken[0])
    index[taken] = taken
    return rows[index]


def _one_each(found: Any, n: int) -> Array:
    """Return the model's output as an array of one entry, or one row, for each of n records."""
    said = np.asarray(found)
    if said.shape[:1] != (n,):
        raise ValueError
    return said


def refuse_many(n: int, most: float) -> None:
    """Refuse more records than rounding is bounded for.

    Parameters
    ----------
    n : int
        Records.
    most : float
        As `Public` has it.
    """
    if n > most:
        raise ValueError(
            f"X has more than {most} rows, and rounding has no bound for so many where their number is private; "
            "use fewer, or neighbors='replace_one'."
        )


def _as_doubles(X: Any) -> Any:
    """A table of which rows can be taken, in double precision: in which one it comes is decided by all records.

    One text of a number turns a column of singles into objects, and the table into doubles.
    """
    rows = X.tocsr() if issparse(X) else X
    return rows.astype(np.float64, copy=False)


def _said(call: Callable[[], Array]) -> Array | None:
    """Return the model's output, or None where it raises anything.

    Errors that would end the run are caught too, unless the user ends it.
    """
    try:
        with np.errstate(all="ignore"):
            return call()
    except KeyboardInterrupt:
        raise
    except BaseException:
        return None


_METHODS = {
    "predicted": ("predict",),
    "probabilities": ("predict_proba",),
    "numbers": ("predict",),
    "scores": ("decision_function", "predict_proba"),
}


def _method_of(model: Any, what: str) -> Any:
    """The method of a model that gives such outcomes, or None."""
    found = (getattr(model, name, None) for name in _METHODS[what])
    return next((method for method in found if method is not None), None)


def refuse_without(model: Any, what: str) -> None:
    """Refuse a model that has no method for such outcomes."""
    if _method_of(model, what) is None:
        raise NotSupported(
            f"{type(model).__name__} has no {_METHODS[what][-1]}; choose another scoring."
        )


def of_nobody(what: str, n: int, classes: int) -> Array:
    """Return the output for records that the model cannot take: the first class, even odds, score 0."""
    if what == "probabilities":
        return np.full((n, classes), 1.0 / classes)
    return np.zeros(n, dtype=np.intp if what == "predicted" else np.float64)


def _as_numbers(found: Array, n: int) -> Array:
    return np.nan_to_num(found.astype(np.float64).reshape(n))


def _as_scores(found: Array, n: int) -> Array:
    second = found.reshape(n, 2)[:, 1] if found.ndim == 2 and found.shape[1] > 1 else found
    return _as_numbers(second, n)


def codes_of(y: ArrayLike, classes: Array, n: int, neighbors: str) -> Array:
    """Places of labels among the classes; a label that is none of them is refused without being shown."""
    same = _places(y, classes, n, neighbors)
    if same is None:
        raise ValueError(
            "y holds labels that are not among the model's classes; drop or declare them."
        )
    return same


def groups_of(groups: ArrayLike, names: Array, n: int, neighbors: str) -> Array:
    """Places of groups among their declared names, likewise."""
    same = _places(groups, names, n, neighbors)
    if same is None:
        raise ValueError(
            f"groups holds values that are not among names={names.tolist()}; declare every group, or drop such records."
        )
    return same


def _places(given: ArrayLike, names: Array, n: int, neighbors: str) -> Array | None:
    return _places_among(names, labels(SimpleNamespace(neighbors=neighbors), given, n))


def _places_among(names: Array, found: Array) -> Array | None:
    """Place of each value among names, or None where one is none of them."""
    places = codes(found, names)
    return None if (places == len(names)).any() else places
