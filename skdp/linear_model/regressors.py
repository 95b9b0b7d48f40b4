"""Private linear regression with scikit-learn's interface.

Least squares, with and without a penalty (ridge, lasso, elastic net), and losses that a few far targets hardly move:
Huber's, and that of a quantile.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from ..fitting import OPEN, Corner, Sizes
from ..fitting._fields import attribute, parameter
from ..fitting._parameters import or_open
from ..fitting.auto import is_auto
from ..fitting.data import Array
from ..fitting.regressor import ALPHA_OF_SEVERAL, BOUNDS_OF_SEVERAL_OR_NONE
from ..losses import Huber, Loss, QuantileHuber
from ..mechanisms import JointMoments
from ..penalties import L1, L2, NoPenalty, Penalty
from ._intervals import COEF_STD_, INTERVAL_ALPHA_, conf_int, keep_estimates
from ._linear_regressor import (
    POSITIVE,
    Y_BOUNDS_OF_SEVERAL,
    LinearRegressor,
    OtherEpsilon,
    column_square,
    penalties_of_targets,
    public_count,
)

__all__ = [
    "DPElasticNet",
    "DPHuberRegressor",
    "DPLasso",
    "DPLinearRegression",
    "DPQuantileRegressor",
    "DPRidge",
]


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
    interval_alpha_: float = attribute(INTERVAL_ALPHA_)
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
    interval_alpha_: float = attribute(INTERVAL_ALPHA_)
    _estimated: tuple[Any, ...] = field(init=False)
    _several: ClassVar[bool] = True
    _listens: ClassVar[Any] = JointMoments
    conf_int = conf_int
    _follow = keep_estimates

    _one_column: ClassVar[tuple[int, ...]] = (1, -1)  # as scikit-learn's

    def _penalties(self, sizes: Sizes) -> Sequence[Penalty]:
        return penalties_of_targets(0.0, 0.0, self.positive)


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


TYPICAL = 0.1  # residual, in halves of the range of targets, where none is estimated
# Scikit-learn's is 1 or more, 1.35 where nothing is said, and seldom 2.
OTHER = OtherEpsilon("HuberRegressor", "threshold", 1.0, 2.0)
CORNER = Corner(slope=1.25, widest=0.02, descent=0.02, loud=0.02)


class DPHuberRegressor(LinearRegressor):
    """Huber regression with (epsilon, delta)-differential privacy; `HuberRegressor`'s epsilon is ``threshold``.

    Minimises ``sum(h(y - x.w - b)) + alpha |w|^2``, where h is the square up to ``threshold`` and straight beyond.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy loss that is promised, and not what scikit-learn calls so in its `HuberRegressor`: that is the threshold
        here. ``inf`` adds no noise and is not private.
    threshold : float, default=None
        Residual from which the loss is a straight line, in units of the target. Noise is in proportion to it: take
        about a typical residual, and `DPRidge` rather than one near the width of ``y_bounds``. None: 1.35 standard
        deviations of the residuals that the first of two phases leaves, down to 0.7 where noise is high; a twentieth of
        the width of ``y_bounds`` with a solver other than ``"two-phase"``, or without an intercept.
        Scikit-learn estimates such a unit from the data: its fit is that of ``threshold=epsilon * scale_`` and
        ``alpha=alpha * scale_``.
    alpha : float, default=1e-4
        Strength of the penalty, relative to the SUM of losses; the intercept is free.

    See Also
    --------
    DPQuantileRegressor : The median, and other quantiles.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp import DPHuberRegressor
    >>> X = np.random.default_rng(0).uniform(-1, 1, (5000, 3))
    >>> model = DPHuberRegressor(epsilon=4.0, threshold=0.5, y_bounds=(4.0, 16.0), data_norm=1.8, random_state=0)
    >>> model.fit(X, X @ [3.0, -2.0, 1.0] + 10.0).coef_.round()
    array([ 3., -2.,  1.])
    """

    epsilon: float = parameter(1.0, rule=OTHER.rule("epsilon"))
    threshold: float | None = None
    alpha: float = 1e-4

    def _doubts(self) -> Iterator[str]:
        yield from super()._doubts()
        yield from OTHER.doubts(self)

    def _by_residuals(self) -> bool:
        return self.threshold is None

    def _threshold(self) -> float:
        """Return the threshold for targets in [-1, 1]; where residuals tell, an open one is not used."""
        return TYPICAL if self.threshold is None else self._in_halves("threshold")

    def _sharp(self) -> bool:
        """Return True if nothing hides the corner: there is no noise, and residuals may lie beyond it."""
        given = self.threshold is not None and self._threshold() < 1.0
        return is_auto(self.solver) and math.isinf(self.epsilon) and given

    def _loss(self) -> Loss:
        """A sharp one in the unit of its straight lines: there is a way from blunt corners to sharp ones."""
        threshold = self._threshold()
        return QuantileHuber(0.5, 2.0 * threshold) if self._sharp() else Huber(threshold)

    def _penalties(self, sizes: Sizes) -> list[Penalty]:
        unit = 2.0 * self._threshold() if self._sharp() else 1.0
        return [L2(float(self.alpha) / unit) if self.alpha else NoPenalty()]


class DPQuantileRegressor(LinearRegressor):
    """Quantile regression with (epsilon, delta)-differential privacy.

    Minimises ``mean(pinball(y - x.w - b)) + alpha |w|_1``, as scikit-learn does, with the kink of the pinball loss
    rounded over a part of half of the declared range, which vanishes with the noise.

    Parameters
    ----------
    quantile : float, default=0.5
        Between 0 and 1.
    alpha : float, default=0.0
        Strength of the L1 penalty, relative to the MEAN of losses; the intercept is free. Above 0 it needs ``n_public``
        under ``neighbors="add_remove"``. Scikit-learn's default is 1, which hardly leaves a coefficient. The mean is
        over records: of weights, give such with a mean of 1, as scikit-learn makes of any.
    smoothing : float, default=None
        How far the kink is rounded, in halves of the declared range. What lies nearer than that to the quantile counts
        by how far it lies; less of it is nearer to scikit-learn's fit, and needs a larger epsilon. None: by the noise
        level, at most 0.02, and without noise 1e-9.

    See Also
    --------
    DPHuberRegressor : Between the mean and the median.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp import DPQuantileRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (5000, 3))
    >>> y = X @ [3.0, -2.0, 1.0] + 10.0 + rng.normal(size=5000)
    >>> model = DPQuantileRegressor(epsilon=4.0, quantile=0.9, y_bounds=(0.0, 20.0), data_norm=1.8, random_state=0)
    >>> bool(0.85 < (y < model.fit(X, y).predict(X)).mean() < 0.95)
    True
    """

    quantile: float = 0.5
    alpha: float = 0.0
    smoothing: float | None = None

    def _corner(self) -> Corner | None:
        return CORNER if self.smoothing is None else None

    def _loss(self) -> Loss:
        width = OPEN if self.smoothing is None else float(self.smoothing)
        return QuantileHuber(float(self.quantile), width)

    def _penalties(self, sizes: Sizes) -> list[Penalty]:
        return [L1(float(self.alpha) * public_count(self, sizes.n)) if self.alpha else NoPenalty()]
