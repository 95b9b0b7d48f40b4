"""What a model says of each record, as the numbers that the vault takes in.

The model is public: an answer that has been paid for, or fitted on other records. What it says of a record must be a
function of that record. Under replace-one neighbours, where every other record keeps its place, it may round by place
too; under add/remove places move, so each record is shown to the model alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted

from ..exceptions import NotSupported
from ..fitting._targets import targets
from ..fitting.data import Array, attempt, codes, labels, table

__all__ = ["Held", "codes_of", "groups_of"]


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
        Whether records are shown to the model one by one.
    """

    model: Any
    X: Array
    codes: Array
    classes: Array
    alone: bool

    @classmethod
    def of(cls, estimator: Any, X: ArrayLike, y: ArrayLike, neighbors: str) -> Held:
        """Check, and show no cell in what is refused."""
        check_is_fitted(estimator)
        classes = getattr(estimator, "classes_", None)
        if classes is None:
            raise NotSupported(
                f"{type(estimator).__name__} has no classes_; private scores are of classifiers."
            )
        X = table(estimator, X, reset=False)
        codes = codes_of(y, classes, len(X), neighbors)
        return cls(estimator, X, codes, classes, neighbors != "replace_one")

    @classmethod
    def of_numbers(cls, estimator: Any, X: ArrayLike, y: ArrayLike, neighbors: str) -> Held:
        """The same for a regressor, whose targets stand in the place of codes."""
        check_is_fitted(estimator)
        if not is_regressor(estimator):
            raise NotSupported(
                f"{type(estimator).__name__} is no regressor; choose a scoring of classifiers."
            )
        X = table(estimator, X, reset=False)
        found = targets(SimpleNamespace(neighbors=neighbors), y, len(X))
        return cls(estimator, X, found, np.empty(0), neighbors != "replace_one")

    def predicted(self) -> Array:
        """Places of the predicted labels."""
        found = np.asarray(self._asked("predict"))
        return np.searchsorted(self.classes, found).clip(0, len(self.classes) - 1)

    def probabilities(self) -> Array:
        """Of every class, in [0, 1]; what is no number is 0."""
        found = np.nan_to_num(np.asarray(self._asked("predict_proba"), dtype=np.float64))
        return found.clip(0.0, 1.0)

    def numbers(self) -> Array:
        """What a regressor predicts; what is no number is 0."""
        return np.nan_to_num(np.asarray(self._asked("predict"), dtype=np.float64)).ravel()

    def scores(self) -> Array:
        """Of the second class: any increasing function of what the model says will do."""
        name = "decision_function" if hasattr(self.model, "decision_function") else "predict_proba"
        found = np.asarray(self._asked(name), dtype=np.float64)
        return np.nan_to_num(found[:, 1] if found.ndim == 2 else found)

    def _asked(self, method: str) -> Array:
        """The model's answers; of an exception or a warning, which may show a record, nothing is passed on."""
        ask = getattr(self.model, method, None)
        if ask is None:
            raise NotSupported(
                f"{type(self.model).__name__} has no {method}; choose another scoring."
            )
        found, kind = attempt(lambda: self._quiet(ask))
        if kind is not None or len(found) != self.X.shape[0]:
            raise ValueError(f"{type(self.model).__name__}.{method} failed on these rows.")
        return found

    def _quiet(self, ask: Callable[[Array], Array]) -> Array:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if not self.alone:
                return np.asarray(ask(self.X))
            part = getattr(self.X, "iloc", self.X)
            rows = (part[i : i + 1] for i in range(self.X.shape[0]))
            return np.concatenate([np.asarray(ask(row)) for row in rows])


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
            f"groups holds what is not among names={list(names)}; declare every group, or drop such records."
        )
    return same


def _places(given: ArrayLike, names: Array, n: int, neighbors: str) -> Array | None:
    found = codes(labels(SimpleNamespace(neighbors=neighbors), given, n), names)
    return None if (found == len(names)).any() else found
