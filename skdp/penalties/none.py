"""Absence of a penalty."""

from dataclasses import dataclass

import numpy as np

from ._penalty import Array, Penalty

__all__ = ["NoPenalty"]


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
