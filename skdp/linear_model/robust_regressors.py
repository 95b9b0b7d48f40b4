"""Private regression by losses that a few far targets hardly move: Huber's, and that of a quantile."""

import math
from collections.abc import Iterator

from ..fitting import OPEN, Corner, Sizes
from ..fitting._fields import parameter
from ..fitting.auto import is_auto
from ..losses import Huber, Loss, QuantileHuber
from ..penalties import L1, L2, NoPenalty, Penalty
from ._linear_regressor import LinearRegressor, OtherEpsilon, public_count

__all__ = ["DPHuberRegressor", "DPQuantileRegressor"]

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
