"""Private least squares with zeros: the lasso and the elastic net, with scikit-learn's interface."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from ..fitting import Sizes
from ._linear_regressor import PenalisedRegressor, column_square
from ._signs import WithSigns

__all__ = ["DPElasticNet", "DPLasso"]


class _WithZeros(WithSigns, PenalisedRegressor):
    """Base class of the regressors whose coefficients are mostly 0.

    Attributes
    ----------
    sparse_coef_ : sparse array of shape (1, n_features) or (n_targets, n_features)
        The same coefficients without their zeros.
    """

    @property
    def sparse_coef_(self) -> Any:
        """The coefficients without their zeros."""
        return csr_array(np.atleast_2d(self.coef_))


class DPLasso(_WithZeros):
    """Lasso with (epsilon, delta)-differential privacy.

    Minimises ``sum((y - x.w - b)^2) / (2 n) + alpha |w|_1``, as scikit-learn does. The solver "two-phase" makes zeros
    of a fit without them, at no further cost: coefficients that noise alone could have made are 0 too.

    Parameters
    ----------
    alpha : float or array-like of shape (n_targets,), default=None
        Strength of the penalty, relative to half of the MEAN of squared residuals, or one of each target; the intercept
        is free. Under ``neighbors="add_remove"`` it needs ``n_public``. The mean is over records: of weights, give such
        with a mean of 1, as scikit-learn makes of any. None: next to nothing, so that zeros are those that noise asks
        for; scikit-learn's 1 leaves hardly a coefficient of rows of bounded norm.

    See Also
    --------
    DPElasticNet : With a ridge besides.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp import DPLasso
    >>> X = np.random.default_rng(0).uniform(-1, 1, (20000, 5))
    >>> model = DPLasso(epsilon=4.0, alpha=0.01, y_bounds=(5.0, 15.0), data_norm=2.3, random_state=0)
    >>> model.fit(X, X @ [3.0, 0.0, 0.0, -2.0, 0.0] + 10.0).coef_.round() != 0
    array([ True, False, False,  True, False])
    """

    def _pulls(self, sizes: Sizes) -> tuple[ArrayLike, ArrayLike]:
        if self.alpha is None:
            return math.sqrt(column_square(sizes)), 0.0
        return np.asarray(self.alpha) * self._records(sizes.n) / self._scale()[1], 0.0


class DPElasticNet(_WithZeros):
    """Elastic net with (epsilon, delta)-differential privacy.

    Minimises ``sum((y - x.w - b)^2) / (2 n) + alpha (l1_ratio |w|_1 + (1 - l1_ratio) |w|^2 / 2)``, as scikit-learn
    does.

    Parameters
    ----------
    alpha : float or array-like of shape (n_targets,), default=None
        Strength of the penalty, relative to half of the MEAN of squared residuals, or one of each target; the intercept
        is free. Under ``neighbors="add_remove"`` it needs ``n_public``. The mean is over records: of weights, give such
        with a mean of 1, as scikit-learn makes of any. None: next to nothing, so that zeros are those that noise asks
        for; scikit-learn's 1 leaves hardly a coefficient of rows of bounded norm.
    l1_ratio : float, default=0.5
        Share of L1; 1 is the lasso.

    See Also
    --------
    DPLasso : L1 alone.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp import DPElasticNet
    >>> X = np.random.default_rng(0).uniform(-1, 1, (20000, 5))
    >>> model = DPElasticNet(epsilon=4.0, alpha=0.01, y_bounds=(5.0, 15.0), data_norm=2.3, random_state=0)
    >>> model.fit(X, X @ [3.0, 0.0, 0.0, -2.0, 0.0] + 10.0).coef_.round() != 0
    array([ True, False, False,  True, False])
    """

    l1_ratio: float = 0.5

    def _pulls(self, sizes: Sizes) -> tuple[ArrayLike, ArrayLike]:
        if self.l1_ratio is None:
            raise ValueError(
                "l1_ratio=None leaves the shares of both penalties open; 0.5 is half and half."
            )
        ratio = float(self.l1_ratio)
        if self.alpha is None:
            square = column_square(sizes)
            return ratio * math.sqrt(square), (1.0 - ratio) * square
        alpha = np.asarray(self.alpha) * self._records(sizes.n)
        return alpha * ratio / self._scale()[1], alpha * (1.0 - ratio)
