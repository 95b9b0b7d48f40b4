"""Rows of about the same length in all directions, by a private second moment."""

from __future__ import annotations

import math
from dataclasses import field

import numpy as np

from ..fitting import Stage
from ..fitting.data import rows_times
from ._cells import Array
from ._row_moment import MomentTransformer, RowMoment

__all__ = ["DPWhitener"]

LEAST = 1e-3  # of the largest possible eigenvalue: shorter directions are not stretched further
LONGEST = 1.25  # typical norms of a whitened row, beyond which it is scaled down


class Whitening(RowMoment):
    """The symmetric matrix that whitens rows, with a floor below which noise would be stretched."""

    def made_of(self, moment: Array, error: float) -> Array:
        """Roots of what is longer than the floor."""
        values, vectors = np.linalg.eigh(moment)
        floor = 0.5 * error + LEAST
        return np.asarray((vectors / np.sqrt(np.maximum(values, 0.0) + floor)) @ vectors.T)


class DPWhitener(MomentTransformer):
    """Buy the second moment of the rows, and stretch them until no direction is longer than another.

    Correlated columns become columns that are not, and short ones as long as the others, as far as the noise lets the
    moment be seen. ``solver="auto"`` of a linear classifier does this by itself: as a step it serves other solvers and
    other estimators. Rows are not centred.

    Parameters
    ----------
    epsilon : float, default=0.1
        Privacy loss that is promised.

    Attributes
    ----------
    whitening_ : ndarray of shape (n_features, n_features)
        The private matrix that rows are multiplied by; symmetric.

    See Also
    --------
    DPPCA : Centres rows, and leaves out the directions that noise hides.
    DPBounds : Bounds of columns where none are known, to put before it.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.preprocessing import DPWhitener
    >>> shared = np.random.default_rng(0).normal(size=(20_000, 1))
    >>> X = np.hstack([shared, shared + 0.3 * np.random.default_rng(1).normal(size=(20_000, 1))]) / 5
    >>> rows = DPWhitener(epsilon=1.0, random_state=0).fit_transform(X)
    >>> bool(np.corrcoef(X.T)[0, 1] > 0.9 and abs(np.corrcoef(rows.T)[0, 1]) < 0.4)
    True
    """

    whitening_: Array = field(init=False)

    def _stage(self) -> Stage:
        return Whitening(float(self.data_norm))

    def _store(self, w: Array) -> None:
        self.whitening_ = w

    def _mapped(self, x: Array) -> Array:
        rows = rows_times(self._inside(x), self.whitening_)
        return self._within_one(rows / (LONGEST * math.sqrt(x.shape[1])))
