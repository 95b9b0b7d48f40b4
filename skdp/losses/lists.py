"""Losses of lists: formulas of all scores and grades of a list, for many lists at once.

What is worked out for a list is a function of its own scores and grades, by arithmetic that is the same wherever the
list stands and whoever stands beside it: the guarantee rests on that (tests/ranking/test_list_losses.py).

* `ListMLE`: likelihood of the order of grades.
* `ListNet`: cross entropy of the chances to come first.
* `BayesRank`: the expected gain of the first place.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ._loss import Array, Loss

__all__ = ["LARGEST_GRADE", "BayesRank", "ListLoss", "ListMLE", "ListNet", "Lists", "best", "gains"]


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


LOWEST = (
    -700.0
)  # scores further under the best of a list count as if there: exponentials stay normal doubles


@dataclass(frozen=True)
class ListMLE(ListLoss):
    """``sum_k log sum_(l >= k) exp(z_l) - z_k`` over documents by falling grades (Xia, Liu, Wang, Zhang and Li 2008).

    Documents of one grade stand in the order in which they were given.

    See Also
    --------
    ListNet : Of the first place alone.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import ListMLE, Lists
    >>> ListMLE().slopes(np.zeros(2), np.array([0.0, 1.0]), Lists(np.array([0, 2])))
    array([ 0.5, -0.5])
    """

    slope = None
    curvature = 1.0

    def values(self, z: Array, y: Array, lists: Lists) -> Array:
        """Loss of each list."""
        _, under, behind = self._behind(z, y, lists)
        logs = np.log(np.where(np.isfinite(behind), behind, 1.0))
        return np.cumsum(logs, axis=1)[:, -1] - lists.total(under)

    def slopes(self, z: Array, y: Array, lists: Lists) -> Array:
        """Return for each document the sum of its chances in the choices up to its own, less 1."""
        order, under, behind = self._behind(z, y, lists)
        passed = np.cumsum(1.0 / behind, axis=1)[lists.owner, lists.place]
        out = np.empty(len(z))
        out[order] = np.exp(under) * passed - 1.0
        return out

    def _behind(self, z: Array, y: Array, lists: Lists) -> tuple[Array, Array, Array]:
        """Documents by falling grades, how far their scores are under the best, and sums of exponentials from there on.

        Sums run along a list, from its end, one place after the other, whatever the longest list is: nothing is added
        beyond a list's end, and infinity stands there.
        """
        order = np.lexsort((-y, lists.owner))
        under = np.maximum(z[order] - lists.spread(lists.largest(z)), LOWEST)
        wide = lists.table(np.exp(under), 0.0)
        behind = np.cumsum(wide[:, ::-1], axis=1)[:, ::-1]
        return order, under, np.where(wide > 0.0, behind, np.inf)


@dataclass(frozen=True)
class ListNet(ListLoss):
    """``log sum_i exp(z_i) - sum_i P_i z_i``, P in proportion to gains (Cao, Qin, Liu, Tsai and Li 2007).

    A gain is ``2^grade - 1``, as in NDCG; in a list without a grade above 0 all are alike.

    See Also
    --------
    BayesRank : The expected gain of the first place itself.
    skdp.mechanisms.ListTargets : All that this loss wants of the grades, at once.

    Notes
    -----
    With linear scores only ``sum_i P_i x_i`` depends on grades, whatever the parameters are.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import ListNet, Lists
    >>> ListNet().slopes(np.zeros(4), np.array([1.0, 1.0, 0.0, 0.0]), Lists(np.array([0, 4])))
    array([-0.25, -0.25,  0.25,  0.25])
    """

    slope = 2.0
    curvature = 1.0

    def targets(self, y: Array, lists: Lists) -> Array:
        """P: the share of each document's gain in its list."""
        gain = gains(y)
        total = lists.total(gain)
        gain[lists.spread(total) == 0.0] = 1.0
        return gain / lists.spread(lists.total(gain))

    def values(self, z: Array, y: Array, lists: Lists) -> Array:
        """Loss of each list."""
        _, log_sum = lists.softmax(z)
        return log_sum - lists.total(self.targets(y, lists) * z)

    def slopes(self, z: Array, y: Array, lists: Lists) -> Array:
        """Probabilities less the shares of gains."""
        p, _ = lists.softmax(z)
        p -= self.targets(y, lists)
        return p


@dataclass(frozen=True)
class BayesRank(ListLoss):
    """``-sum_i c_i p_i``: NDCG of the first place, expected where it is drawn with chances p = softmax(z).

    After Kuo, Cheng and Wang (2009), "Learning to rank from Bayesian decision inference", with one place.

    Parameters
    ----------
    kept : bool
        Whether c is a share for each document of the highest grade, of sum 1, and nothing for others: what keeping one
        of them at random expects. Otherwise NDCG of each document alone, ``c_i = gain_i / largest gain``.

    See Also
    --------
    ListNet : Convex.
    skdp.mechanisms.LabelGradient : Its gradient where documents are public.

    Notes
    -----
    The gradient is ``-sum_i c_i v_i`` with ``v_i = p_i (x_i - sum_l p_l x_l)``, and these sum to 0.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import BayesRank, Lists
    >>> BayesRank().slopes(np.zeros(2), np.array([0.0, 1.0]), Lists(np.array([0, 2])))
    array([ 0.25, -0.25])
    """

    kept: bool = True

    slope = 0.5
    curvature = 0.4

    def worth(self, y: Array, lists: Lists) -> Array:
        """c of each document, in [0, 1]."""
        if self.kept:
            return best(y, lists)
        gain = gains(y)
        most = lists.spread(lists.largest(gain))
        return gain / np.where(most > 0.0, most, 1.0)

    def values(self, z: Array, y: Array, lists: Lists) -> Array:
        """Loss of each list."""
        p, _ = lists.softmax(z)
        return -lists.total(p * self.worth(y, lists))

    def slopes(self, z: Array, y: Array, lists: Lists) -> Array:
        """Minus probability times what the document is worth above the mean."""
        p, _ = lists.softmax(z)
        worth = self.worth(y, lists)
        worth -= lists.spread(lists.total(p * worth))
        worth *= -p
        return worth
