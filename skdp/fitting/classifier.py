"""Base class of the private classifiers: labels in, labels out."""

from dataclasses import field, replace
from functools import partial
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import accuracy_score

from ..entry import (
    Array,
    Facts,
    Given,
    Labels,
    are_text,
    attempt,
    by_class,
    codes,
    labels,
    read_classes,
)
from ..exceptions import NotSupported
from ..solvers import GD, Budget, ObjectivePerturbation, Solver
from ._bases import ClassifierMixin
from ._calibration import LINEAR, Expected, ScoreBins, Slope, is_worth_it
from ._fields import parameter
from ._parameters import MAX_ROWS_PER_GROUP, MAX_SAMPLE_WEIGHT
from ._pricing import priced
from .auto import is_auto
from .learner import PrivateLearner
from .plan import Plan
from .run import Fitted, Heard
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

    # Not parameters of every classifier.
    multi_class = "ovr"
    calibrate = cast("bool | str", False)

    classes: ArrayLike | None = None
    class_weight: dict[Any, float] | str | None = None
    max_rows_per_group: int | None = parameter(None, MAX_ROWS_PER_GROUP)
    max_sample_weight: float | None = parameter(None, MAX_SAMPLE_WEIGHT)
    classes_: Array = field(init=False)
    class_weight_: Array = field(init=False)
    _slopes: ClassVar[Expected] = LINEAR

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
        return self._fit(Given(X, y, sample_weight=sample_weight, groups=groups))

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
        if are_text(y) != are_text(self.classes_) and (true == len(self.classes_)).any():
            raise ValueError("y and classes_ are text and numbers; score labels of one type.")
        said = codes(predicted, self.classes_)
        found, kind = attempt(lambda: accuracy_score(true, said, sample_weight=sample_weight))
        if kind is not None:
            raise kind(
                "A score needs labels in y, and in sample_weight None or one finite number for each record."
            )
        return found

    def _outputs(self, n_classes: int | None = None) -> int:
        if n_classes is not None:
            return _outputs(int(n_classes))
        return _outputs(2 if self.classes is None else len(self._declared()))

    def _one_by_one(self) -> bool:
        return self.multi_class == "ovr"

    def _reader(self) -> Labels:
        heaviest, bound = self._heaviest_class(), self.max_sample_weight
        return Labels(self.classes, self._by_label(), heaviest, bound, self._balances())

    def _declare(self, facts: Facts) -> dict[str, Any]:
        assert facts.classes is not None
        outputs = _outputs(len(facts.classes))
        origin = {"classes": "taken from y" if self.classes is None else "declared"}
        return origin | ({"n_classes": outputs} if outputs > 1 else {})

    def _declared(self) -> Array:
        """The user's classes, sorted."""
        return read_classes(self.classes, type(self).__name__)

    def _heaviest(self) -> float:
        return super()._heaviest() * self._heaviest_class()

    def _heaviest_class(self) -> float:
        """Largest declared weight; where no classes are declared, there may be one that the user says nothing of."""
        of_label = self._by_label()
        if not of_label:
            return 1.0
        if self.classes is not None:
            return float(by_class(of_label, self._declared()).max())
        return max(1.0, *map(float, of_label.values()))

    def _balances(self) -> bool:
        return isinstance(self.class_weight, str)

    def _by_label(self) -> dict[Any, float] | None:
        """Return the declared weights of labels; None where weights are estimated privately."""
        return None if isinstance(self.class_weight, str) else self.class_weight

    def _weighted(self) -> bool:
        return bool(self.class_weight) or super()._weighted()

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
            return self._with_slope(plan, outputs)
        classes = max(2, self._outputs() if outputs is None else outputs)
        outputs = _outputs(classes)
        furthest = Known(of_class=np.array([HEAVIEST] + [1.0] * (classes - 1)))
        counts = ClassCounts(classes, self._restated(plan, outputs, furthest))
        counts.refuse(plan)
        restate = partial(self._restated, plan, outputs)
        plan = replace(plan, bought=(counts, *plan.bought), restate=restate)
        if (
            is_auto(self.solver)
            and solver is None
            and isinstance(plan.solver, ObjectivePerturbation)
        ):
            try:
                priced(plan)
            except NotSupported:
                return self._plan(*given, weighted, GD())
        return self._with_slope(plan, outputs)

    def _with_slope(self, plan: Plan, outputs: int | None) -> Plan:
        """Return the plan with the stage that calibrates scores, where it is asked for or public numbers say so."""
        if not self.calibrate:
            return plan
        classes = max(2, self._outputs() if outputs is None else outputs)
        stage = ScoreBins(classes, self._slopes, bool(getattr(self, "fit_intercept", True)))
        if not isinstance(self.calibrate, str):
            stage.refuse(plan)
        else:  # not one of several fits that go on from each other, nor where nobody prices a Gaussian
            payer = self._payer()
            pure = "pure" in (self.accountant, None if payer is None else payer.accountant)
            goes_on = self._start().given or bool(getattr(self, "warm_start", False))
            if pure or goes_on or not is_worth_it(plan, self._slopes):
                return plan
        return replace(plan, after=(stage,))

    def _scale_scores(self, slope: Slope) -> None:
        """Multiply what is stored so that scores are so many times as large, and shifted."""
        raise NotImplementedError

    def _heaviest_of(self, of_class: Array) -> float:
        return float(super()._heaviest()) * float(of_class.max())

    def _keep(self, fitted: Fitted, budget: Budget, heard: Heard | None) -> None:
        super()._keep(fitted, budget, heard)
        if fitted.known.slope is not None:
            self._scale_scores(fitted.known.slope)

    def _keep_bought(self, plan: Plan, known: Known) -> None:
        super()._keep_bought(plan, known)
        vars(self).pop("class_weight_", None)  # of an earlier fit
        if known.of_class is not None:
            self.class_weight_ = known.of_class


def _outputs(classes: int) -> int:
    """Scores of a record: two classes have one between them."""
    return 1 if classes == 2 else classes
