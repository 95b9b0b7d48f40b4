"""Private support vector regression and Poisson regression, with scikit-learn's interface."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..exceptions import NotSupported
from ..fitting import OPEN, Corner, Plan, Sizes
from ..fitting._fields import parameter
from ..fitting._parameters import RULES, Rule, or_open
from ..fitting.data import Array
from ..losses import EpsilonInsensitive, Loss, Poisson, SquaredEpsilonInsensitive
from ..mechanisms import Public
from ..penalties import L2, NoPenalty, Penalty
from ..solvers import Task
from ._linear_regressor import (
    LinearRegressor,
    OtherEpsilon,
    column_square,
    public_count,
)

__all__ = ["DPLinearSVR", "DPPoissonRegressor"]

_NAMES = "epsilon_insensitive", "squared_epsilon_insensitive"
LOSS: Rule = (
    lambda value: isinstance(value, str) and value in _NAMES,
    f"is not known; use {_NAMES[0]!r} or {_NAMES[1]!r}",
)

# Scikit-learn's is 0 where nothing is said, and that of its SVR 0.1.
OTHER = OtherEpsilon("LinearSVR", "margin", 0.0, 0.25)
CORNER = Corner(slope=2.5, widest=0.05, descent=0.05, loud=0.02)


class DPLinearSVR(LinearRegressor):
    """Linear support vector regression with (epsilon, delta)-differential privacy; `LinearSVR`'s epsilon is ``margin``.

    Minimises ``C * sum(max(|y - x.w - b| - margin, 0)) + |w|^2 / 2``, with the corner of the loss rounded over a
    part of half of the declared range, which vanishes with the noise; or the same of squares, which have no corner.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy loss that is promised, and not what scikit-learn calls so in its `LinearSVR`: that is the margin here.
        ``inf`` adds no noise and is not private.
    margin : float, default=None
        Residual that costs nothing, in units of the target; None stands for 0.
    C : float, default=None
        Inverse strength of the penalty, relative to the SUM of losses; the intercept is free, which that of
        scikit-learn's `LinearSVR` is not. None follows the scales of targets and rows: for bounds ``(low, high)`` of
        targets it is ``(high - low) / 2 * n_features / data_norm**2``. With ``y_bounds=None`` a given C is relative to
        targets on [-1, 1] if the price of the solver depends on it, so that no price follows from the bought bounds.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        What of a residual exceeds the margin, or its square. The slope of a square has no bound and is clipped: where
        noise is high, a few far targets count as if they were nearer.
    smoothing : float, default=None
        How far the corner is rounded, in halves of the declared range; less of it needs a larger epsilon. None: by the
        noise level, at most 0.05, and without noise 1e-9.

    See Also
    --------
    DPHuberRegressor : Squares for small residuals, in place of nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp import DPLinearSVR
    >>> X = np.random.default_rng(0).uniform(-1, 1, (5000, 3))
    >>> model = DPLinearSVR(epsilon=4.0, margin=0.2, y_bounds=(4.0, 16.0), data_norm=1.8, random_state=0)
    >>> y = X @ [3.0, -2.0, 1.0] + 10.0
    >>> bool(model.fit(X, y).score(X, y) > 0.9)
    True
    """

    epsilon: float = parameter(1.0, rule=OTHER.rule("epsilon"))
    margin: float | None = None
    C: float | None = parameter(None, rule=or_open(RULES["C"]))
    loss: str = parameter("epsilon_insensitive", rule=LOSS)
    smoothing: float | None = None

    def _doubts(self) -> Iterator[str]:
        yield from super()._doubts()
        yield from OTHER.doubts(self)

    def _squared(self) -> bool:
        return self.loss == "squared_epsilon_insensitive"

    def _corner(self) -> Corner | None:
        return CORNER if self.smoothing is None and not self._squared() else None

    def _loss(self) -> Loss:
        margin = self._in_halves("margin") if self.margin else 0.0
        if self._squared():
            return SquaredEpsilonInsensitive(margin)
        return EpsilonInsensitive(margin, OPEN if self.smoothing is None else float(self.smoothing))

    def _penalties(self, sizes: Sizes) -> list[Penalty]:
        if self.C is None:
            return [L2(column_square(sizes))]
        unit = 1.0 if self._squared() else float(sizes.unit)  # squares are of the scale of |w|^2
        return [L2(unit / float(self.C)) if math.isfinite(self.C) else NoPenalty()]

    def _problem(self, sizes: Sizes) -> tuple[Public, Task]:
        public, task = super()._problem(sizes)
        if self._squared() and self.smoothing is not None:
            told = f"smoothing={self.smoothing} is only used when loss='epsilon_insensitive'."
            task = replace(task, ignored=(told,))
        return public, task


class DPPoissonRegressor(LinearRegressor):
    """Poisson regression with (epsilon, delta)-differential privacy.

    Minimises ``mean(exp(x.w + b) - y (x.w + b)) + alpha |w|^2 / 2``, as scikit-learn does: the logarithm of the mean is
    linear, and ``coef_`` and ``intercept_`` belong to it.

    Parameters
    ----------
    alpha : float, default=None
        Strength of the penalty, relative to the MEAN of losses; the intercept is free. Above 0 it needs ``n_public``
        under ``neighbors="add_remove"``. The mean is over records: of weights, give such with a mean of 1, as
        scikit-learn makes of any. None: ``data_norm**2 / n_features`` over the SUM of losses, counts in units of the
        largest: next to nothing. With ``y_bounds=None`` a given alpha is relative to such counts, too, if the price of
        the solver depends on it.
    y_bounds : pair of float, default=None
        Public bounds on the target, ``(0, high)``; targets beyond are cut to them. Declare them where you know them:
        that is free. None buys the upper one, for a twentieth of the budget in mu squared at most.

    See Also
    --------
    DPRidge : For the mean itself.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp import DPPoissonRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (20000, 2))
    >>> y = rng.poisson(np.exp(X @ [1.0, -0.5] + 0.5))
    >>> model = DPPoissonRegressor(epsilon=4.0, alpha=0.0, y_bounds=(0, 15), data_norm=1.5, random_state=0)
    >>> bool(np.abs(model.fit(X, y).coef_ - [1.0, -0.5]).max() < 0.2)
    True
    """

    alpha: float | None = parameter(None, rule=or_open(RULES["alpha"]))
    _from_zero: ClassVar[bool] = True

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not self.fit_intercept:
            raise NotSupported(
                "fit_intercept=False is not supported by DPPoissonRegressor, whose unit of counts is in the intercept; "
                "use True."
            )
        low = 0.0 if self.y_bounds is None else float(np.asarray(self.y_bounds)[0])
        if low != 0.0:
            raise ValueError(
                f"y_bounds must start at 0 for counts, got {low:g}; declare (0, high)."
            )

    def _loss(self) -> Loss:
        return Poisson()

    def _penalties(self, sizes: Sizes) -> list[Penalty]:
        if self.alpha is None:
            return [L2(column_square(sizes))]
        if not self.alpha:
            return [NoPenalty()]
        # Of counts in units of the largest, the loss is so many times smaller.
        return [L2(float(self.alpha) * public_count(self, sizes.n) / (2.0 * float(sizes.unit)))]

    def _units(self) -> tuple[float, float]:
        """Return the logarithm of the unit of counts, which is in the intercept, and 1: scores are logarithms."""
        return math.log(2.0 * float(self._scale()[1])), 1.0

    def _store(self, w: Array, plan: Plan) -> None:
        super()._store(w, plan)
        self.intercept_ = float(self.intercept_)

    def _predicted(self, X: ArrayLike) -> Array:
        found = super()._predicted(X)
        most = 0.98 * math.log(float(np.finfo(found.dtype).max))
        return np.exp(np.minimum(found, found.dtype.type(most)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags
