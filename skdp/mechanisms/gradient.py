"""The clipped gradient: what most solvers ask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..losses import Loss
from ._public import Public
from ._question import Additive, Array
from ._records import Records

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
    """

    proof: ClassVar[str] = "clipped_gradient"
    at: Any
    loss: Loss
    clip: float

    def bound(self, public: Public) -> float:
        """The clip."""
        return self.clip

    def measure(self, records: Records) -> Array:
        """Sum of the clipped gradients."""
        model, rows = records.model, records.rows
        slopes = self.loss.dz(model.scores(self.at, rows), records.y)
        factor = model.norms(self.at, rows, slopes)
        np.maximum(factor, self.clip, out=factor)
        np.divide(self.clip, factor, out=factor)
        slopes *= factor if slopes.ndim == 1 else factor[:, None]
        return model.pullback(self.at, rows, slopes)
