"""Noisy comparisons, of which only the winner leaves.

* `BestCandidate`: the best of a few parameter vectors, by their clipped losses.
* `BestColumn`: the column with the least sum.
* `SteepestCoordinate`: the coordinate along which the loss falls fastest, for a Frank-Wolfe step on an L1 ball.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..exceptions import NotSupported
from ..losses import Loss
from ..privacy.events import Event
from ._bounds import cap, losses_at, pass_forward, refuse_shape, refuse_unless_linear
from ._kernels import ROUNDINGS, UNIT
from ._mechanism import Array, Mechanism, Selection, freeze_fields
from ._public import Public
from ._records import Records
from ._rows import BLOCK

__all__ = ["BestCandidate", "BestColumn", "SteepestCoordinate"]


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
        """Refuse: models are compared on all records."""
        return Mechanism.sampled_event(self, public, rate)

    def measure(self, records: Records) -> Array:
        """Minus the sums of the columns."""
        return -records.sum(self._losses, least=BLOCK)

    def _losses(self, records: Records) -> Array:
        """Sums of entries that are cut to [0, 1], pairwise along the records' axis."""
        rows = records.rows.to_dense()[:, : records.public.n_features]
        losses = np.clip(rows.astype(np.float64) * self.unit, 0.0, 1.0)
        return np.ascontiguousarray(losses.T).sum(axis=1)


@dataclass(frozen=True, eq=False, kw_only=True)
class SteepestCoordinate(Selection):
    """Index of the signed feature along which the summed loss falls fastest, no record's entries exceeding `bound`.

    Answer k below the number of features d says that the loss falls as coefficient k grows; k + d that it falls as
    coefficient k shrinks. The intercept's column is not among them. One score linear, one output.

    Parameters
    ----------
    at : ndarray of shape (width,)
        Parameters at which the gradient is taken.
    loss : Loss
        A registered loss with one output.
    bound : float
        Bound on the absolute entries of one record's gradient; longer ones are shrunk as a whole.

    See Also
    --------
    BestCandidate : Compares losses instead of slopes.
    skdp.penalties.L1Ball : Whose vertices it picks.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import Logistic
    >>> from skdp.mechanisms import Noise, Public, Records, SteepestCoordinate
    >>> X, y = np.tile([0.1, -0.9], (1000, 1)), np.ones(1000)
    >>> public = Public(n=1000, n_features=2, intercept=0.0, neighbors="replace_one")
    >>> vault = Records.admit(X, y, public, data_norm=1.0)
    >>> question = SteepestCoordinate(at=np.zeros(2), loss=Logistic(), bound=0.5, epsilon=1.0)
    >>> question.answer(vault, Noise(seed=0))  # the loss falls as coefficient 1 shrinks: 1 + 2
    3
    """

    proof: ClassVar[str] = "steepest_coordinate"
    covers_units: ClassVar[bool] = True
    at: Any
    loss: Loss
    bound: float

    def __post_init__(self) -> None:
        super().__post_init__()
        freeze_fields(self, bounds=("bound",), arrays=("at",))
        if self.at.ndim != 1:
            raise NotSupported(
                f"SteepestCoordinate was given parameters of shape {self.at.shape}; it is for one output."
            )

    def spread(self, public: Public) -> float:
        """A record moves a coordinate's two scores by its entry, in opposite directions."""
        refuse_unless_linear(public)
        refuse_shape(self.at.shape, self.loss, public)
        return 2.0 * public.sensitivity_factor * self.bound

    def rounding(self, public: Public) -> float:
        """Bound the rounding of each entry's sum."""
        return ROUNDINGS * UNIT * public.most_rows * self.bound

    def measure(self, records: Records) -> Array:
        """Minus and plus the entries of the clipped gradient."""
        gradient = records.sum(self._clipped)
        return np.concatenate([-gradient, gradient])

    def _clipped(self, records: Records) -> Array:
        with np.errstate(all="ignore"):
            slopes, rows = pass_forward(self.at, records, self.loss)
            slopes *= cap(np.abs(slopes) * rows.max_abs(), self.bound)
            # A record whose score overflows must not spoil the sum: that would show that it is there.
            slopes[~np.isfinite(slopes)] = 0.0
            return np.asarray(rows.tdot(records.shared(slopes))[: records.public.n_features])
