"""What private classifiers share: labels in, labels out."""

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score

from ..exceptions import NotSupported, PrivacyWarning
from ._parameters import as_text
from ._tables import Array, attempt, known_labels, labels, table, warn_of_column
from ._warning import frames_to_caller
from .estimator import PrivateEstimator

__all__ = ["PrivateClassifier"]


class PrivateClassifier(ClassifierMixin, PrivateEstimator):
    """Base of the private classifiers: it knows labels, and nothing of losses."""

    classes: ArrayLike | None
    classes_: Array

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit with differential privacy.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; those of norm beyond ``data_norm`` are scaled down to it.
        y : array-like of shape (n_samples,)
            Labels of two classes.

        Returns
        -------
        self
        """
        return self._fit(X, y)

    def predict(self, X: ArrayLike) -> Array:
        """Labels of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels from ``classes_``.
        """
        second = self.decision_function(X) > 0
        return self.classes_[second.astype(int)]

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Share of rows whose label is predicted; computed of the data in the clear, so it is not private.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        float
            Between 0 and 1.
        """
        predicted = self.predict(X)
        y = labels(self, y, len(predicted))
        if _text(y) != _text(self.classes_):
            raise ValueError("y and classes_ are text and numbers; score labels of one type.")
        found, kind = attempt(lambda: accuracy_score(y, predicted, sample_weight=sample_weight))
        if kind is not None:
            raise kind(
                "A score needs labels in y, and in sample_weight None or one finite number for each record."
            )
        return found

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.classes is not None:
            self._declared()

    def _encode(
        self, X: ArrayLike, y: ArrayLike
    ) -> tuple[Array, Array, dict[str, Any], dict[str, Any]]:
        X = table(self, X, reset=True)
        given, y = y, labels(self, y, X.shape[0])
        warn_of_column(given)
        classes, origin = self._classes(y)
        codes = np.zeros(len(y), dtype=int)
        if _text(classes) == _text(y):
            codes = np.searchsorted(classes, y).clip(max=1)
        if _text(classes) != _text(y) or not np.array_equal(classes[codes], y):
            raise ValueError(
                f"y holds labels that are not among classes={classes.tolist()} (a continuous target is none); declare "
                "all labels that may occur."
            )
        return X, 2.0 * codes - 1.0, {"classes": origin}, {"classes_": classes}

    def _classes(self, y: Array) -> tuple[Array, str]:
        """The declared classes, or those of y, which then are public."""
        if self.classes is not None:
            return self._declared(), "declared"
        if y.dtype.kind == "f" and not (y == np.trunc(y)).all():
            raise ValueError(
                "Unknown label type: continuous; declare classes=, or round y to labels."
            )
        classes = np.unique(y)
        warnings.warn(
            "classes=None takes the set of labels from y and makes it public; declare classes= to keep it private.",
            PrivacyWarning,
            stacklevel=frames_to_caller(),
        )
        # Where n is private, labels of as many kinds as there are records must not tell it.
        many = len(classes) > 2 and self.neighbors != "replace_one"
        return self._two(classes, "more than 2" if many else None), "taken from y"

    def _declared(self) -> Array:
        """The user's two classes, sorted."""
        given: Any = self.classes
        found, kind = attempt(lambda: np.asarray(given))
        listed = isinstance(given, list | tuple)
        # Of a mix of text and numbers numpy makes text.
        mixed = listed and len({isinstance(label, str) for label in given}) > 1
        if mixed or kind is not None or found.ndim != 1 or known_labels(found)[1] is not None:
            short = listed and len(given) <= 3
            told = f"[{', '.join(map(as_text, given))}]" if short else as_text(given)
            raise ValueError(f"classes={told} must be a list of two numbers, or of two strings.")
        return self._two(np.unique(found))

    def _two(self, classes: Array, count: int | str | None = None) -> Array:
        count = len(classes) if count is None else count
        if len(classes) > 2:
            raise NotSupported(
                f"Only binary classification is supported. The type of the target is multiclass: {count} labels; "
                "declare two in classes=, or wrap the estimator in scikit-learn's OneVsRestClassifier."
            )
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs two classes, got {count} class; declare both in classes=."
            )
        return classes

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _text(found: Array) -> bool:
    """Whether labels are strings: these have no order among numbers."""
    return found.dtype.kind in "UOT"
