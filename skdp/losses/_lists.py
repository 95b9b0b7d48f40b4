"""Losses of lists: formulas of all scores and grades of a list, for many lists at once.

What is worked out for a list is a function of its own scores and grades, by arithmetic that is the same wherever the
list stands and whoever stands beside it: the guarantee rests on that (tests/ranking/test_list_losses.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ._loss import Array, Loss

__all__ = ["LARGEST_GRADE", "ListLoss", "Lists", "best", "gains"]

LARGEST_GRADE = 31.0  # gains are 2^grade - 1


@dataclass(frozen=True, eq=False)
class Lists:
    """Consecutive documents that belong together, list after list; none is empty.

    Parameters
    ----------
    offsets : ndarray of shape (n_lists + 1,)
        List j has the documents from ``offsets[j]`` to before ``offsets[j + 1]``.
    """

    offsets: Array

    @classmethod
    def of(cls, offsets: Array) -> Lists:
        """Make lists from offsets, and leave out empty ones."""
        return cls(np.unique(offsets))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def sizes(self) -> Array:
        """Documents of each list."""
        return np.diff(self.offsets)

    @cached_property
    def place(self) -> Array:
        """Place of each document in its list, from 0."""
        return np.arange(self.offsets[-1]) - self.spread(self.offsets[:-1])

    @cached_property
    def owner(self) -> Array:
        """The number of each document's list."""
        return self.spread(np.arange(len(self)))

    def total(self, values: Array) -> Array:
        """Sum over each list."""
        return np.asarray(np.add.reduceat(values, self.offsets[:-1]))

    def largest(self, values: Array) -> Array:
        """Largest of each list."""
        return np.asarray(np.maximum.reduceat(values, self.offsets[:-1]))

    def spread(self, values: Array) -> Array:
        """A number of each list, for each of its documents."""
        return np.repeat(values, self.sizes)

    def table(self, values: Array, fill: float) -> Array:
        """Return a table with one row for each list, filled up at the end."""
        wide = np.full((len(self), int(self.sizes.max(initial=0))), fill)
        wide[self.owner, self.place] = values
        return wide

    def softmax(self, z: Array) -> tuple[Array, Array]:
        """Probabilities in each list, and the log of the sum of exponentials."""
        top = self.largest(z)
        p = np.exp(z - self.spread(top))
        total = self.total(p)
        p /= self.spread(total)
        return p, top + np.log(total)


def gains(y: Array) -> Array:
    """``2^grade - 1``, of grades between 0 and 31."""
    return np.exp2(np.clip(y, 0.0, LARGEST_GRADE)) - 1.0


def best(y: Array, lists: Lists) -> Array:
    """A share for each document that has its list's highest grade, equal and of sum 1; all where none is above 0."""
    y = np.clip(y, 0.0, LARGEST_GRADE)
    top = (y == lists.spread(lists.largest(y))).astype(np.float64)
    return top / lists.spread(lists.total(top))


@dataclass(frozen=True)
class ListLoss(Loss):
    """Formula of all scores and grades of a list. A list is the record.

    Attributes
    ----------
    slope : float or None
        Supremum of the sum of absolute ``slopes`` of one list; None where longer lists have more.
    curvature : float
        Bound on the second derivative along a direction in which scores of documents move by at most 2 against each
        other, as of rows of norm 1; it shapes steps.

    See Also
    --------
    skdp.mechanisms.ListGradient : Clips the gradient of each list.

    Examples
    --------
    >>> from skdp.losses import LIST_LOSSES
    >>> sorted(LIST_LOSSES)
    ['bayesrank', 'listmle', 'listnet']
    """

    kind: ClassVar[str] = "lists"

    def values(self, z: Array, y: Array, lists: Lists) -> Array:
        """Loss of each list."""
        raise NotImplementedError

    def slopes(self, z: Array, y: Array, lists: Lists) -> Array:
        """Derivative of each list's loss in its documents' scores: a fresh array of doubles."""
        raise NotImplementedError

    def value_bound(self, radius: float, target_bound: float = 1.0) -> Any:
        """Refuse: a list may be of any length, so the value of its loss has no bound."""
        raise NotImplementedError
