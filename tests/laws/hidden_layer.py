"""A toy model: one hidden layer. It shows what another model has to write, and that laws and solvers take it."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from skdp.mechanisms._kernels import UNIT, pairwise_total


@dataclass(frozen=True)
class HiddenLayer:
    """Scores ``v' tanh(W x)`` with parameters that are counted from a public network, so that solvers begin at zero."""

    units: int = 8
    proof: ClassVar[str | None] = None
    of_whole_rows: ClassVar[bool] = False

    def shape(self, public, outputs=1):
        """A row of weights for each unit, and one weight of its own."""
        return (self.units * (public.width + 1),)

    def start(self, public, outputs=1):
        """The public network."""
        return np.zeros(self.shape(public))

    def _split(self, w, width):
        w = w + 1.5 * np.cos(np.arange(len(w)) ** 2)
        return w[: self.units * width].reshape(width, self.units), w[self.units * width :]

    def forward(self, w, rows):
        """Row by row, in double precision after the first layer."""
        inner, outer = self._split(w, rows.width)
        hidden = np.tanh(rows.dot(inner).astype(np.float64))
        return np.einsum("ij,j->i", hidden, outer), (rows, hidden, (1.0 - hidden**2) * outer)

    def norms(self, tape, dz):
        """Of both layers' gradients together; squares of 2 units numbers are off by a few units each."""
        rows, hidden, slopes = tape
        squares = [np.einsum("ij,ij->i", a, a) for a in (slopes, hidden)]
        norms = np.abs(dz) * np.sqrt(squares[0] * rows.norms**2 + squares[1])
        return norms * (1.0 + (self.units + 24.0) * UNIT)

    def pullback(self, tape, dz, weights):
        """A sum of rows for each unit, and a sum of hidden values."""
        rows, hidden, slopes = tape
        own = (dz * weights)[:, None]
        outer = pairwise_total(own * hidden)
        return np.concatenate([rows.tdot(own * slopes).ravel(), outer])

    def curvature(self, loss, public):
        """None that holds everywhere."""
        return None
