"""A toy engine: rows that store only what is not zero. It shows what another engine has to write, and that laws and
solvers take it as they take the dense one."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skdp.mechanisms import _twofold
from skdp.mechanisms._kernels import PIECE, UNIT, add, pairwise_total
from skdp.mechanisms._rows import image_norms
from skdp.mechanisms._shrunk import LEAST_SHRINK


@dataclass(frozen=True, eq=False)
class Csr:
    """A table by rows: values, their columns, and which row each belongs to."""

    values: Any
    columns: Any
    owner: Any
    shape: tuple
    dtype = np.dtype(np.float64)

    @classmethod
    def of(cls, X):
        """The table of a dense one."""
        owner, columns = np.nonzero(X)
        return cls(np.asarray(X)[owner, columns].astype(np.float64), columns, owner, np.shape(X))


@dataclass(frozen=True, eq=False)
class CsrRows:
    """Bounded rows over a `Csr` whose values are already scaled."""

    table: Csr
    norms: Any
    intercept: float
    shrink: Any
    dtype = np.dtype(np.float64)

    @staticmethod
    def admits(X):
        """Tables of the kind above."""
        return isinstance(X, Csr)

    @staticmethod
    def read(X):
        """The table itself: nobody else writes it, and rows that are not finite are refused with their norms."""
        return X

    from_dense = Csr.of  # what the laws make a table of

    @classmethod
    def bounded(cls, X, data_norm, intercept):
        """Rows divided by data_norm; longer ones are scaled down together with the constant column."""
        top = np.zeros(X.shape[0])
        np.maximum.at(top, X.owner, np.abs(X.values))
        squares = np.square(X.values / top[X.owner])
        raw = top * np.sqrt(np.bincount(X.owner, squares, len(top)))
        raw *= 1.0 + (X.shape[1] + 16.0) * UNIT
        divisor = np.maximum(raw, data_norm)
        shrink = np.maximum(data_norm / divisor, LEAST_SHRINK)
        norms = np.hypot(raw / divisor, intercept * shrink) * (1.0 + 16.0 * UNIT)
        return cls(replace(X, values=X.values / divisor[X.owner]), norms, intercept, shrink)

    def __len__(self):
        return len(self.norms)

    @property
    def width(self):
        """The features and the constant column."""
        return self.table.shape[1] + (self.intercept > 0)

    def dot(self, w):
        """A row's own values are added one by one, in their order."""
        if w.ndim > 1:
            return np.stack([self.dot(column) for column in w.T], axis=1)
        terms = self.table.values * w[self.table.columns]
        scores = np.bincount(self.table.owner, terms, len(self))
        return scores + self.shrink * (self.intercept * w[-1]) if self.intercept else scores

    def whole_dot(self, w):
        """What is left, brought back."""
        scores = self.dot(w)
        return scores / (self.shrink if scores.ndim == 1 else self.shrink[:, None])

    def tdot(self, v):
        """One by one inside a piece, pieces with what rounding takes from them."""
        if v.ndim > 1:
            return np.stack([self.tdot(column) for column in v.T], axis=1)
        total, lost = np.zeros((2, self.width))
        terms = self.table.values * v[self.table.owner]
        for part, inside in self._pieces():
            add(total, lost, np.bincount(self.table.columns[inside], terms[inside], self.width))
            if self.intercept:
                last = np.zeros(self.width)
                last[-1] = self.intercept * pairwise_total(v[part] * self.shrink[part])
                add(total, lost, last)
        return total + lost

    def _pieces(self):
        for start in range(0, len(self), PIECE):
            ends = np.searchsorted(self.table.owner, [start, start + PIECE])
            yield slice(start, start + PIECE), slice(*ends)

    def take(self, index):
        """Copies, in the order of the index."""
        index = np.arange(len(self))[index]
        first, end = (np.searchsorted(self.table.owner, index, side) for side in ("left", "right"))
        owner = np.repeat(np.arange(len(index)), end - first)
        before = np.cumsum(end - first) - (end - first)
        at = first[owner] + np.arange(len(owner)) - before[owner]
        shape = (len(index), self.table.shape[1])
        table = Csr(self.table.values[at], self.table.columns[at], owner, shape)
        return CsrRows(table, self.norms[index], self.intercept, self.shrink[index])

    def chunks(self, least):
        """Parts of a fixed number of rows."""
        size = max(least, 1000)
        return (slice(k, min(k + size, len(self))) for k in range(0, max(len(self), 1), size))

    def to_dense(self):
        """Zeros, and what is stored."""
        dense = np.zeros((len(self), self.width))
        dense[self.table.owner, self.table.columns] = self.table.values
        dense[:, self.table.shape[1] :] = self.intercept * self.shrink[:, None]
        return dense

    def max_abs(self):
        """Of what is stored."""
        top = np.zeros(len(self))
        np.maximum.at(top, self.table.owner, np.abs(self.table.values))
        return top

    def gram(self, h):
        """Piece by piece, dense."""
        blocks = [(self.take(part).to_dense(), h[part]) for part, _ in self._pieces()]
        return sum((x.T @ (k[:, None] * x) for x, k in blocks), np.zeros((self.width,) * 2))

    def moment(self):
        """Piece by piece, with what rounding takes from them."""
        total, lost = np.zeros((2, self.width, self.width))
        for part, _ in self._pieces():
            block = self.take(part).to_dense()
            add(total, lost, block.T @ block)
        return total + lost

    def image_norms(self, matrix, in_place):
        """As any table that can be made dense, a few rows at a time."""
        return image_norms(self, matrix, in_place)

    def rough(self):
        """The same."""
        return self

    def in_double(self):
        """They are."""
        return self

    def reach(self):
        """The norms."""
        return self.norms

    def units_of_scores(self, w):
        """One for each number that is added."""
        return (self.width + 8.0) * float(np.linalg.norm(w))

    def careful_dot(self, high, low):
        """Twofold, piece by piece."""
        blocks = (self.take(part).to_dense() for part, _ in self._pieces())
        pairs = [_twofold.dot(block, (high, low)) for block in blocks]
        return np.concatenate([a + b for a, b in pairs] or [np.zeros((0, *high.shape[1:]))])

    def careful_tdot(self, u):
        """Twofold, piece by piece."""
        total, lost = np.zeros((2, self.width, *u.shape[1:]))
        for part, _ in self._pieces():
            block = self.take(part).to_dense()
            high, low = _twofold.dot(block.T, (u[part], np.zeros_like(u[part])))
            total, error = _twofold.two_sum(total, high)
            lost += error + low
        return total, lost
