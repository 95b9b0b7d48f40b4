"""Protocol of the models, as mechanisms need them, and the linear one: one score or several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

__all__ = ["Linear", "Model"]


Array = np.ndarray[Any, Any]


class Model(Protocol):
    """Scores from parameters and rows, and gradients from slopes: one pass forward, one back.

    What the proofs need, as computed, with ``u = 2^-53`` (docs/proofs/clipped_gradient.md, tests/laws/test_models.py):

    1. *Scores and norms belong to their record*: the same bits wherever it stands and whoever stands beside it.
    2. *Norms are bounds*: a record's gradient at weight 1 is no longer than its norm. Where anything of its pass
       overflowed, its norm is not finite.
    3. *Sums are near*: `pullback` is within ``ROUNDINGS u sum_i weights_i norms_i`` of the exact sum of what single
       records give, which are functions of the record, its weight and public numbers.

    Nothing here sees a target or a loss: those give the slopes. A record may have several scores, and several slopes;
    it has one norm and one weight.
    """

    proof: ClassVar[str | None]
    """Page of docs/proofs/ that says why all this holds; None where the questions' own pages do."""

    of_whole_rows: ClassVar[bool]
    """Whether `forward` gives the scores of whole rows, as linear ones can be. Norms and sums are those of what is left
    of rows that were too long, and so are the slopes that come back."""

    def shape(self, public: Any, outputs: int = 1) -> tuple[int, ...]:
        """Shape of the parameters, for a loss that wants so many scores of a record."""

    def start(self, public: Any, outputs: int = 1) -> Array:
        """Parameters to begin with, a function of public numbers."""

    def forward(self, w: Array, rows: Any) -> tuple[Array, Any]:
        """Scores of all rows at `w`, and a tape: whatever the way back needs of the way there."""

    def norms(self, tape: Any, dz: Array) -> Array:
        """Norm of each record's gradient whose slopes are `dz`, without building one; a fresh array of doubles."""

    def pullback(self, tape: Any, dz: Array, weights: Array) -> Array:
        """Sum over records of weight times gradient, of the shape of the parameters; `dz` may be written into."""

    def curvature(self, loss: Any, public: Any) -> float | None:
        """Bound on the second derivative of one record's loss in the parameters; None where there is none."""


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
