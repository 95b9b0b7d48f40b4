"""BayesRank: the expected gain of the first place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._lists import ListLoss, Lists, best, gains
from ._loss import Array

__all__ = ["BayesRank"]


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
