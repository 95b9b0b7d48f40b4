"""Principal components that stand out of the noise, by a private second moment."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..fitting import Stage
from ..fitting.data import rows_times
from ..mechanisms import Public
from ._cells import Array
from ._row_moment import MomentTransformer, RowMoment

__all__ = ["DPPCA"]

CONSTANT = (
    0.25  # column beside a row of norm at most 1, whose products with the others are the mean
)
POWER = 0.25  # half way to whitening, whose power is a half: short components hold less, and more of the noise
TYPICAL = 0.75  # of the typical norm, beyond which a row is scaled down: most rows are as long as the price allows


class Components(RowMoment):
    """The mean, components and their variances, those first that vary most, as rows of one array."""

    def made_of(self, moment: Array, error: float) -> Array:
        """Return the mean, the components and their variances.

        Components lie in the directions of the moment about zero whose eigenvalues noise alone would not reach; the
        largest direction is kept in any case.

        Only directions of the moment about zero whose eigenvalues noise alone would not reach are kept.
        """
        values, vectors = _above(moment[:-1, :-1], error)
        mean = (
            moment[:-1, -1] @ vectors / CONSTANT
        )  # where it is seen: elsewhere there is more noise than mean
        variances, turned = _above(np.diag(values) - np.outer(mean, mean), error)
        found = np.vstack([vectors @ mean, (vectors @ turned).T])
        return np.column_stack([found, np.append(0.0, variances)])


def _above(matrix: Array, least: float) -> tuple[Array, Array]:
    """Eigenvalues above the least one and their vectors, the largest first; the largest in any case."""
    values, vectors = np.linalg.eigh(matrix)
    count = max(1, int(np.count_nonzero(values > least)))
    return np.maximum(values[::-1][:count], 1e-12), vectors[:, ::-1][:, :count]


class DPPCA(MomentTransformer):
    """Buy mean and second moment of the rows, and keep their principal components as far as noise lets them be seen.

    Rows are centred, turned to the components whose variance is larger than noise alone would show, each divided by the
    fourth root of its variance, and scaled to norm 1 or less. Columns that say much the same (pixels, genes, words)
    become a few that do not: an estimator behind it has fewer weights to hide, and steps suit all of them.

    Parameters
    ----------
    epsilon : float, default=0.1
        Privacy loss that is promised.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features,)
        Private mean of the rows over ``data_norm``.
    components_ : ndarray of shape (n_components_, n_features)
        Private directions, of norm 1, those first along which rows vary most.
    explained_variance_ : ndarray of shape (n_components_,)
        Private variances along them, of rows over ``data_norm``, noise included.
    n_components_ : int
        How many are seen: one at least.

    See Also
    --------
    DPWhitener : Keeps all directions, and columns as they are named.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.preprocessing import DPPCA
    >>> rng = np.random.default_rng(0)
    >>> X = 5.0 + rng.normal(size=(20_000, 2)) @ rng.normal(size=(2, 30))
    >>> model = DPPCA(epsilon=1.0, data_norm=40.0, random_state=0).fit(X)
    >>> model.n_components_, model.transform(X).shape
    (2, (20000, 2))
    """

    mean_: Array = field(init=False)
    components_: Array = field(init=False)
    explained_variance_: Array = field(init=False)
    n_components_: int = field(init=False)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the components: dppca0, dppca1 and so on.

        Parameters
        ----------
        input_features : object, default=None
            Ignored.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        return np.array([f"dppca{k}" for k in range(self.n_components_)], dtype=object)

    def _public(self, n: int | None, n_features: int) -> Public:
        return replace(super()._public(n, n_features), intercept=CONSTANT)

    def _stage(self) -> Stage:
        return Components(float(self.data_norm))

    def _store(self, w: Array) -> None:
        self.mean_, self.components_ = w[0, :-1], w[1:, :-1]
        self.explained_variance_, self.n_components_ = w[1:, -1], len(w) - 1

    def _mapped(self, x: Array) -> Array:
        stretch = self.explained_variance_**-POWER
        typical = np.sqrt(np.square(stretch) @ self.explained_variance_)
        rows = rows_times(self._inside(x) - self.mean_, self.components_.T * stretch)
        return self._within_one(rows / (TYPICAL * typical))
