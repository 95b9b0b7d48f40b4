"""Noisy number of records, where that is private."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..exceptions import NotSupported
from ._kernels import UNIT
from ._mechanism import Additive, Array
from ._public import Public
from ._records import Records

__all__ = ["Count"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Count(Additive):
    """The number of records plus Gaussian noise, for add/remove neighbours.

    See Also
    --------
    Public : Says whether n is public.

    Examples
    --------
    >>> from skdp.mechanisms import Count, Public
    >>> public = Public(n=None, n_features=2, intercept=0.0, neighbors="add_remove")
    >>> Count(multiplier=5.0).sensitivity(public)
    1.0
    """

    proof: ClassVar[str] = "count"
    covers_units: ClassVar[bool] = True
    of_lists: ClassVar[bool] = True
    covers_users: ClassVar[bool] = True

    def bound(self, public: Public) -> float:
        """A record counts once."""
        return 1.0

    def size(self, public: Public) -> int:
        """Return 1, the number of entries."""
        return 1

    def rounding(self, public: Public) -> float:
        """Bound the rounding of a quotient on the lattice; the count, an integer, has none."""
        return 4.0 * UNIT * public.most

    def sensitivity(self, public: Public) -> float:
        """Adding a record moves the count by one."""
        if public.replace_one:
            raise NotSupported(
                "neighbors='replace_one' makes n public; read public.n, which is free."
            )
        return 1.0

    def measure(self, records: Records) -> Array:
        """The count."""
        return np.array(float(len(records)))
