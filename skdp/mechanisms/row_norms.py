"""Noisy sum of the norms of rows in other coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ._mechanism import Additive, Array, freeze_fields
from ._public import Public
from ._records import Records
from .mapped import Coordinates, check_coordinates, images_of

__all__ = ["RowNorms"]


@dataclass(frozen=True, eq=False, kw_only=True)
class RowNorms(Additive):
    """Sum over records of the norms of their rows in other coordinates, each cut at `cap`, plus Gaussian noise.

    Parameters
    ----------
    coordinates : Coordinates
        Where rows are measured.
    cap : float
        Largest norm that counts.

    See Also
    --------
    Coordinates : Where rows are measured.
    Mapped : What the mean norm is the scale of.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.mechanisms import Coordinates, Public, RowNorms
    >>> public = Public(n=1000, n_features=2, intercept=0.0, neighbors="replace_one")
    >>> RowNorms(coordinates=Coordinates(np.diag([2.0, 1.0])), cap=1.5, multiplier=10.0).sensitivity(public)
    1.5
    """

    proof: ClassVar[str] = "row_norms"
    covers_units: ClassVar[bool] = True
    coordinates: Coordinates
    cap: float

    def __post_init__(self) -> None:
        super().__post_init__()
        freeze_fields(self, bounds=("cap",))
        check_coordinates(self.coordinates)

    def bound(self, public: Public) -> float:
        """The cap."""
        return self.cap

    def size(self, public: Public) -> int:
        """Return 1, the number of entries."""
        return 1

    def sensitivity(self, public: Public) -> float:
        """Norms are not negative, so a replaced one moves the sum by no more than one that comes or goes."""
        self.coordinates.seen(public)
        return self.cap

    def measure(self, records: Records) -> Array:
        """The sum of the cut norms."""
        norms = images_of(records, self.coordinates).norms
        # Pairwise, as numpy sums along a contiguous axis.
        return np.array(records.shared(np.minimum(norms, self.cap)).sum())
