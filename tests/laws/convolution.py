"""A convolution over neighbouring columns in plain numpy: what a network of a user's own has to write."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from skdp.mechanisms._kernels import UNIT, pairwise_total


@dataclass(frozen=True)
class Convolution:
    """Scores ``v' mean over places of tanh(K' window)``, with windows of a few neighbouring columns.

    Filters are small, so that a record's gradient in them has fewer numbers than its row: it is built.
    """

    filters: int = 3
    size: int = 2

    proof: ClassVar[str | None] = None
    of_whole_rows: ClassVar[bool] = False

    def shape(self, public, outputs=1):
        """A matrix of filters, and a weight of each."""
        return ((self.size + 1) * self.filters,)

    def start(self, public, outputs=1):
        """Numbers that differ, so that filters do."""
        return np.cos(np.arange((self.size + 1.0) * self.filters) ** 2)

    def forward(self, w, rows):
        """Entry by entry: no product of matrices, which would round a record by where it stands."""
        kernel, outer = w[: -self.filters].reshape(self.size, self.filters), w[-self.filters :]
        x = rows.to_dense()
        places = x.shape[1] - self.size + 1
        windows = [x[:, s : s + places, None] for s in range(self.size)]
        said = np.tanh(sum(window * k for window, k in zip(windows, kernel)))
        pooled = sum(said[:, p] for p in range(places)) / places
        steep = (1.0 - said**2) * outer / places
        slopes = [
            (window * steep).sum(axis=1) for window in windows
        ]  # of the score in each row of the kernel
        return np.einsum("ij,j->i", pooled, outer), np.concatenate([*slopes, pooled], axis=1)

    def norms(self, tape, dz):
        """Of the gradient as it is stored; its squares are off by a unit each."""
        length = np.sqrt(np.einsum("ij,ij->i", tape, tape)) + 1e-150
        return np.abs(dz) * length * (1.0 + (tape.shape[1] + 16.0) * UNIT)

    def pullback(self, tape, dz, weights):
        """A sum over records."""
        return pairwise_total((dz * weights)[:, None] * tape)

    def curvature(self, loss, public):
        """None that holds everywhere."""
        return None
