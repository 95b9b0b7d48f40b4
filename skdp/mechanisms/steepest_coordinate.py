"""The coordinate along which the loss falls fastest: what a Frank-Wolfe step on an L1 ball needs of the gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..exceptions import NotSupported
from ..losses import Loss
from ._bounds import refuse_shape, refuse_unless_linear
from ._kernels import ROUNDINGS, UNIT
from ._mechanism import Array, Selection, freeze_fields
from ._public import Public
from ._records import Records
from ._scores import cap, pass_forward

__all__ = ["SteepestCoordinate"]


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
