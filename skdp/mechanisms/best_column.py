"""The column with the least sum, by a noisy comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..privacy.events import Event
from ._kernels import ROUNDINGS, UNIT
from ._mechanism import Array, Mechanism, Selection, freeze_fields
from ._public import Public
from ._records import Records
from ._rows import BLOCK

__all__ = ["BestColumn"]


@dataclass(frozen=True, eq=False, kw_only=True)
class BestColumn(Selection):
    """Index of the column with the smallest sum of entries, each of which counts as at least 0 and at most 1.

    A row holds what a record loses under each of several models. That may be any loss of any models, where
    `BestCandidate` compares parameters of one.

    Parameters
    ----------
    unit : float
        What an entry of a row is multiplied by to be a loss in [0, 1].

    See Also
    --------
    BestCandidate : Compares parameters, by the range of a record's losses.
    MeanLoss : The sum of one loss, instead of which of several is least.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.mechanisms import BestColumn, Noise, Public, Records
    >>> losses = np.tile([0.4, 0.1, 0.3], (1000, 1))
    >>> public = Public(n=1000, n_features=3, intercept=0.0, neighbors="replace_one")
    >>> vault = Records.admit(losses, np.ones(1000), public, data_norm=2.0)
    >>> BestColumn(unit=2.0, epsilon=1.0).answer(vault, Noise(seed=0))
    1
    """

    proof: ClassVar[str] = "selection"
    unit: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        freeze_fields(self, bounds=("unit",))

    def spread(self, public: Public) -> float:
        """A record moves the difference of two scores by at most 1; replacing one by at most 2."""
        return public.sensitivity_factor

    def rounding(self, public: Public) -> float:
        """Bound the rounding of a sum."""
        return ROUNDINGS * UNIT * public.most_rows

    def sampled_event(self, public: Public, rate: float) -> Event:
        """Refused: models are compared on all records."""
        return Mechanism.sampled_event(self, public, rate)

    def measure(self, records: Records) -> Array:
        """Minus the sums of the columns."""
        return -records.sum(self._losses, least=BLOCK)

    def _losses(self, records: Records) -> Array:
        """Sums of entries that are cut to [0, 1], pairwise along the records' axis."""
        rows = records.rows.to_dense()[:, : records.public.n_features]
        losses = np.clip(rows.astype(np.float64) * self.unit, 0.0, 1.0)
        return np.ascontiguousarray(losses.T).sum(axis=1)
