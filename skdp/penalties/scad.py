"""Penalties that flatten out.

Smoothly clipped absolute deviation (Fan and Li 2001), and the minimax concave penalty (Zhang 2010).
"""

from dataclasses import dataclass

import numpy as np

from ._penalty import Array, Penalty, check_at_least, soft_threshold

__all__ = ["MCP", "SCAD"]


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


@dataclass(frozen=True)
class SCAD(Penalty):
    """``weight * p(w)`` with Fan and Li's p of lambda = ``strength / weight``.

    It grows like the lasso up to lambda, bends until a lambda, and is constant from there: large
    coefficients are not shrunk.

    Parameters
    ----------
    strength : float >= 0
        Slope at 0, as of the lasso: weight against the sum of the losses.
    a : float > 2
        Where it becomes constant, in units of lambda.
    weight : float > 0
        Number of records, if p was meant beside the MEAN of the losses: unlike a norm, n p is no p
        of another lambda. At 1, with the strengths that a sum of many losses needs, lambda is out
        of reach of the coefficients and the penalty is the lasso.

    See Also
    --------
    MCP : Bends from the start.
    L1 : The convex one.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.penalties import SCAD
    >>> SCAD(1.0, a=3.7).prox(np.array([0.5, 3.0, 5.0]), step=1.0).round(3)  # large ones stay
    array([0.   , 2.588, 5.   ])
    """

    separable = True
    strength: float = 1.0
    a: float = 3.7
    weight: float = 1.0

    def __post_init__(self) -> None:
        check_at_least("strength", self.strength, 0.0)
        check_at_least("a", self.a, 2.0, strictly=True)
        check_at_least("weight", self.weight, 0.0, strictly=True)

    @property
    def convexity(self) -> float:
        """Modulus of weak convexity: the steepest bend, between lambda and a lambda."""
        return -float(self.weight) / (float(self.a) - 1.0)

    def value(self, w: Array) -> float:
        """Penalty at ``w``."""
        a, knee = float(self.a), float(self.strength) / float(self.weight)
        size = np.minimum(np.abs(w), a * knee)
        beyond = np.maximum(size - knee, 0.0)
        return float(self.weight * (knee * size - beyond**2 / (2.0 * (a - 1.0))).sum())

    def prox(self, w: Array, step: float) -> Array:
        """Minimiser over u of ``value(u) + |u - w|^2 / (2 step)``; refuses too large a step."""
        self.check_step(step)
        a, knee, step = float(self.a), float(self.strength / self.weight), float(step * self.weight)
        size = np.abs(w)
        bent = soft_threshold(w, step * a * knee / (a - 1.0)) / (1.0 - step / (a - 1.0))
        near = size <= knee * (1.0 + step)
        return np.where(near, soft_threshold(w, step * knee), np.where(size <= a * knee, bent, w))
