"""No penalty, the lasso's L1 norm, ridge's squared L2 norm, and the elastic net (Zou and Hastie 2005)."""

from dataclasses import dataclass

import numpy as np

from ._penalty import Array, Penalty, check_at_least, soft_threshold

__all__ = ["L1", "L2", "ElasticNet", "NoPenalty"]


@dataclass(frozen=True)
class NoPenalty(Penalty):
    """0 everywhere.

    See Also
    --------
    L2 : Ridge.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.penalties import NoPenalty
    >>> NoPenalty().prox(np.array([3.0, -0.5]), step=1.0)
    array([ 3. , -0.5])
    """

    smooth = True
    separable = True

    def value(self, w: Array) -> float:
        """Penalty at ``w``."""
        return 0.0

    def prox(self, w: Array, step: float) -> Array:
        """``w`` itself."""
        return np.array(w)

    def gradient(self, w: Array) -> Array:
        """Zeros."""
        return np.zeros_like(w)


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


@dataclass(frozen=True)
class L2(Penalty):
    """``strength/2 * |w|^2``.

    Parameters
    ----------
    strength : float >= 0
        Weight against the sum of the losses: 1/C of scikit-learn.

    See Also
    --------
    L2Ball : The constrained form.
    ElasticNet : With some L1.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.penalties import L2
    >>> L2(strength=3.0).prox(np.array([2.0, -4.0]), step=1.0)
    array([ 0.5, -1. ])
    >>> L2(strength=3.0).convexity
    3.0
    """

    smooth = True
    separable = True
    strength: float = 1.0

    def __post_init__(self) -> None:
        check_at_least("strength", self.strength, 0.0)

    @property
    def convexity(self) -> float:
        """Modulus of strong convexity: the strength."""
        return float(self.strength)

    def value(self, w: Array) -> float:
        """Penalty at ``w``."""
        return float(0.5 * self.strength * np.square(w).sum())

    def prox(self, w: Array, step: float) -> Array:
        """Shrink towards 0."""
        return w / float(1.0 + step * self.strength)

    def gradient(self, w: Array) -> Array:
        """``strength * w``."""
        return w * float(self.strength)


@dataclass(frozen=True)
class ElasticNet(Penalty):
    """``strength * (l1_ratio |w|_1 + (1 - l1_ratio)/2 |w|^2)``.

    Parameters
    ----------
    strength : float >= 0
        Weight against the sum of the losses: 1/C of scikit-learn.
    l1_ratio : float in [0, 1]
        Share of the L1 norm: 1 is the lasso, 0 is ridge.

    See Also
    --------
    L1 : ``l1_ratio=1``.
    L2 : ``l1_ratio=0``.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.penalties import ElasticNet
    >>> ElasticNet(strength=2.0, l1_ratio=0.5).prox(np.array([3.0, -0.5]), step=1.0)
    array([1., 0.])
    >>> ElasticNet(strength=2.0, l1_ratio=0.5).convexity
    1.0
    """

    separable = True
    strength: float = 1.0
    l1_ratio: float = 0.5

    def __post_init__(self) -> None:
        check_at_least("strength", self.strength, 0.0)
        if not 0.0 <= self.l1_ratio <= 1.0:
            raise ValueError(
                f"l1_ratio must be in [0, 1], got {self.l1_ratio!r}; 1 is the lasso, 0 is ridge."
            )

    @property
    def smooth(self) -> bool:
        """True if ``gradient`` exists everywhere: without L1 only."""
        return self._l1 == 0.0

    @property
    def convexity(self) -> float:
        """Modulus of strong convexity: the weight of the squared norm."""
        return self._l2

    @property
    def _l1(self) -> float:
        return float(self.strength * self.l1_ratio)

    @property
    def _l2(self) -> float:
        return float(self.strength * (1.0 - self.l1_ratio))

    def value(self, w: Array) -> float:
        """Penalty at ``w``."""
        return float(self._l1 * np.abs(w).sum() + 0.5 * self._l2 * np.square(w).sum())

    def prox(self, w: Array, step: float) -> Array:
        """Soft threshold, then shrink."""
        return soft_threshold(w, step * self._l1) / float(1.0 + step * self._l2)

    def gradient(self, w: Array) -> Array:
        """Gradient; only without L1."""
        return w * self._l2 if self.smooth else super().gradient(w)
