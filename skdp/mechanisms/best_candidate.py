"""The best of a few parameter vectors, by a noisy comparison of their clipped losses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..losses import Loss
from ._bounds import refuse_shape
from ._kernels import ROUNDINGS, UNIT
from ._mechanism import Array, Selection, freeze_fields
from ._public import Public
from ._records import Records
from ._rows import BLOCK
from ._scores import losses_at

__all__ = ["BestCandidate"]

_HUGE = 1e100


@dataclass(frozen=True, eq=False, kw_only=True)
class BestCandidate(Selection):
    """Index of the candidate with the smallest total loss, where no record's losses range over more than `cap`.

    Only differences between candidates matter, so a record's losses are taken from its own smallest one, and shrunk
    where they range over more than `cap`. For candidates near each other the range, and with it the noise, can be
    far below any bound of the loss itself.

    Parameters
    ----------
    candidates : ndarray of shape (k, ...)
        Parameters to compare.
    offsets : ndarray of shape (k,) or float
        Public numbers added to the losses, the penalty for one.
    loss : Loss
        A registered loss.
    cap : float
        Bound on the range of one record's losses over the candidates.

    See Also
    --------
    SteepestCoordinate : Compares slopes instead of losses.
    FirstDecrease : The first that is good enough.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import Logistic
    >>> from skdp.mechanisms import BestCandidate, Noise, Public, Records
    >>> X, y = np.tile([0.6, 0.8], (1000, 1)), np.ones(1000)
    >>> public = Public(n=1000, n_features=2, intercept=0.0, neighbors="replace_one")
    >>> vault = Records.admit(X, y, public, data_norm=1.0)
    >>> question = BestCandidate(
    ...     candidates=[[0.0, 0.0], [3.0, 4.0], [-3.0, -4.0]], loss=Logistic(), cap=2.0, epsilon=1.0
    ... )
    >>> question.answer(vault, Noise(seed=0))
    1
    """

    proof: ClassVar[str] = "selection"
    covers_units: ClassVar[bool] = True
    candidates: Any
    offsets: Any = 0.0
    loss: Loss
    cap: float

    def __post_init__(self) -> None:
        super().__post_init__()
        freeze_fields(self, bounds=("cap",), arrays=("candidates", "offsets"))
        count = len(self.candidates) if self.candidates.ndim else 0
        # Broadcasting would make more scores than there are draws of noise.
        if not count or self.offsets.shape not in {(), (count,)}:
            raise ValueError(
                f"BestCandidate was given candidates of shape {self.candidates.shape} and offsets of shape "
                f"{self.offsets.shape}; give one offset, or one for each candidate."
            )

    def spread(self, public: Public) -> float:
        """A record moves the difference of two scores by at most cap; replacing one takes one record out, one in."""
        refuse_shape(self.candidates.shape[1:], self.loss, public)
        return public.sensitivity_factor * self.cap

    def rounding(self, public: Public) -> float:
        """Bound the rounding of the sum, and of adding the offsets."""
        offset = float(np.abs(self.offsets).max(initial=0.0))
        return ROUNDINGS * UNIT * public.most_rows * self.cap + 2.0 * UNIT * offset

    def measure(self, records: Records) -> Array:
        """Minus the clipped losses."""
        return -(records.sum(self._losses, least=BLOCK) + self.offsets)

    def _losses(self, records: Records) -> Array:
        """Each candidate's total, every record's losses taken from its smallest and shrunk to the cap."""
        values = np.empty((len(self.candidates), len(records.y)))
        with np.errstate(all="ignore"):
            for row, w in zip(values, self.candidates):
                row[:] = losses_at(w, records, self.loss)
        low, high = values.min(axis=0), values.max(axis=0)
        if not ((low > -_HUGE) & (high < _HUGE)).all():
            # An overflow must not become a NaN that decides the selection.
            np.clip(np.nan_to_num(values, copy=False, nan=_HUGE), -_HUGE, _HUGE, out=values)
            low, high = values.min(axis=0), values.max(axis=0)
        values -= low
        values *= self.cap / np.maximum(high - low, self.cap)
        # Pairwise along a record's axis; the cap holds also as computed.
        return np.asarray(records.shared(np.minimum(values, self.cap, out=values).T).T.sum(axis=1))
