"""Figures made of one private histogram.

Counts of class and prediction, and every rate that can be made of them; the calibration curve of a classifier
(predicted probability against frequency); and the accuracy of declared groups of people, a measure of fairness.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from ..entry import BinAndClass, ClassAndPrediction, GroupAndRight, Held
from ..exceptions import NotSupported
from ..fitting.data import Array, attempt, find_ambiguous
from ..mechanisms import CellCounts
from ..privacy import Ledger, Receipt, Spec
from ..privacy.spec import check_neighbors
from ._figure import Estimate, Figure, Interval, average, difference, measure, rate

__all__ = [
    "ByClass",
    "Counting",
    "Counts",
    "DPConfusionMatrix",
    "DPGroupAccuracy",
    "dp_calibration_curve",
]


@dataclass(frozen=True, eq=False)
class Counts:
    """Noisy counts of cells of which every record is in one.

    Parameters
    ----------
    cells : ndarray
        Counts; where n is public, they were put on it: their sum is n.
    sd : float
        Standard deviation of the noise of one of them, before that.
    projected : int
        Of how many cells the sum was put on n; 0 where n is private.
    """

    cells: Array
    sd: float
    projected: int

    def rate(self, hits: Sequence[int], others: Sequence[int], level: float) -> Interval:
        """Share of some cells among these and others."""
        a, b = (float(self.cells[list(chosen)].sum()) for chosen in (hits, others))
        return rate(a, b, self.sd, level, (len(hits), len(others)), self.projected)

    def recall(self, label: int, k: int, level: float) -> Interval:
        """Return the recall of a class among k, with its interval: the diagonal cell over its row."""
        row = range(k * label, k * (label + 1))
        return self.rate([row[label]], [cell for cell in row if cell != row[label]], level)

    def balanced(self, k: int, level: float) -> Interval:
        """Mean of the recalls."""
        return average([self.recall(label, k, level) for label in range(k)])


@dataclass(frozen=True)
class Counting(Figure):
    """Figure from one histogram; counts are made to add up to n where it is public.

    Parameters
    ----------
    cells : int
        Of which every record is in one.
    """

    cells: int

    @property
    def reach(self) -> float:
        """The last cell."""
        return float(self.cells)

    @property
    def declared(self) -> dict[str, Any]:
        """Cells, and the number of records where it is public."""
        return {"cells": self.cells} | super().declared

    def questions(self, scale: float) -> list[CellCounts]:
        """Return the single question: one histogram."""
        return [CellCounts(cells=self.cells, multiplier=scale)]

    def ask(self, put: Callable[..., Any], scale: float) -> Any:
        """Noisy counts."""
        counts = np.asarray(put(*self.questions(scale)))
        if self.n is None:
            return Counts(counts, scale, 0)
        return Counts(counts + (self.n - counts.sum()) / self.cells, scale, self.cells)


@dataclass(frozen=True)
class ByClass(Counting):
    """Cells of class and prediction."""

    name: ClassVar[str] = "confusion matrix"

    @property
    def outcome(self) -> ClassAndPrediction:
        """Cell of each record."""
        return ClassAndPrediction()


class DPConfusionMatrix:
    """Counts of class and prediction on held-out records, from one private release.

    Whatever is computed of the counts costs nothing more.

    Parameters
    ----------
    counts : Counts
        Noisy counts, class by class.
    classes : ndarray
        Labels.
    level : float
        Coverage of intervals.
    privacy : Receipt
        What the release cost.

    Attributes
    ----------
    matrix : ndarray of shape (n_classes, n_classes)
        Noisy counts, row by true class. They may be negative: cutting them would bias every rate.

    See Also
    --------
    dp_score : One figure, sometimes with less noise.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp import DPLogisticRegression
    >>> from skdp.metrics import DPConfusionMatrix
    >>> X = np.random.default_rng(0).uniform(-0.5, 0.5, (4000, 3))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> model = DPLogisticRegression(data_norm=1.0, classes=[0, 1]).fit(X[:2000], y[:2000])
    >>> table = DPConfusionMatrix.from_estimator(model, X[2000:], y[2000:])
    >>> round(float(table.matrix.sum()))
    2000
    >>> table.recall(1).low <= table.recall(1).value <= table.recall(1).high
    True
    """

    def __init__(self, counts: Counts, classes: Array, level: float, privacy: Receipt) -> None:
        self._counts, self.classes, self.level, self.privacy = counts, classes, level, privacy

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        neighbors: str = "replace_one",
        level: float = 0.95,
        ledger: Ledger | None = None,
        random_state: Any = None,
    ) -> Self:
        """Count with differential privacy; parameters as in `dp_score`."""
        held = Held.of(estimator, X, y, check_neighbors(neighbors))
        given = {"ledger": ledger, "random_state": random_state}
        spec = Spec(epsilon, delta, neighbors)
        figure = ByClass(held.public_count(), len(held.classes) ** 2)
        counts, receipt = measure(figure, spec, held, given)
        return cls(counts, held.classes, level, receipt)

    @property
    def matrix(self) -> Array:
        """Noisy counts, row by true class."""
        k = len(self.classes)
        return self._counts.cells.reshape(k, k)

    def accuracy(self) -> Estimate:
        """Return the share of records whose label is predicted."""
        k = len(self.classes)
        right = [label * (k + 1) for label in range(k)]
        wrong = [cell for cell in range(k * k) if cell not in right]
        return self._estimate("accuracy", self._counts.rate(right, wrong, self.level))

    def recall(self, label: Any) -> Estimate:
        """Share of a class that is predicted as such."""
        at = self._place(label)
        found = self._counts.recall(at, len(self.classes), self.level)
        return self._estimate(f"recall of {label!r}", found)

    def precision(self, label: Any) -> Estimate:
        """Share of the records predicted to be of a class that are."""
        k, at = len(self.classes), self._place(label)
        others = [k * row + at for row in range(k) if row != at]
        found = self._counts.rate([at * (k + 1)], others, self.level)
        return self._estimate(f"precision of {label!r}", found)

    def balanced_accuracy(self) -> Estimate:
        """Mean of the recalls."""
        found = self._counts.balanced(len(self.classes), self.level)
        return self._estimate("balanced accuracy", found)

    def _place(self, label: Any) -> int:
        found = np.flatnonzero(np.asarray(self.classes) == label)
        if len(found) != 1:
            raise ValueError(
                f"label={label!r} is not among {list(self.classes)}; give one of these."
            )
        return int(found[0])

    def _estimate(self, name: str, found: Interval) -> Estimate:
        return Estimate(*found, self.level, name, self.privacy)


_CLEAR = 8.0  # standard deviations of noise that a bin must hold


def dp_calibration_curve(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    n_bins: int = 10,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    neighbors: str = "replace_one",
    level: float = 0.95,
    ledger: Ledger | None = None,
    random_state: Any = None,
) -> list[tuple[float, float, Estimate]]:
    """Rates of the second class by the probability that a model gives it, with differential privacy.

    Equal bins of the probability; neighbours are merged, by a public rule on noisy counts, until each holds 8 standard
    deviations of the noise.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier of two classes with ``predict_proba``.
    X : array-like of shape (n_samples, n_features)
        Rows that it was not fitted on.
    y : array-like of shape (n_samples,)
        Their labels.
    n_bins : int
        Bins before merging.
    epsilon, delta, neighbors, level, ledger, random_state
        As in `dp_score`.

    Returns
    -------
    list of (float, float, Estimate)
        Ends of each bin, and the rate in it.

    See Also
    --------
    dp_score : One figure.
    """
    if type(n_bins) is not int or not 1 <= n_bins <= 1000:
        raise ValueError(f"n_bins={n_bins!r} must be a whole number from 1 to 1000.")
    held = Held.of(estimator, X, y, check_neighbors(neighbors))
    if len(held.classes) != 2:
        raise NotSupported(
            "A calibration curve needs two classes; score one class against the rest."
        )
    spec, given = Spec(epsilon, delta, neighbors), {"ledger": ledger, "random_state": random_state}
    counts: Counts
    counts, receipt = measure(_ByBin(held.public_count(), 2 * n_bins), spec, held, given)
    curve = []
    for first, last in _merged(counts, n_bins):
        bins = range(first, last)
        found = counts.rate([2 * b + 1 for b in bins], [2 * b for b in bins], level)
        name = f"rate in [{first / n_bins:.3g}, {last / n_bins:.3g}]"
        estimate = Estimate(*found, level, name, receipt)
        curve.append((first / n_bins, last / n_bins, estimate))
    return curve


@dataclass(frozen=True)
class _ByBin(Counting):
    """Cells of bin and class."""

    name: ClassVar[str] = "calibration curve"
    needs: ClassVar[str] = "probabilities"

    @property
    def outcome(self) -> BinAndClass:
        return BinAndClass(self.cells // 2)


def _merged(counts: Counts, n_bins: int) -> Iterator[tuple[int, int]]:
    """Merge bins into runs that hold enough records; the last run takes what is left over."""
    sizes = counts.cells.reshape(n_bins, 2).sum(axis=1)
    ends = [0]
    for b in range(n_bins):
        wide = np.sqrt(2.0 * (b + 1 - ends[-1]))
        if sizes[ends[-1] : b + 1].sum() >= _CLEAR * counts.sd * wide:
            ends.append(b + 1)
    ends[-1 if len(ends) > 1 else 0 :] = [n_bins] if len(ends) > 1 else [0, n_bins]
    return pairwise(ends)


class DPGroupAccuracy:
    """Accuracy of a classifier in each of several groups of held-out records, from one private release.

    Every record is in one group, so all groups together cost what one does. The names of the groups are public and have
    to be declared; how many records are in each is not public.

    Parameters
    ----------
    counts : Counts
        Noisy counts of wrong and right, group by group.
    names : ndarray
        Of the groups, sorted.
    level : float
        Coverage of intervals.
    privacy : Receipt
        What the release cost.

    Attributes
    ----------
    sizes : dict
        Noisy number of records of each group; where n is public they add up to it.

    See Also
    --------
    DPConfusionMatrix : By class rather than by group.
    dp_score : One figure.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp import DPLogisticRegression
    >>> from skdp.metrics import DPGroupAccuracy
    >>> rng = np.random.default_rng(0)
    >>> X, group = rng.uniform(-0.5, 0.5, (4000, 3)), rng.choice(["a", "b"], 4000)
    >>> y = np.where(group == "a", X[:, 0] > 0, X[:, 1] > 0).astype(int)
    >>> model = DPLogisticRegression(data_norm=1.0, classes=[0, 1]).fit(X[:2000], y[:2000])
    >>> held = X[2000:], y[2000:], group[2000:]
    >>> found = DPGroupAccuracy.from_estimator(model, *held, names=["a", "b"])
    >>> found.accuracy("a").low < found.accuracy("a").value < found.accuracy("a").high
    True
    >>> gap = found.gap("a", "b")  # of the same release
    >>> gap.privacy is found.accuracy("a").privacy
    True
    """

    def __init__(self, counts: Counts, names: Array, level: float, privacy: Receipt) -> None:
        self._counts, self.names, self.level, self.privacy = counts, names, level, privacy

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        groups: ArrayLike,
        *,
        names: Iterable[Any],
        epsilon: float = 1.0,
        delta: float = 1e-6,
        neighbors: str = "replace_one",
        level: float = 0.95,
        ledger: Ledger | None = None,
        random_state: Any = None,
    ) -> Self:
        """Count with differential privacy.

        Parameters
        ----------
        estimator, X, y, epsilon, delta, neighbors, level, ledger, random_state
            As in `dp_score`, for classifiers.
        groups : array-like of shape (n_samples,)
            The group of each record, which must be its own: a property of the record, not of others.
        names : iterable
            All groups that there may be, with or without records.

        Returns
        -------
        DPGroupAccuracy
            Accuracies and gaps, at no further cost.
        """
        if not 0 < level < 1:
            raise ValueError(f"level={level!r} must lie between 0 and 1; use for example 0.95.")
        declared = _declared(names)
        held = Held.of(estimator, X, y, check_neighbors(neighbors)).grouped(groups, declared)
        figure = _ByGroup(held.public_count(), 2 * len(declared))
        given = {"ledger": ledger, "random_state": random_state}
        counts, receipt = measure(figure, Spec(epsilon, delta, neighbors), held, given)
        return cls(counts, declared, level, receipt)

    @property
    def sizes(self) -> dict[Any, float]:
        """Noisy numbers of records."""
        return dict(zip(self.names.tolist(), self._counts.cells.reshape(-1, 2).sum(axis=1)))

    def accuracy(self, name: Any) -> Estimate:
        """Return the accuracy in a group; its interval is [0, 1] where the noisy size of the group is not positive."""
        return self._estimate(f"accuracy of {name!r}", self._rate(name))

    def gap(self, one: Any, other: Any) -> Estimate:
        """Return the difference in accuracy between one group and another."""
        found = difference(self._rate(one), self._rate(other))
        return self._estimate(f"accuracy of {one!r} less that of {other!r}", found)

    def _rate(self, name: Any) -> Interval:
        at = np.flatnonzero(self.names == name)
        if len(at) != 1:
            raise ValueError(
                f"{name!r} is not among the groups {list(self.names)}; give one of these."
            )
        return self._counts.rate([2 * int(at[0]) + 1], [2 * int(at[0])], self.level)

    def _estimate(self, name: str, found: Interval) -> Estimate:
        return Estimate(*found, self.level, name, self.privacy)


@dataclass(frozen=True)
class _ByGroup(Counting):
    """Cells of group, and wrong or right."""

    name: ClassVar[str] = "accuracy by group"

    @property
    def outcome(self) -> GroupAndRight:
        return GroupAndRight()


def _declared(names: Iterable[Any]) -> Array:
    """Sort names that are all of one kind and different; refuse others."""
    given = list(names)
    array, kind = attempt(partial(np.asarray, given))
    plain = kind is None and array.ndim == 1 and array.dtype.kind in "biufU"
    plain = plain and not find_ambiguous(given)
    found = np.unique(array) if plain else np.empty(0)
    if not 1 <= len(found) == len(given) <= 1 << 16:
        raise ValueError(
            f"names={given!r} must be one or more groups, all different and of one kind."
        )
    return found
