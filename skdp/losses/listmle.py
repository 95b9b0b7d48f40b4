"""ListMLE: likelihood of the order of grades."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._lists import ListLoss, Lists
from ._loss import Array

__all__ = ["ListMLE"]

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
