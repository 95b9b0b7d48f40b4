"""Least squares of several targets: one fit for each target, all within one budget, each with its penalty."""

from typing import Any, ClassVar

import numpy as np

from ..entry import Facts
from ..fitting import Plan, Sizes
from ..fitting.data import Array
from ..mechanisms import Public
from ..solvers import Task
from ._linear_regressor import LinearRegressor

__all__ = ["SeveralTargets"]


class SeveralTargets(LinearRegressor):
    """Base class of the regressors that predict several targets of a record, the columns of ``y``, within one budget.

    Parameters
    ----------
    y_bounds : pair of float, or list of them
        Public bounds on the target, ``(low, high)``, or on each of several; targets beyond are cut to them. They must
        be declared.
    """

    _several: ClassVar[bool] = True
    _one_column: ClassVar[tuple[int, ...]] = (-1,)  # shape of `coef_` where y is a table of one

    def _strengths(self) -> int:
        """Return the number of targets for which penalties are given: 1 for all."""
        return int(np.size(getattr(self, "alpha", 1.0)))

    def _outputs(self, n_classes: int | None = None) -> int:
        return max(super()._outputs(n_classes), self._strengths())

    def _stated(self, sizes: Sizes) -> tuple[Public, Task]:
        bounds = super()._outputs()
        if bounds > 1:
            self._refuse_unlike(bounds)
        return super()._stated(sizes)

    def _outputs_of(self, facts: Facts) -> int:
        outputs = super()._outputs_of(facts)
        self._refuse_unlike(outputs)
        return outputs

    def _refuse_unlike(self, targets: int) -> None:
        """Refuse a number of penalties that differs from the number of targets, in scikit-learn's words."""
        if self._strengths() not in (1, targets):
            raise ValueError(
                f"Number of targets and number of penalties do not correspond: {self._strengths()} != {targets}; give "
                "one alpha, or one for each target."
            )

    def _store(self, w: Array, plan: Plan) -> None:
        super()._store(w, plan)
        if self._column and w.ndim == 1:
            self.coef_ = self.coef_.reshape(self._one_column)
            self.intercept_ = np.atleast_1d(self.intercept_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags
