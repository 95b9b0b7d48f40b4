"""The best of a few parameter vectors, by a noisy comparison of their clipped losses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..losses import Loss
from ._public import Public
from ._question import Array, Selection
from ._records import Records

__all__ = ["BestCandidate"]


@dataclass(frozen=True, eq=False, kw_only=True)
class BestCandidate(Selection):
    """Index of the candidate with the smallest total loss, each record's loss clipped to [0, cap].

    Parameters
    ----------
    candidates : ndarray of shape (k, ...)
        Parameters to compare.
    offsets : ndarray of shape (k,) or float
        Public numbers added to the losses, the penalty for one.
    loss : Loss
        A registered loss.
    cap : float
        What one record's loss is clipped to.
    """

    proof: ClassVar[str] = "selection"
    candidates: Any
    offsets: Any = 0.0
    loss: Loss
    cap: float

    def spread(self, public: Public) -> float:
        """Adding a record moves all scores the same way, by at most cap; replacing one moves a pair by 2 cap."""
        return public.swing * self.cap

    def measure(self, records: Records) -> Array:
        """Minus the clipped losses."""
        totals = np.zeros(len(self.candidates))
        model = records.model
        for part, rows in records.rows.blocks():
            y = records.y[part]
            for k, w in enumerate(self.candidates):
                values = self.loss.value(model.scores(w, rows), y)
                totals[k] += np.clip(values, 0.0, self.cap).sum()
        return -(totals + self.offsets)
