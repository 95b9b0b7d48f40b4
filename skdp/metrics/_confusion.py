"""Counts of class and prediction from one release, and every rate that can be made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from ..entry import ClassAndPrediction, Held
from ..fitting.data import Array
from ..mechanisms import CellCounts
from ..privacy import Ledger, Receipt, Spec
from ..privacy.spec import check_neighbors
from ._estimate import Estimate
from ._figure import Figure, measure
from ._intervals import Interval, average, rate

__all__ = ["ByClass", "Counting", "Counts", "DPConfusionMatrix"]


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
