"""What least squares have in common: a penalty of absolute values and of squares, and signs that may be asked for."""

import numpy as np

from ..fitting import Plan
from ..fitting.data import Array
from ..penalties import L1, L2, ElasticNet, NonNegative, NoPenalty, Penalty
from ._linear_regressor import LinearRegressor

__all__ = ["WithSigns"]


class WithSigns(LinearRegressor):
    """Of those whose coefficients may be kept from being negative.

    Parameters
    ----------
    positive : bool, default=False
        Whether no coefficient but the intercept may be negative. It costs nothing: what noisy moments say is brought to
        such coefficients.
    """

    positive: bool = False

    def _netted(self, absolute: float, squared: float) -> Penalty:
        """So much of the absolute values, and so much of half of the squares."""
        whole = absolute + squared
        share = absolute / whole if whole else 0.0
        if self.positive:
            return NonNegative(whole, share)
        if not whole:
            return NoPenalty()
        if absolute and squared:
            return ElasticNet(whole, share)
        return L1(whole) if absolute else L2(whole)

    def _store(self, w: Array, plan: Plan) -> None:
        super()._store(w, plan)
        if self.positive:  # noise at the end of a fit may have made them negative again
            self.coef_ = np.maximum(self.coef_, 0.0)
