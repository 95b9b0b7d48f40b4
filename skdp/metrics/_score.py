"""Private score of a model on held-out records, with an honest interval.

The area under a ROC curve, from the sizes of the classes and one rank sum.

Means of clipped losses of probabilities: log-loss and Brier score.

R2 of a regressor on held-out records, from three sums of bounded numbers.

The first two are of squared errors, and of targets, whose second moment costs nothing (docs/proofs/mean_loss.md). The
third is of what one record adds to the error of the quotient: its variance, which the sampling part of the interval
needs, comes with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from numpy.typing import ArrayLike

from ..entry import (
    CutNumbers,
    Errors,
    FirstColumn,
    Held,
    LogLoss,
    Right,
    Scores,
    SquaredLoss,
    Terms,
)
from ..exceptions import NotSupported
from ..fitting._parameters import are_bounds
from ..fitting.data import Array
from ..mechanisms import CellCounts, MeanLoss, Public, RankSum
from ..mechanisms._mechanism import Mechanism
from ..mechanisms.evaluation import KAPPA
from ..privacy import Ledger, Receipt, Spec, noise_multiplier
from ..privacy.spec import check_neighbors
from ._confusion import ByClass, Counting, Counts
from ._figure import Estimate, Facts, Figure, Interval, area, mean, measure, quotient

__all__ = ["SCORINGS", "auc", "brier", "dp_score", "log_loss", "r2", "scored"]


_SHARE = 1.0 / math.sqrt(5.0)  # of mu for the sizes of the classes; twice that for the rank sum
_SPARE = 3.0  # standard deviations by which the larger class may be larger than it seems


def auc(facts: Facts) -> Figure:
    """Make the figure for a public number of records."""
    if facts.n is None:
        raise NotSupported(
            "scoring='roc_auc' needs a public number of records; use neighbors='replace_one'."
        )
    return _Area(facts.n, facts.level)


@dataclass(frozen=True)
class _Area(Figure):
    """Sizes first; what they say of the larger class sets the noise of the rank sum, and not its price."""

    n: int
    level: float

    name: ClassVar[str] = "roc_auc"
    needs: ClassVar[str] = "scores"

    def questions(self, scale: float) -> list[Mechanism]:
        return [_sizes(scale), _ranks(scale, float(self.n))]

    def ask(self, put: Callable[..., Any], scale: float) -> Interval:
        n, sizes = self.n, _sizes(scale)
        counts = put(sizes)
        sd = sizes.multiplier / math.sqrt(2.0)  # once the sum is put on n
        ones = float(counts[1] + (n - counts.sum()) / 2.0)
        question = _ranks(scale, max(ones, n - ones) + _SPARE * sd)
        u = float(put(question))
        noise = question.multiplier * question.bound(Public(n, 1, 0.0, "replace_one"))
        return area(u, ones, n - ones, noise, sd, self.level)

    @property
    def outcome(self) -> Scores:
        return Scores()


def _sizes(scale: float) -> CellCounts:
    return CellCounts(cells=2, multiplier=scale * math.sqrt(2.0) / _SHARE)


def _ranks(scale: float, largest: float) -> RankSum:
    return RankSum(largest=min(max(largest, 1.0), 1e100), multiplier=scale / (2.0 * _SHARE))


_WHERE_N_IS_PRIVATE = 5.0  # largest log-loss


def brier(facts: Facts) -> Figure:
    """Mean squared distance of the probability of the second class from what happened."""
    return _Brier(facts.n, facts.level, 1.0)


def log_loss(facts: Facts) -> Figure:
    """Make the figure of the log loss with probabilities clipped from below, so that the figure hides no bias."""
    return _LogLoss(facts.n, facts.level, _size(facts.n, facts.spec))


def _size(n: int | None, spec: Spec) -> float:
    """Return the largest log loss: noise grows with it, so it is no larger than n and the budget allow."""
    if n is None:
        return _WHERE_N_IS_PRIVATE
    noise = noise_multiplier(spec.epsilon, spec.delta) if spec.delta else 1.0 / spec.epsilon
    return min(max(math.log(max(n / max(noise, 1e-9), 1.0)), 1.0), 8.0)


@dataclass(frozen=True)
class _MeanLoss(Figure):
    """Mean loss from one question, on the original scale of the losses."""

    level: float
    size: float

    needs: ClassVar[str] = "probabilities"

    @property
    def declared(self) -> dict[str, Any]:
        return {"largest loss": self.size} | super().declared

    def questions(self, scale: float) -> list[MeanLoss]:
        return [MeanLoss(multiplier=scale)]

    def ask(self, put: Callable[..., Any], scale: float) -> Interval:
        (question,), n = self.questions(scale), self.n
        relation = "add_remove" if n is None else "replace_one"
        sd = scale * question.bound(Public(n, 1, 0.0, relation))
        sums = put(question)
        found = _without_n(sums, sd, self.level) if n is None else _with_n(sums, sd, n, self.level)
        return self.size * found[0], self.size * found[1], self.size * found[2]


@dataclass(frozen=True)
class _Brier(_MeanLoss):
    name: ClassVar[str] = "brier_score"

    @property
    def outcome(self) -> SquaredLoss:
        return SquaredLoss()


@dataclass(frozen=True)
class _LogLoss(_MeanLoss):
    name: ClassVar[str] = "log_loss"

    @property
    def outcome(self) -> LogLoss:
        return LogLoss(self.size)


def _with_n(sums: Array, sd: float, n: int, level: float) -> Interval:
    m = float(sums[0]) / n
    return mean(m, m - m * m - float(sums[1]) / (KAPPA * n), n, sd / n, level)


def _without_n(sums: Array, sd: float, level: float) -> Interval:
    """Return the mean loss and its interval from sums with a noisy half of n; its variance is at most m (1 - m)."""
    count = 2.0 * float(sums[0])
    if not count > 4.0 * sd:
        return 0.5, 0.0, 1.0
    m = min(1.0, max(0.0, 0.5 + float(sums[1]) / count))
    noise = sd * math.sqrt(1.0 + 4.0 * (m - 0.5) ** 2) / count
    return mean(m, m * (1.0 - m), count, noise, level)


# Of mu squared: errors, targets, and the sampling variance. Between the first two about as their noise counts where R2
# is near 0; the third has to be right within a third or so.
_SHARES = (0.7, 0.2, 0.1)
_MOST = 100.0  # largest share of the variance that is left, for what a record adds
_REACH = 20.0  # mean squared errors: 4.5 standard deviations of the residuals


class _Moments(NamedTuple):
    """Mean and variance of numbers in [0, 1], and the noise of the two sums that they are made of, by n."""

    mean: float
    variance: float
    noise: float

    @property
    def noise_of_variance(self) -> float:
        """Return the noise scale of m - m^2 - v, where m carries the noise and v 1 / KAPPA of it."""
        return self.noise * math.hypot(1.0 - 2.0 * self.mean, 1.0 / KAPPA)


def r2(facts: Facts, bounds: tuple[float, float]) -> Figure:
    """Make the figure of predictions and targets that are cut to public bounds."""
    if facts.n is None:
        raise NotSupported(
            "scoring='r2' needs a public number of records; use neighbors='replace_one'."
        )
    return _R2(facts.n, facts.level, *bounds)


@dataclass(frozen=True)
class _R2(Figure):
    """Three sums, of which the first two say how the third is asked for."""

    n: int
    level: float
    low: float
    high: float

    name: ClassVar[str] = "r2"
    needs: ClassVar[str] = "numbers"

    @property
    def declared(self) -> dict[str, Any]:
        return {"n": self.n, "y_bounds": [self.low, self.high]}

    def questions(self, scale: float) -> list[MeanLoss]:
        return [MeanLoss(multiplier=scale / math.sqrt(share)) for share in _SHARES]

    def ask(self, put: Callable[..., Any], scale: float) -> Interval:
        of_errors, of_targets, of_terms = self.questions(scale)
        error = self._moments(put, of_errors, Errors())
        target = self._moments(put, of_targets, FirstColumn())
        terms = _terms(error, target)
        variance = self._moments(put, of_terms, terms).variance
        spread = min(0.25, max(0.0, variance)) * (2.0 * terms.reach) ** 2
        noises = error.noise, target.noise_of_variance
        found = quotient(error.mean, target.variance, *noises, spread / self.n, self.level)
        return 1.0 - found[0], 1.0 - found[2], 1.0 - found[1]

    def _moments(self, put: Callable[..., Any], question: MeanLoss, of: Any) -> _Moments:
        m, v = (float(total) / self.n for total in put(question, of))
        bound = question.bound(Public(self.n, 1, 0.0, "replace_one"))
        return _Moments(m, m - m * m - v / KAPPA, question.multiplier * bound / self.n)

    @property
    def outcome(self) -> CutNumbers:
        return CutNumbers(self.low, self.high)


def _terms(error: _Moments, target: _Moments) -> Terms:
    """Choose the range of what a record adds, by answers: the narrower, the better is its variance known.

    It is 0 in the mean and seldom more than some mean errors.
    """
    left = min(_MOST, max(0.0, error.mean) / target.variance) if target.variance > 0 else _MOST
    middle = min(1.0, max(0.0, target.mean))
    widest = max(1.0, left * max(middle, 1.0 - middle) ** 2)
    reach = min(widest, _REACH * (max(0.0, error.mean) + 2.0 * error.noise))
    return Terms(float(left), float(middle), float(reach))


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
