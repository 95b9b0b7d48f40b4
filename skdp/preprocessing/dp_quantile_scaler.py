"""Columns by their private quantiles, with no range declared."""

from __future__ import annotations

import math
from dataclasses import field

import numpy as np

from ..fitting import Stage
from ._bought import BoughtTransformer
from ._cells import Array
from ._column_scales import ColumnMasses
from ._masses import knots_of

__all__ = ["DPQuantileScaler"]


class DPQuantileScaler(BoughtTransformer):
    """Buy where the numbers of all columns lie from one noisy histogram, and map each to its share of smaller ones.

    The histogram is that of `DPBounds`, at the same price. A number goes to twice the share of the records below it,
    less 1, along a curve that is straight within an octave; a column in which nothing stands out of the noise is seen
    by its sign. For heavy tails; for linear models `DPBounds` does as well or better, and curves are as coarse as
    octaves where columns live far from zero.

    Attributes
    ----------
    quantiles_ : list of (ndarray, ndarray)
        For each column, private ends of octaves and the shares of records below them; both empty where it is seen by
        its sign.
    row_norm_ : float
        1: the norm of a row that leaves, for a private estimator's ``data_norm``.

    See Also
    --------
    DPBounds : Bounds alone.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.preprocessing import DPQuantileScaler
    >>> X = np.random.default_rng(0).lognormal(sigma=2.0, size=(20_000, 1))
    >>> scaler = DPQuantileScaler(epsilon=0.5, random_state=0).fit(X)
    >>> bool(abs(np.median(scaler.transform(X))) < 0.05)  # the median is 1
    True
    """

    quantiles_: list[tuple[Array, Array]] = field(init=False)

    @property
    def row_norm_(self) -> float:
        """Bound on the norm of transformed rows: 1, since each row is divided by the largest norm it may have."""
        return 1.0

    def _stage(self) -> Stage:
        return ColumnMasses()

    def _store(self, w: Array) -> None:
        self.quantiles_ = [knots_of(masses) for masses in w]

    def _mapped(self, x: Array) -> Array:
        rows = np.empty_like(x)
        for j, (numbers, shares) in enumerate(self.quantiles_):
            cells = x[:, j]
            if len(numbers):
                # Halved: a difference of two doubles may overflow.
                inside = np.clip(cells, numbers[0], numbers[-1]) / 2.0
                rows[:, j] = 2.0 * np.interp(inside, numbers / 2.0, shares) - 1.0
            else:
                rows[:, j] = np.sign(cells)
        rows[np.isnan(x)] = 0.0
        return rows / (math.sqrt(self.n_features_in_) * (1.0 + 1e-15))
