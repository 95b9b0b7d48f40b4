"""The clipped gradient: what most solvers ask."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..losses import Loss
from ._bounds import refuse_shape
from ._kernels import ROUNDINGS, UNIT
from ._mapped import FLOOR
from ._mechanism import Additive, Array, freeze_fields
from ._public import Public
from ._records import Records
from ._scores import cap, pass_forward

__all__ = ["Gradient"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Gradient(Additive):
    """Sum over records of their gradients of the loss, each clipped to norm `clip`, plus Gaussian noise.

    For a linear model a record's gradient is its slope times its row: clipping rescales the slope, and no array of
    n rows of d numbers is built. The sum is never divided by a realised batch size.

    Parameters
    ----------
    at : ndarray
        Parameters at which the gradient is taken.
    loss : Loss
        A registered loss. Its declared constants are not trusted: the clip holds for any slope.
    clip : float
        Bound on the norm of one record's gradient.

    See Also
    --------
    GradientDifference : Near an anchor, with less noise.
    PoissonBatch : Asks it of a batch.
    Mapped : Asks it in other coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import Logistic
    >>> from skdp.mechanisms import Gradient, Public
    >>> question = Gradient(at=np.zeros(2), loss=Logistic(), clip=0.5, multiplier=10.0)
    >>> public = Public(n=1000, n_features=2, intercept=0.0, neighbors="replace_one")
    >>> question.sensitivity(public)  # one clipped gradient less, another more
    1.0
    >>> question.event(public)
    Gaussian(multiplier=5.0)
    """

    proof: ClassVar[str] = "clipped_gradient"
    covers_units: ClassVar[bool] = True
    at: Any
    loss: Loss
    clip: float

    def __post_init__(self) -> None:
        freeze_fields(self, scales=("multiplier",), bounds=("clip",), arrays=("at",))

    def bound(self, public: Public) -> float:
        """The clip."""
        return self.clip

    def size(self, public: Public) -> int:
        """Return the number of parameters; refuse a shape in which records share scores."""
        refuse_shape(self.at.shape, self.loss, public)
        return int(self.at.size)

    def rounding(self, public: Public) -> float:
        """Bound the rounding of the sum; mapped rows are summed as stored, which may be longer."""
        if not public.stretch:
            return super().rounding(public)
        steepest = math.inf if self.loss.slope is None else self.loss.slope
        longest = max(self.clip, public.stretch * min(steepest, self.clip / FLOOR))
        return (ROUNDINGS + public.depth) * UNIT * public.most_rows * longest

    def refuse_in(self, seen: Public) -> None:
        """Refuse nothing: new rows of neighbours differ in one record too, and each gradient is clipped there."""

    def measure(self, records: Records) -> Array:
        """Sum of the clipped gradients."""
        if not len(records):
            return np.zeros(self.at.shape)
        return records.sum(self._clipped)

    def _clipped(self, records: Records) -> Array:
        # A record whose pass overflows must neither warn nor spoil the sum: either would show that it is there.
        with np.errstate(all="ignore"):
            total, weights = self._weighted(records)
            if not math.isfinite(np.vdot(total, total)):
                total, _ = self._weighted(records.of_rows(np.flatnonzero(weights > 0.0)))
        return total

    def _weighted(self, records: Records) -> tuple[Array, Array]:
        """Sum of gradients, each times the weight that brings it within the clip; and the weights."""
        model = records.model
        slopes, tape = pass_forward(self.at, records, self.loss)
        # Rows are clipped, not the unit: an average of clipped gradients is one of a convex function.
        weights = records.shared(cap(model.norms(tape, slopes), self.clip, self.loss.outputs))
        return model.pullback(tape, slopes, weights), weights
