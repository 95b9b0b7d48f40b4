"""Private least squares with scikit-learn's interface: ridge regression, and linear regression without a penalty."""

from collections.abc import Sequence
from dataclasses import field
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from ..fitting import Sizes
from ..fitting._fields import attribute, parameter
from ..fitting._parameters import or_open
from ..fitting.data import Array
from ..fitting.regressor import ALPHA_OF_SEVERAL, BOUNDS_OF_SEVERAL_OR_NONE
from ..mechanisms import JointMoments
from ..penalties import Penalty
from ._intervals import COEF_STD_, conf_int, keep_estimates
from ._linear_regressor import (
    POSITIVE,
    Y_BOUNDS_OF_SEVERAL,
    LinearRegressor,
    column_square,
    penalties_of_targets,
)

__all__ = ["DPLinearRegression", "DPRidge"]


class DPRidge(LinearRegressor):
    """Ridge regression with (epsilon, delta)-differential privacy.

    Minimises ``sum((y - x.w - b)^2) + alpha |w|^2``, as scikit-learn does, by a solver that only ever sees private
    answers. The privacy statement of a fit is in ``privacy_``.

    Parameters
    ----------
    alpha : float or array-like of shape (n_targets,), default=None
        Strength of the penalty, relative to the SUM of squared residuals, or one of each target; the intercept is free.
        None: ``data_norm**2 / n_features``, which is to rows of that norm what scikit-learn's 1 is to columns of
        variance 1.

    See Also
    --------
    DPLinearRegression : Without a penalty.

    Notes
    -----
    Scikit-learn's ``max_iter`` and ``tol`` have no effect, and its solvers mean "auto": how long a fit runs may not
    depend on the data. Several targets, the columns of ``y``, are so many fits that share the budget.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp import DPRidge
    >>> X = np.random.default_rng(0).uniform(-1, 1, (5000, 3))
    >>> y = X @ [3.0, -2.0, 1.0] + 10.0
    >>> model = DPRidge(epsilon=1.0, y_bounds=(4.0, 16.0), data_norm=1.8, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9), bool(model.privacy_.epsilon <= 1.0)
    (True, True)
    """

    alpha: ArrayLike | None = parameter(None, rule=or_open(ALPHA_OF_SEVERAL))
    positive: bool = parameter(False, POSITIVE)
    y_bounds: ArrayLike | None = parameter(None, Y_BOUNDS_OF_SEVERAL, BOUNDS_OF_SEVERAL_OR_NONE)
    coef_std_: Array = attribute(COEF_STD_)
    _estimated: tuple[Any, ...] = field(init=False)
    _several: ClassVar[bool] = True
    _listens: ClassVar[Any] = JointMoments
    conf_int = conf_int
    _follow = keep_estimates

    def _penalties(self, sizes: Sizes) -> Sequence[Penalty]:
        alpha = column_square(sizes) if self.alpha is None else self.alpha
        return penalties_of_targets(0.0, alpha, self.positive)


class DPLinearRegression(LinearRegressor):
    """Linear least squares with (epsilon, delta)-differential privacy.

    See Also
    --------
    DPRidge : With a penalty.

    Notes
    -----
    Coefficients are drawn towards 0 where noise hides them: less at a larger epsilon, and without noise not at all.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp import DPLinearRegression
    >>> X = np.random.default_rng(0).uniform(-1, 1, (5000, 3))
    >>> model = DPLinearRegression(epsilon=4.0, y_bounds=(4.0, 16.0), data_norm=1.8, random_state=0)
    >>> model.fit(X, X @ [3.0, -2.0, 1.0] + 10.0).coef_.round()
    array([ 3., -2.,  1.])
    """

    positive: bool = parameter(False, POSITIVE)
    y_bounds: ArrayLike | None = parameter(None, Y_BOUNDS_OF_SEVERAL, BOUNDS_OF_SEVERAL_OR_NONE)
    coef_std_: Array = attribute(COEF_STD_)
    _estimated: tuple[Any, ...] = field(init=False)
    _several: ClassVar[bool] = True
    _listens: ClassVar[Any] = JointMoments
    conf_int = conf_int
    _follow = keep_estimates

    _one_column: ClassVar[tuple[int, ...]] = (1, -1)  # as scikit-learn's

    def _penalties(self, sizes: Sizes) -> Sequence[Penalty]:
        return penalties_of_targets(0.0, 0.0, self.positive)
