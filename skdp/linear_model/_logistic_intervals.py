"""Intervals for coefficients of a logistic model, from what a whitened objective has released.

Privacy: post-processing. The estimates in the middle are not `coef_`, which a ridge has shrunk, but what is left when
that is given back; where it is much beside the width, none are given.
"""

import math
import warnings
from contextlib import suppress
from dataclasses import field
from typing import Any

import numpy as np

from ..exceptions import NotSupported
from ..fitting import Plan
from ..fitting.data import Array, frames_to_caller
from ..solvers import Budget
from ._levels import NONE, ROUGH, quantile
from ._linear import LinearClassifier

__all__ = ["WithLogisticIntervals"]

# What is given back over the standard error, from which intervals are rough, and refused (docs/intervals.md).
_MUCH, _MOST = 2.0, 3.0


class WithLogisticIntervals(LinearClassifier):
    """Base class of logistic regression with two classes: it states the errors of coefficients from sampling and noise.

    Attributes
    ----------
    coef_std_ : ndarray of shape (1, n_features)
        Standard errors, of sampling and of noise, of the estimates in the middle of `conf_int`: of a logistic model
        without a penalty. NaN where slopes are clipped, and where answers do not tell.
    """

    coef_std_: Array = field(init=False)
    _estimated: tuple[Any, ...] = field(init=False)

    def _store(self, w: Array, plan: Plan) -> None:
        super()._store(w, plan)
        self.coef_std_ = np.full(self.coef_.shape, math.nan)
        self._estimated = self.coef_std_, math.nan, math.nan

    def _follow(
        self, answers: list[tuple[Any, Array]], plan: Plan, w: Array, budget: Budget
    ) -> None:
        """Estimates on the user's scale."""
        if not answers or w.ndim > 1:
            return
        with np.errstate(all="ignore"), suppress(np.linalg.LinAlgError):
            found = plan.solver.unshrunk(answers, w, plan.public, plan.task, budget)
            if found is None:
                return
            kept = slice(plan.public.n_features)
            self.coef_std_ = found.deviation[None, kept] / plan.data_norm
            back = np.max(np.abs(found.given_back[kept]) / found.deviation[kept])
            self._estimated = found.w[None, kept] / plan.data_norm, found.ratio, float(back)

    def conf_int(self, level: float = 0.95) -> Array:
        """Confidence intervals of coefficients, for sampling and noise together, at no further cost.

        They are for the logistic model of records whose rows are bounded as declared, without a penalty, and rest on
        its log-odds being linear. Slopes of losses may not be clipped: ``solver=WhiteObjective(clip=1.0)``. Each holds
        by itself.

        Parameters
        ----------
        level : float, default=0.95
            Share of intervals, over samples and noise, that hold the coefficient.

        Returns
        -------
        ndarray of shape (1, n_features, 2)
            Lower and upper ends.

        Examples
        --------
        >>> import numpy as np
        >>> from skdp import DPLogisticRegression
        >>> from skdp.solvers import WhiteObjective
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(-1, 1, (20_000, 3))
        >>> y = rng.logistic(size=20_000) < X @ [2.0, -1.0, 0.5]
        >>> given = {"data_norm": 1.8, "classes": [False, True], "random_state": 0}
        >>> model = DPLogisticRegression(epsilon=2.0, solver=WhiteObjective(clip=1.0), **given).fit(X, y)
        >>> low, high = model.conf_int(0.99)[0].T
        >>> bool(((low < [2, -1, 0.5]) & ([2, -1, 0.5] < high)).all())
        True
        """
        reach = quantile(level) * self.coef_std_
        center, ratio, back = self._estimated
        _refuse_or_warn(ratio, back)
        return np.stack([center - reach, center + reach], axis=-1)


def _refuse_or_warn(ratio: float, back: float) -> None:
    if math.isnan(ratio):
        raise NotSupported(
            "conf_int needs two classes, rows of equal weight, and an objective of unclipped losses in whitened "
            "coordinates; use solver=WhiteObjective(clip=1.0)."
        )
    if ratio > NONE or not back <= _MOST:
        hidden = (
            "Noise hides a direction of the rows"
            if ratio > NONE
            else "Privacy and the penalty shrink a coefficient by more than three standard errors"
        )
        raise NotSupported(
            f"{hidden}, so no interval would have its nominal coverage; use more records, fewer or less collinear "
            "columns, a larger epsilon, or a weaker penalty."
        )
    if ratio > ROUGH or back > _MUCH:
        warnings.warn(
            "Noise is more than half of the shortest direction of the rows, or a coefficient is shrunk by more than "
            "two standard errors: intervals are rough.",
            UserWarning,
            stacklevel=frames_to_caller(),
        )
