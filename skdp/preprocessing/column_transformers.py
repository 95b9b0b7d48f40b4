"""Transformers that estimate scales of columns privately, with no range declared.

`DPBounds` estimates bounds, `DPImputer` medians in the place of what is missing, `DPQuantileScaler` quantiles and
`DPStandardScaler` means and deviations.
"""

from __future__ import annotations

import math
from dataclasses import field
from typing import ClassVar

import numpy as np

from ..fitting import Stage
from ..fitting.data import Array, affine_of
from ..mechanisms._octaves import to_unit
from ._transformer import BoughtScales, BoughtTransformer, ColumnMasses, knots_of, median_of

__all__ = ["DPBounds", "DPImputer", "DPQuantileScaler", "DPStandardScaler"]


class DPBounds(BoughtScales):
    """Buy bounds for all columns from one noisy histogram, and scale rows to a norm of at most 1.

    No range has to be declared, not even a wide one: the bins are the octaves of the doubles, from 1e-308 to 1e308
    with both signs. Bounds are powers of two beyond which about 1 % of a column lies, and columns go to [-1, 1] between
    them; a column in which nothing stands out of the noise is seen by its sign. Where bounds are public, declare them:
    that is free (`BoundsScaler`).

    See Also
    --------
    BoundsScaler : Declared bounds, for nothing.
    DPStandardScaler : Means and deviations besides.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.preprocessing import DPBounds
    >>> X = np.random.default_rng(0).uniform(size=(20_000, 2)) * [1e-6, 3e9]
    >>> scaler = DPBounds(epsilon=0.5, random_state=0).fit(X)
    >>> bool((X.max(axis=0) <= scaler.bounds_[:, 1]).all()), scaler.bounds_[1].tolist()
    (True, [16777216.0, 4294967296.0])
    >>> float(np.linalg.norm(scaler.transform([[1.0, -1e300]]))) <= 1.0
    True
    """

    def _affine(self) -> tuple[Array, Array]:
        """Return slope and shift of the map of each column, for numbers within their bounds."""
        norm = math.sqrt(self.n_features_in_) * (1.0 + 1e-15)
        slope, shift = affine_of(self.bounds_)
        return slope / norm, shift / norm

    def _mapped(self, x: Array) -> Array:
        return to_unit(x, *self.bounds_.T) / (math.sqrt(self.n_features_in_) * (1.0 + 1e-15))


class DPImputer(BoughtTransformer):
    """Buy medians of all columns from one noisy histogram, and put them where a number is missing.

    The histogram is that of `DPBounds`: no range has to be declared, and medians are as fine as octaves. Columns keep
    their units. What is no number, and what is infinite, is missing. Where a public number will do, scikit-learn's
    ``SimpleImputer(strategy="constant")`` is free.

    Attributes
    ----------
    statistics_ : ndarray of shape (n_features,)
        Private medians of what is not missing; 0 where nothing stands out of the noise.

    See Also
    --------
    BoundsScaler : Puts what is missing at a declared place, for nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.preprocessing import DPImputer
    >>> ages = np.random.default_rng(0).uniform(17.0, 90.0, size=(20_000, 1))
    >>> ages[::3] = np.nan
    >>> imputer = DPImputer(epsilon=0.5, random_state=0).fit(ages)
    >>> bool(45.0 < imputer.transform([[np.nan]])[0, 0] < 62.0)
    True
    """

    _cells: ClassVar[str] = "finite"
    statistics_: Array = field(init=False)

    def _stage(self) -> Stage:
        return ColumnMasses()

    def _store(self, w: Array) -> None:
        self.statistics_ = np.array([median_of(masses) for masses in w])

    def _mapped(self, x: Array) -> Array:
        return np.where(np.isnan(x), self.statistics_, x)


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
