"""The sum of bounded losses, and what their variance needs, which costs nothing more."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..privacy.events import Event
from ._kernels import UNIT
from ._mechanism import Additive, Array, Mechanism
from ._public import Public
from ._records import Records

__all__ = ["KAPPA", "MeanLoss"]

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
        """No two contributions are further apart than one is from the origin at most."""
        return self.bound(public)

    def sampled_event(self, public: Public, rate: float) -> Event:
        """Refused: evaluation is of all records."""
        return Mechanism.sampled_event(self, public, rate)

    def measure(self, records: Records) -> Array:
        """The two sums, pairwise."""
        t = np.clip(np.asarray(records.y, dtype=np.float64), 0.0, 1.0)
        if records.public.replace_one:
            parts = t, KAPPA * t * (1.0 - t)
        else:
            parts = np.full(t.shape, 0.5), t - 0.5
        return np.array([part.sum() for part in parts])
