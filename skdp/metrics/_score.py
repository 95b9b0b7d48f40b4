"""Private score of a model on held-out records, with an honest interval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from ..entry import Held, Right
from ..exceptions import NotSupported
from ..fitting._parameters import are_bounds
from ..privacy import Ledger, Receipt, Spec
from ..privacy.spec import check_neighbors
from ._area import auc
from ._confusion import ByClass, Counting, Counts
from ._estimate import Estimate
from ._figure import Facts, Figure, measure
from ._intervals import Interval
from ._losses import brier, log_loss
from ._r2 import r2

__all__ = ["SCORINGS", "dp_score", "scored"]


def dp_score(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    scoring: str = "accuracy",
    epsilon: float = 1.0,
    delta: float = 1e-6,
    neighbors: str = "replace_one",
    level: float = 0.95,
    y_bounds: tuple[float, float] | None = None,
    ledger: Ledger | None = None,
    random_state: Any = None,
) -> Estimate:
    """Score a classifier or a regressor on held-out records with differential privacy.

    The model must be public: fitted with differential privacy, or on records of other people. What it says of a row
    must be a function of that row.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier, or for "r2" a regressor.
    X : array-like of shape (n_samples, n_features)
        Rows that it was not fitted on.
    y : array-like of shape (n_samples,)
        Their labels, or numbers.
    scoring : {"accuracy", "balanced_accuracy", "roc_auc", "log_loss", "brier_score", "r2"}
        Which figure. A log-loss is that of the model whose probabilities are clipped at exp(-c), c between 1 and 8
        by n and the promise; the receipt says which. R2 is that of predictions and targets that are cut to `y_bounds`.
    epsilon, delta : float
        The promise for this figure.
    neighbors : {"replace_one", "add_remove"}
        The relation; under "add_remove" n is private, and each record is shown to the model alone.
    level : float
        Coverage of the interval.
    y_bounds : pair of float, optional
        For "r2" alone: public bounds on the targets. Those of the estimator, if it has any and none are given.
    ledger : Ledger or None
        A budget shared with fits on the same records.
    random_state : int, RandomState or None
        A seed, for tests.

    Returns
    -------
    Estimate
        The figure, with an interval that holds sampling and noise, and its receipt.

    See Also
    --------
    DPConfusionMatrix : Several figures from one release.
    skdp.model_selection.dp_cross_val_score : Without records that were held out.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp import DPLogisticRegression
    >>> from skdp.metrics import dp_score
    >>> X = np.random.default_rng(0).uniform(-0.5, 0.5, (4000, 3))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> model = DPLogisticRegression(data_norm=1.0, classes=[0, 1], random_state=0).fit(X[:2000], y[:2000])
    >>> found = dp_score(model, X[2000:], y[2000:], random_state=0)
    >>> found.low < found.value < found.high
    True
    """
    spec = Spec(epsilon, delta, check_neighbors(neighbors))
    given = {"ledger": ledger, "random_state": random_state}
    found: Interval
    if scoring == "r2":
        bounds = _bounds_of(estimator, y_bounds)
        held = Held.of_numbers(estimator, X, y, neighbors)
        figure = r2(Facts(held.public_count(), 0, spec, _checked(level)), bounds)
        found, receipt = measure(figure, spec, held, given)
    else:
        held = Held.of(estimator, X, y, neighbors)
        found, receipt = scored(scoring, held, spec, level=level, **given)
    return Estimate(*found, level, scoring, receipt)


def _bounds_of(estimator: Any, given: Any) -> tuple[float, float]:
    """Return the bounds that were given, or those of the estimator or of the last step of a pipeline."""
    last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
    bounds: Any = getattr(last, "y_bounds", None) if given is None else given
    if not are_bounds(bounds):
        raise ValueError(
            f"y_bounds={bounds!r} must be a pair of numbers, the first below the second; give public bounds on y, "
            "never those of the data."
        )
    low, high = (float(v) for v in bounds)
    return low, high


def _checked(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"level={level!r} must lie between 0 and 1; use for example 0.95.")
    return level


def scored(
    scoring: str, held: Any, spec: Spec, *, level: float, **given: Any
) -> tuple[Interval, Receipt]:
    """Return the figure of records whose outcomes `held` gives, once all is paid."""
    if scoring not in SCORINGS:
        known = ", ".join(SCORINGS)
        raise ValueError(f"scoring={scoring!r} is unknown for classifiers; use one of {known}.")
    if scoring in _OF_TWO and len(held.classes) != 2:
        raise NotSupported(f"scoring={scoring!r} needs two classes; use 'balanced_accuracy'.")
    facts = Facts(held.public_count(), len(held.classes), spec, _checked(level))
    return measure(SCORINGS[scoring](facts), spec, held, given)


@dataclass(frozen=True)
class _Accuracy(Counting):
    """Accuracy from two cells: wrong and right."""

    level: float

    name: ClassVar[str] = "accuracy"

    @property
    def reach(self) -> float:
        return 1.0

    def ask(self, put: Callable[..., Any], scale: float) -> Interval:
        counts: Counts = super().ask(put, scale)
        return counts.rate([1], [0], self.level)

    @property
    def outcome(self) -> Right:
        return Right()


@dataclass(frozen=True)
class _Balanced(ByClass):
    """Cells of class and prediction; the mean of the recalls."""

    classes: int
    level: float

    name: ClassVar[str] = "balanced accuracy"

    def ask(self, put: Callable[..., Any], scale: float) -> Interval:
        counts: Counts = super().ask(put, scale)
        return counts.balanced(self.classes, self.level)


def _accuracy(facts: Facts) -> Figure:
    return _Accuracy(facts.n, 2, facts.level)


def _balanced(facts: Facts) -> Figure:
    return _Balanced(facts.n, facts.classes**2, facts.classes, facts.level)


SCORINGS: dict[str, Callable[[Facts], Figure]] = {
    "accuracy": _accuracy,
    "balanced_accuracy": _balanced,
    "roc_auc": auc,
    "log_loss": log_loss,
    "brier_score": brier,
}
_OF_TWO = {"roc_auc", "log_loss", "brier_score"}
