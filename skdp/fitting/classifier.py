"""Base class of the private classifiers: labels in, labels out."""

import warnings
from dataclasses import field, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import accuracy_score

from ..exceptions import NotSupported, PrivacyWarning
from ..solvers import GD, ObjectivePerturbation, Solver
from ._bases import ClassifierMixin
from ._cells import codes, find_ambiguous
from ._fields import parameter
from ._parameters import MAX_ROWS_PER_GROUP, MAX_SAMPLE_WEIGHT, as_text
from ._pricing import priced
from ._shares import by_class, heaviest_class
from ._tables import Array, attempt, known_labels, labels, table, warn_of_column
from ._warning import frames_to_caller
from .learner import PrivateLearner
from .plan import Plan
from .stages import HEAVIEST, ClassCounts, Known

__all__ = ["PrivateClassifier"]


class PrivateClassifier(ClassifierMixin, PrivateLearner):
    """Base of the private classifiers: it knows labels, and nothing of losses.

    Parameters
    ----------
    classes : array-like of labels, default=None
        All labels that may occur, two or more. None takes them from y, which makes them public and warns.
    class_weight : dict or "balanced", default=None
        What a record of each label weighs; 1 for a label that is not in it. "balanced" buys noisy counts of the labels
        for a fiftieth of the budget, and weighs each by records over classes and over its own; where you know about how
        frequent labels are, a dict is free.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    class_weight_ : ndarray of shape (n_classes,)
        Where ``class_weight="balanced"``: what each label weighs, by private counts.
    """

    multi_class = "ovr"  # not a parameter of every classifier

    classes: ArrayLike | None = None
    class_weight: dict[Any, float] | str | None = None
    max_rows_per_group: int | None = parameter(None, MAX_ROWS_PER_GROUP)
    max_sample_weight: float | None = parameter(None, MAX_SAMPLE_WEIGHT)
    classes_: Array = field(init=False)
    class_weight_: Array = field(init=False)

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit with differential privacy.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; those of norm beyond ``data_norm`` are scaled down to it.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row's loss weighs; those beyond ``max_sample_weight``, or 1 where that is None, count with it, and
            what is negative or no number counts as 0. A weight is part of its record.
        groups : array-like of shape (n_samples,), default=None
            The id of each row's person, of whom the first ``max_rows_per_group`` rows enter.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, groups)

    def predict(self, X: ArrayLike) -> Array:
        """Labels of rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels from ``classes_``.
        """
        scores = self.decision_function(X)
        codes = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[codes]

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
        true = codes(y, self.classes_)
        if _text(y) != _text(self.classes_) and (true == len(self.classes_)).any():
            raise ValueError("y and classes_ are text and numbers; score labels of one type.")
        said = codes(predicted, self.classes_)
        found, kind = attempt(lambda: accuracy_score(true, said, sample_weight=sample_weight))
        if kind is not None:
            raise kind(
                "A score needs labels in y, and in sample_weight None or one finite number for each record."
            )
        return found

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.classes is not None:
            by_class(self._by_label(), self._declared())

    def _outputs(self, n_classes: int | None = None) -> int:
        declared = 2 if self.classes is None else len(self._declared())
        return _outputs(declared if n_classes is None else int(n_classes))

    def _one_by_one(self) -> bool:
        return self.multi_class == "ovr"

    def _encode(
        self, X: ArrayLike, y: ArrayLike
    ) -> tuple[Array, Array, dict[str, Any], dict[str, Any]]:
        X = table(self, X, reset=True)
        given, y = y, labels(self, y, X.shape[0])
        warn_of_column(given)
        classes, origin = self._classes(y)
        places = codes(y, classes)  # by each label alone: a file's other labels decide its type
        if (places == len(classes)).any():
            raise ValueError(
                f"y holds labels that are not among {_told(classes)} (a continuous target has none); declare all "
                f"labels that may occur{_coded(classes, y)}."
            )
        outputs = _outputs(len(classes))
        if outputs == 1:
            places = 2 * places - 1
        declared = {"classes": origin} | ({"n_classes": outputs} if outputs > 1 else {})
        return X, places.astype(np.float64), declared, {"classes_": classes}

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
        return self._several(classes), "taken from y"

    def _declared(self) -> Array:
        """The user's classes, sorted."""
        given: Any = self.classes
        found, kind = attempt(lambda: np.asarray(given))
        listed = isinstance(given, list | tuple)
        # Of a mix of text and numbers numpy makes text.
        mixed = listed and len({isinstance(label, str) for label in given}) > 1
        if mixed or kind is not None or found.ndim != 1 or known_labels(found)[1] is not None:
            short = listed and len(given) <= 3
            told = f"[{', '.join(map(as_text, given))}]" if short else as_text(given)
            raise ValueError(
                f"classes={told} must be a list of numbers, or of strings, two or more."
            )
        return self._several(np.unique(found))

    def _several(self, classes: Array) -> Array:
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs two classes or more, got {len(classes)} class; declare them in classes=."
            )
        alike = find_ambiguous(classes.tolist())
        if alike:
            told = " and ".join(map(as_text, alike)) if self.classes is not None else "labels"
            why = "are the same label" if len(alike) > 1 else "is read as a missing cell"
            raise ValueError(
                f"classes holds {told}, which {why} in a file; spell labels otherwise."
            )
        return classes

    def _heaviest(self) -> float:
        return super()._heaviest() * self._heaviest_class()

    def _heaviest_class(self) -> float:
        declared = None if self.classes is None else self._declared()
        return heaviest_class(self._by_label(), declared)

    def _balances(self) -> bool:
        return isinstance(self.class_weight, str)

    def _by_label(self) -> dict[Any, float] | None:
        """Return the declared weights of labels; None where weights are estimated privately."""
        return None if isinstance(self.class_weight, str) else self.class_weight

    def _weighted(self) -> bool:
        return bool(self.class_weight) or super()._weighted()

    def _weights(
        self, targets: Array, stored: dict[str, Any], sample_weight: ArrayLike | None
    ) -> Array | None:
        weights = super()._weights(targets, stored, sample_weight)
        if self._balances():
            return np.ones(len(targets)) if weights is None else weights
        if not self.class_weight:
            return weights
        of_class = by_class(self._by_label(), stored["classes_"]) / self._heaviest_class()
        places = targets > 0 if len(of_class) == 2 else targets
        shares: Array = of_class[places.astype(np.intp)]
        return shares if weights is None else shares * weights

    def _plan(
        self,
        n: int | None,
        n_features: int,
        declared: dict[str, Any],
        outputs: int | None = None,
        weighted: bool = False,
        solver: Solver | None = None,
    ) -> Plan:
        given = n, n_features, declared, outputs
        plan = super()._plan(*given, weighted, solver)
        if not self._balances():
            return plan
        classes = max(2, self._outputs() if outputs is None else outputs)
        outputs = _outputs(classes)
        furthest = Known(of_class=np.array([HEAVIEST] + [1.0] * (classes - 1)))
        counts = ClassCounts(classes, self._restated(plan, outputs, furthest))
        counts.refuse(plan)
        restate = partial(self._restated, plan, outputs)
        plan = replace(plan, bought=(counts, *plan.bought), restate=restate)
        auto = isinstance(self.solver, str) and self.solver == "auto"
        if auto and solver is None and isinstance(plan.solver, ObjectivePerturbation):
            try:
                priced(plan)
            except NotSupported:
                return self._plan(*given, weighted, GD())
        return plan

    def _heaviest_of(self, of_class: Array) -> float:
        return float(super()._heaviest()) * float(of_class.max())

    def _keep_bought(self, plan: Plan, known: Known) -> None:
        super()._keep_bought(plan, known)
        vars(self).pop("class_weight_", None)  # of an earlier fit
        if known.of_class is not None:
            self.class_weight_ = known.of_class


def _told(classes: Array) -> str:
    """The classes, where they are few: more may be a column of data that took a wrong turn."""
    return f"classes={classes.tolist()}" if len(classes) <= 3 else f"the {len(classes)} classes"


def _coded(classes: Array, y: Array) -> str:
    """Return what to declare where text labels were declared and integer codes came."""
    if not _text(classes) or y.dtype.kind not in "iu":
        return ""
    codes = "[0, 1]" if len(classes) == 2 else f"list(range({len(classes)}))"
    return f" (a meta-estimator such as VotingClassifier hands on codes of labels: declare classes={codes})"


def _outputs(classes: int) -> int:
    """Scores of a record: two classes have one between them."""
    return 1 if classes == 2 else classes


def _text(found: Array) -> bool:
    """Return True if labels are text, which has no order among numbers."""
    return found.dtype.kind in "UOT"
