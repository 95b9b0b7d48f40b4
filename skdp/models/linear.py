"""Linear scores, one or several outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

__all__ = ["Linear"]

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Linear:
    """Scores are rows times parameters, so a record's gradient is its slope times its row: the tape is the rows.

    Examples
    --------
    >>> from skdp.mechanisms import Public
    >>> from skdp.models import Linear
    >>> public = Public(n=100, n_features=4, intercept=0.25, neighbors="replace_one")
    >>> Linear().shape(public), Linear().shape(public, outputs=3)
    ((5,), (5, 3))
    """

    proof: ClassVar[str | None] = None
    of_whole_rows: ClassVar[bool] = True

    def shape(self, public: Any, outputs: int = 1) -> tuple[int, ...]:
        """Return the shape: a parameter for each column, or for each column and output."""
        return (public.width,) if outputs == 1 else (public.width, outputs)

    def start(self, public: Any, outputs: int = 1) -> Array:
        """Zero: no record is told from another."""
        return np.zeros(self.shape(public, outputs))

    def forward(self, w: Array, rows: Any) -> tuple[Array, Any]:
        """Scores of all rows at `w`, as they were before any was scaled down, and the rows."""
        return rows.whole_dot(w), rows

    def norms(self, tape: Any, dz: Array) -> Array:
        """Slope times norm of the row."""
        if dz.ndim == 1:
            slopes = np.abs(dz)
        else:  # squares underflow in single precision
            slopes = np.sqrt(np.einsum("ij,ij->i", dz, dz, dtype=np.float64))
        slopes *= tape.norms
        return slopes

    def pullback(self, tape: Any, dz: Array, weights: Array) -> Array:
        """Rows transposed times the weighted slopes."""
        dz *= weights if dz.ndim == 1 else weights[:, None]
        total: Array = tape.tdot(dz)
        return total

    def curvature(self, loss: Any, public: Any) -> float | None:
        """The loss's own, times the square of the longest row."""
        return None if loss.curvature is None else float(loss.curvature) * public.row_bound**2
