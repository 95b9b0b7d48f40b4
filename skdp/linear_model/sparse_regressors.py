"""Private least squares with zeros: the lasso and the elastic net, with scikit-learn's interface."""

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from ..fitting import Sizes
from ..fitting._fields import parameter
from ..fitting._parameters import or_open
from ..fitting.regressor import ALPHA_OF_SEVERAL, BOUNDS_OF_SEVERAL_OR_NONE
from ..penalties import Penalty
from ._linear_regressor import (
    POSITIVE,
    Y_BOUNDS_OF_SEVERAL,
    LinearRegressor,
    column_square,
    penalties_of_targets,
    public_count,
)

__all__ = ["DPElasticNet", "DPLasso"]


def _sparse_coef(model: Any) -> Any:
    """The coefficients without their zeros."""
    return csr_array(np.atleast_2d(model.coef_))


class DPLasso(LinearRegressor):
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

    Attributes
    ----------
    sparse_coef_ : sparse array of shape (1, n_features) or (n_targets, n_features)
        The same coefficients without their zeros.

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

    alpha: ArrayLike | None = parameter(None, rule=or_open(ALPHA_OF_SEVERAL))
    positive: bool = parameter(False, POSITIVE)
    y_bounds: ArrayLike | None = parameter(None, Y_BOUNDS_OF_SEVERAL, BOUNDS_OF_SEVERAL_OR_NONE)
    _several: ClassVar[bool] = True
    sparse_coef_ = property(_sparse_coef)

    def _penalties(self, sizes: Sizes) -> Sequence[Penalty]:
        if self.alpha is None:
            return penalties_of_targets(math.sqrt(column_square(sizes)), 0.0, self.positive)
        alpha = np.asarray(self.alpha) * public_count(self, sizes.n)
        return penalties_of_targets(alpha / sizes.unit, 0.0, self.positive)


class DPElasticNet(LinearRegressor):
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

    Attributes
    ----------
    sparse_coef_ : sparse array of shape (1, n_features) or (n_targets, n_features)
        The same coefficients without their zeros.

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
    alpha: ArrayLike | None = parameter(None, rule=or_open(ALPHA_OF_SEVERAL))
    positive: bool = parameter(False, POSITIVE)
    y_bounds: ArrayLike | None = parameter(None, Y_BOUNDS_OF_SEVERAL, BOUNDS_OF_SEVERAL_OR_NONE)
    _several: ClassVar[bool] = True
    sparse_coef_ = property(_sparse_coef)

    def _penalties(self, sizes: Sizes) -> Sequence[Penalty]:
        if self.l1_ratio is None:
            raise ValueError(
                "l1_ratio=None leaves the shares of both penalties open; 0.5 is half and half."
            )
        ratio = float(self.l1_ratio)
        if self.alpha is None:
            square = column_square(sizes)
            lasso, ridge = ratio * math.sqrt(square), (1.0 - ratio) * square
            return penalties_of_targets(lasso, ridge, self.positive)
        alpha = np.asarray(self.alpha) * public_count(self, sizes.n)
        absolute = alpha * ratio / sizes.unit
        return penalties_of_targets(absolute, alpha * (1.0 - ratio), self.positive)
