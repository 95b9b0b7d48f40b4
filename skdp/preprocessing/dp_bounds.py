"""Private bounds of all columns, with no range declared."""

from __future__ import annotations

import math

from ..fitting.data import affine_of
from ..mechanisms._octaves import to_unit
from ._bought import BoughtScales
from ._cells import Array

__all__ = ["DPBounds"]


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
