"""Least squares with a penalty of absolute values and squares, and with coefficients that may be kept nonnegative."""

from abc import abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from ..fitting import Plan, Sizes
from ..fitting.data import Array
from ..penalties import L1, L2, ElasticNet, NonNegative, NoPenalty, Penalty
from ._several import SeveralTargets

__all__ = ["WithSigns"]


class WithSigns(SeveralTargets):
    """Base class of the regressors whose coefficients may be kept from being negative.

    Parameters
    ----------
    positive : bool, default=False
        Whether no coefficient but the intercept may be negative. It costs nothing: what noisy moments say is brought to
        such coefficients.
    """

    positive: bool = False

    @abstractmethod
    def _pulls(self, sizes: Sizes) -> tuple[ArrayLike, ArrayLike]:
        """Return the strengths of absolute values and of half of the squares: numbers, or one for each target."""

    def _penalty(self, sizes: Sizes) -> Penalty:
        return self._penalties(sizes)[0]

    def _penalties(self, sizes: Sizes) -> list[Penalty]:
        pulls = np.broadcast_arrays(*map(np.atleast_1d, self._pulls(sizes)))
        return [self._netted(float(a), float(s)) for a, s in zip(*pulls)]

    def _netted(self, absolute: float, squared: float) -> Penalty:
        """Return the penalty with these strengths of absolute values and of half of the squares."""
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
