"""Coefficients that are not negative, and an elastic net of these."""

from dataclasses import dataclass

import numpy as np

from ._penalty import Array, Penalty, check_at_least
from .elastic_net import ElasticNet

__all__ = ["NonNegative"]


@dataclass(frozen=True)
class NonNegative(Penalty):
    """An elastic net of coefficients that are 0 or more, and infinity for others.

    Parameters
    ----------
    strength : float >= 0
        Weight against the sum of the losses: 1/C of scikit-learn; 0 leaves the signs alone.
    l1_ratio : float in [0, 1]
        Share of the L1 norm: 1 is the lasso, 0 is ridge.

    See Also
    --------
    ElasticNet : For coefficients of either sign.
    Box : For bounds of other sizes.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.penalties import NonNegative
    >>> NonNegative(strength=2.0, l1_ratio=0.5).prox(np.array([3.0, -0.5]), step=1.0)
    array([1., 0.])
    >>> NonNegative().value(np.array([1.0, -1.0]))
    inf
    """

    separable = True
    strength: float = 0.0
    l1_ratio: float = 0.0

    def __post_init__(self) -> None:
        check_at_least("strength", self.strength, 0.0)
        self._net()  # refuses a share that is none

    def _net(self) -> ElasticNet:
        return ElasticNet(self.strength, self.l1_ratio)

    @property
    def convexity(self) -> float:
        """Modulus of strong convexity: the weight of the squared norm."""
        return self._net().convexity

    def value(self, w: Array) -> float:
        """Penalty at ``w``; infinite where a coefficient is negative."""
        return self._net().value(w) if np.all(np.asarray(w) >= 0.0) else np.inf

    def prox(self, w: Array, step: float) -> Array:
        """Return the prox of the elastic net at the coefficients with negative ones set to 0."""
        return self._net().prox(np.maximum(w, 0.0), step)
