"""ListNet: cross entropy of the chances to come first."""

from __future__ import annotations

from dataclasses import dataclass

from ._lists import ListLoss, Lists, gains
from ._loss import Array

__all__ = ["ListNet"]


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
