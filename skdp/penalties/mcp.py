"""Minimax concave penalty (Zhang 2010)."""

from dataclasses import dataclass

import numpy as np

from ._penalty import Array, Penalty, check_at_least, soft_threshold

__all__ = ["MCP"]


@dataclass(frozen=True)
class MCP(Penalty):
    """``weight * p(w)`` with Zhang's p of lambda = ``strength / weight``.

    It bends from the start and is constant from gamma lambda: large coefficients are not shrunk.

    Parameters
    ----------
    strength : float >= 0
        Slope at 0, as of the lasso: weight against the sum of the losses.
    gamma : float > 1
        Where it becomes constant, in units of lambda.
    weight : float > 0
        Number of records, if p was meant beside the MEAN of the losses: see ``SCAD``.

    See Also
    --------
    SCAD : As steep as the lasso up to lambda.
    L1 : The convex one.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.penalties import L1, MCP
    >>> w = np.array([0.5, 2.0, 5.0])
    >>> L1(1.0).prox(w, step=1.0)
    array([0., 1., 4.])
    >>> MCP(1.0, gamma=3.0).prox(w, step=1.0)  # large coefficients stay
    array([0. , 1.5, 5. ])
    """

    separable = True
    strength: float = 1.0
    gamma: float = 3.0
    weight: float = 1.0

    def __post_init__(self) -> None:
        check_at_least("strength", self.strength, 0.0)
        check_at_least("gamma", self.gamma, 1.0, strictly=True)
        check_at_least("weight", self.weight, 0.0, strictly=True)

    @property
    def convexity(self) -> float:
        """Modulus of weak convexity: the bend between 0 and gamma lambda."""
        return -float(self.weight) / float(self.gamma)

    def value(self, w: Array) -> float:
        """Penalty at ``w``."""
        gamma, knee = float(self.gamma), float(self.strength) / float(self.weight)
        size = np.minimum(np.abs(w), gamma * knee)
        return float(self.weight * (knee * size - size**2 / (2.0 * gamma)).sum())

    def prox(self, w: Array, step: float) -> Array:
        """Minimiser over u of ``value(u) + |u - w|^2 / (2 step)``; refuses too large a step."""
        self.check_step(step)
        gamma, knee, step = (
            float(self.gamma),
            float(self.strength / self.weight),
            float(step * self.weight),
        )
        bent = soft_threshold(w, step * knee) / (1.0 - step / gamma)
        return np.where(np.abs(w) <= gamma * knee, bent, w)
