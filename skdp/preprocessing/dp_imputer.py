"""Private medians in the place of what is missing."""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar

import numpy as np

from ..fitting import Stage
from ._bought import BoughtTransformer
from ._cells import Array
from ._column_scales import ColumnMasses
from ._masses import median_of

__all__ = ["DPImputer"]


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
