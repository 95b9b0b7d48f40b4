"""Accuracy of declared groups of people, from one histogram: a measure of fairness."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from ..entry import GroupAndRight, Held
from ..fitting.data import Array, attempt, find_ambiguous
from ..privacy import Ledger, Receipt, Spec
from ..privacy.spec import check_neighbors
from ._confusion import Counting, Counts
from ._estimate import Estimate
from ._figure import measure
from ._intervals import Interval, difference

__all__ = ["DPGroupAccuracy"]


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
    """Sorted, all of one kind and different."""
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
