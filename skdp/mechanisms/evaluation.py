"""Sums of outcomes of held-out records.

* `MeanLoss`: the sum of bounded losses, and what their variance needs, which costs nothing more.
* `RankSum`: the margin by which scores of one class exceed those of the other: area under a ROC curve, without bins.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..exceptions import NotSupported
from ..privacy.events import Event
from ._kernels import UNIT
from ._mechanism import Additive, Array, Mechanism, freeze_fields
from ._public import Public
from ._records import Records

__all__ = ["KAPPA", "MeanLoss", "RankSum"]


# phi^(5/2), phi the golden ratio, rounded down: the largest weight of t (1 - t) beside t that leaves the distance of
# any two records at 1.
KAPPA = 3.33019067


@dataclass(frozen=True, eq=False, kw_only=True)
class MeanLoss(Additive):
    """Sums over the targets t in [0, 1], plus Gaussian noise.

    Under replace-one ``(sum t, KAPPA sum t (1 - t))``, where n is public; under add/remove
    ``(n / 2, sum (t - 1/2))``. Targets beyond [0, 1] count as the nearer end.

    See Also
    --------
    CellCounts : Where records have cells rather than numbers.

    Examples
    --------
    >>> from skdp.mechanisms import MeanLoss, Public
    >>> public = Public(n=1000, n_features=1, intercept=0.0, neighbors="replace_one")
    >>> round(MeanLoss(multiplier=2.0).sensitivity(public), 6)
    1.0
    """

    proof: ClassVar[str] = "mean_loss"

    def bound(self, public: Public) -> float:
        """Norm of one record's contribution."""
        return (1.0 if public.replace_one else math.sqrt(0.5)) * (1.0 + 8.0 * UNIT)

    def size(self, public: Public) -> int:
        """Two sums."""
        return 2

    def sensitivity(self, public: Public) -> float:
        """Distance of two contributions, which is at most that of one from the origin."""
        return self.bound(public)

    def sampled_event(self, public: Public, rate: float) -> Event:
        """Refuse: evaluation is of all records."""
        return Mechanism.sampled_event(self, public, rate)

    def measure(self, records: Records) -> Array:
        """The two sums, pairwise."""
        t = np.clip(np.asarray(records.y, dtype=np.float64), 0.0, 1.0)
        if records.public.replace_one:
            parts = t, KAPPA * t * (1.0 - t)
        else:
            parts = np.full(t.shape, 0.5), t - 0.5
        return np.array([part.sum() for part in parts])


@dataclass(frozen=True, eq=False, kw_only=True)
class RankSum(Additive):
    """Sum over pairs of a record of class 1 and one of class 0 of 1/2, 0 or -1/2, plus Gaussian noise.

    A pair gives 1/2 where the first has the larger score, 0 where they are equal. A record's score is its
    first column, its class is 1 where its target is above 1/2. If the larger class has more than `largest` members, the
    sum is multiplied by `largest` over their number.

    Parameters
    ----------
    largest : float
        About how many records the larger class has: between 2/3 of all and all. It is taken as 2/3 of all, or all,
        where it lies beyond.

    See Also
    --------
    CellCounts : Gives the sizes of the classes.

    Examples
    --------
    >>> from skdp.mechanisms import Public, RankSum
    >>> public = Public(n=900, n_features=1, intercept=0.0, neighbors="replace_one")
    >>> RankSum(largest=700.0, multiplier=2.0).sensitivity(public)
    700.0
    >>> RankSum(largest=1.0, multiplier=2.0).sensitivity(public)
    600.0
    """

    proof: ClassVar[str] = "rank_sum"
    largest: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        freeze_fields(self, bounds=("largest",))

    def bound(self, public: Public) -> float:
        """The size of the larger class, from two thirds of all to all."""
        if not public.replace_one or public.n is None:
            raise NotSupported(
                "RankSum needs a public number of records; use neighbors='replace_one'."
            )
        n = float(max(public.n, 1))
        return min(n, max(self.largest, float(math.ceil(2.0 * n / 3.0))))

    def size(self, public: Public) -> int:
        """Return 1, the number of entries."""
        return 1

    def sensitivity(self, public: Public) -> float:
        """Replacing a record moves the sum by the bound at most (proofs/rank_sum.md)."""
        return self.bound(public)

    def sampled_event(self, public: Public, rate: float) -> Event:
        """Refuse: no theorem prices a figure that is no sum over single records."""
        raise NotSupported(
            "RankSum has no price on a Poisson batch: it compares records; ask it of all records."
        )

    def measure(self, records: Records) -> Array:
        """Half of (pairs in order - pairs out of order), by sorting."""
        first = np.zeros(records.rows.width)
        first[0] = 1.0
        scores, positive = np.asarray(records.rows.dot(first)), np.asarray(records.y) > 0.5
        ones, zeros = scores[positive], np.sort(scores[~positive])
        below = np.searchsorted(zeros, ones, "left").sum(dtype=np.float64)
        upto = np.searchsorted(zeros, ones, "right").sum(dtype=np.float64)
        total = 0.5 * (below + upto - float(len(ones)) * float(len(zeros)))
        largest = float(max(len(ones), len(zeros), 1))
        return np.array(total * min(1.0, self.bound(records.public) / largest))
