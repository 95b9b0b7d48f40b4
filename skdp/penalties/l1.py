"""L1 norm: the lasso."""

from dataclasses import dataclass

import numpy as np

from ._penalty import Array, Penalty, check_at_least, soft_threshold

__all__ = ["L1"]


@dataclass(frozen=True)
class L1(Penalty):
    """``strength * |w|_1``.

    Parameters
    ----------
    strength : float >= 0
        Weight against the sum of the losses: 1/C of scikit-learn.

    See Also
    --------
    L1Ball : The constrained form.
    ElasticNet : With some ridge.
    SCAD : Without shrinking large coefficients.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.penalties import L1
    >>> L1(strength=1.0).prox(np.array([3.0, -0.5]), step=1.0)
    array([2., 0.])
    """

    separable = True
    strength: float = 1.0

    def __post_init__(self) -> None:
        check_at_least("strength", self.strength, 0.0)

    def value(self, w: Array) -> float:
        """Penalty at ``w``."""
        return float(self.strength * np.abs(w).sum())

    def prox(self, w: Array, step: float) -> Array:
        """Soft threshold at ``step * strength``."""
        return soft_threshold(w, step * self.strength)
