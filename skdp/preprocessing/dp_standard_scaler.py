"""Private means and deviations of all columns, with no range declared."""

from __future__ import annotations

import math
from dataclasses import field
from typing import ClassVar

import numpy as np

from ..fitting.data import affine_of
from ..mechanisms._octaves import to_unit
from ._bought import BoughtScales
from ._cells import Array

__all__ = ["DPStandardScaler"]

# Rows of standardised columns have a norm of about the root of their number; the longest ones are cut.
LONGEST = 1.25


class DPStandardScaler(BoughtScales):
    """Buy bounds, means and deviations of all columns, and standardise rows to a norm of at most 1.

    Two noisy answers, half of the budget each: the histogram of `DPBounds`, and sums and squares within the bounds that
    it shows. It pays where columns live far from zero, such as years; about zero `DPBounds` does as well for less.

    Attributes
    ----------
    mean_, scale_ : ndarray of shape (n_features,)
        Private means and deviations, in the units of the columns; 0 and 1 where it is seen by its sign.

    See Also
    --------
    DPBounds : Bounds alone.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.preprocessing import DPStandardScaler
    >>> years = np.random.default_rng(0).normal(1950.0, 20.0, size=(50_000, 1))
    >>> scaler = DPStandardScaler(epsilon=1.0, random_state=0).fit(years)
    >>> bool(abs(scaler.mean_[0] - 1950.0) < 5.0)
    True
    """

    moments: ClassVar[bool] = True

    mean_: Array = field(init=False)
    scale_: Array = field(init=False)
    _centre: Array = field(init=False)
    _spread: Array = field(init=False)

    def _store(self, w: Array) -> None:
        super()._store(w)
        self._centre, self._spread = np.asarray(w[:, 2]), np.asarray(w[:, 3])
        low, high = self.bounds_.T
        signs = low == high
        half = np.where(signs, 1.0, high / 2 - low / 2)
        self.mean_ = np.clip(low / 2 + high / 2 + self._centre * half, low, high)
        self.scale_ = self._spread * half

    def _affine(self) -> tuple[Array, Array]:
        """Return slope and shift of the map of each column, for numbers and rows that are not clipped."""
        norm = LONGEST * math.sqrt(self.n_features_in_)
        slope, shift = affine_of(self.bounds_)
        return slope / self._spread / norm, (shift - self._centre) / self._spread / norm

    def _mapped(self, x: Array) -> Array:
        standard = (to_unit(x, *self.bounds_.T) - self._centre) / self._spread
        standard[np.isnan(x)] = 0.0
        standard /= LONGEST * math.sqrt(self.n_features_in_)
        norms = np.sqrt(np.einsum("ij,ij->i", standard, standard))
        slack = 1.0 + (x.shape[1] + 8.0) * np.finfo(np.float64).eps
        return standard / np.maximum(norms * slack, 1.0)[:, None]
