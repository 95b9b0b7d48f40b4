"""Change of the gradient between two points: the query of variance reduction on its batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..losses import Loss
from ._bounds import linear_rows, refuse_shape, refuse_unless_linear
from ._mechanism import Additive, Array, freeze_fields
from ._public import Public
from ._records import Records
from ._scores import cap, pass_forward

__all__ = ["GradientDifference"]


@dataclass(frozen=True, eq=False, kw_only=True)
class GradientDifference(Additive):
    """Sum over records of clipped gradient at `at` minus clipped gradient at `anchor`, clipped again, plus noise.

    For a smooth loss the difference of a record is at most its curvature times the distance of the two points, so near
    the anchor a small `reach` cuts nothing off and needs little noise.

    Parameters
    ----------
    at, anchor : ndarray
        The two points.
    loss : Loss
        A registered loss. Its declared constants are not trusted: `reach` is enforced.
    clip : float
        Bound on the norm of one record's gradient at either point, as in `Gradient`.
    reach : float
        Bound on the norm of one record's difference.

    See Also
    --------
    Gradient : At the anchor.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import Logistic
    >>> from skdp.mechanisms import GradientDifference, Public
    >>> step = np.array([0.04, 0.03])  # a logistic gradient moves by no more than 0.25 * 0.05
    >>> question = GradientDifference(
    ...     at=step, anchor=np.zeros(2), loss=Logistic(), clip=1.0, reach=0.0125, multiplier=10.0
    ... )
    >>> question.bound(Public(n=1000, n_features=2, intercept=0.0, neighbors="replace_one"))
    0.0125
    """

    proof: ClassVar[str] = "gradient_difference"
    covers_units: ClassVar[bool] = True
    at: Any
    anchor: Any
    loss: Loss
    clip: float
    reach: float

    def __post_init__(self) -> None:
        super().__post_init__()
        freeze_fields(self, bounds=("clip", "reach"), arrays=("at", "anchor"))

    def bound(self, public: Public) -> float:
        """The reach."""
        return self.reach

    def size(self, public: Public) -> int:
        """Return the number of parameters; refuse a shape in which records share scores."""
        refuse_unless_linear(public)
        refuse_shape(self.at.shape, self.loss, public)
        refuse_shape(self.anchor.shape, self.loss, public)
        return int(self.at.size)

    def measure(self, records: Records) -> Array:
        """Sum of the clipped differences."""
        if not len(records):
            return np.zeros(self.at.shape)
        return records.sum(self._clipped)

    def _clipped(self, records: Records) -> Array:
        rows = linear_rows(records)  # along which a record's gradient lies, at either point
        with np.errstate(all="ignore"):
            slopes = self._slopes(records, self.at) - self._slopes(records, self.anchor)
            # A record whose score overflows contributes nothing; see Gradient.
            slopes[~np.isfinite(slopes)] = 0.0
            weights = cap(records.model.norms(rows, slopes), self.reach, self.loss.outputs)
            return records.model.pullback(rows, slopes, records.shared(weights))

    def _slopes(self, records: Records, w: Array) -> Array:
        """Slopes at w, each scaled so that its gradient's norm is at most the clip."""
        slopes, rows = pass_forward(w, records, self.loss)
        weights = cap(records.model.norms(rows, slopes), self.clip, self.loss.outputs)
        slopes *= weights if slopes.ndim == 1 else weights[:, None]
        return slopes
