"""Squared L2 norm with a strength for each block of coefficients: of the layers of a network."""

from dataclasses import dataclass

import numpy as np

from ._penalty import Array, Penalty, check_at_least

__all__ = ["L2Blocks"]


@dataclass(frozen=True)
class L2Blocks(Penalty):
    """Sum over blocks of consecutive coefficients of ``strength/2 * |block|^2``.

    Parameters
    ----------
    strengths : tuple of float >= 0
        Weight of each block against the sum of the losses, 0 for none.
    sizes : tuple of int
        How many coefficients each block has; the last one has all that are left. Empty: one block.

    See Also
    --------
    L2 : One strength for all.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.penalties import L2Blocks
    >>> L2Blocks(strengths=(3.0, 0.0), sizes=(1, 2)).prox(np.array([2.0, -4.0, 1.0]), step=1.0)
    array([ 0.5, -4. ,  1. ])
    """

    smooth = True
    separable = True
    strengths: tuple[float, ...] = (1.0,)
    sizes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for strength in self.strengths:
            check_at_least("strengths", strength, 0.0)
        if len(self.strengths) != max(1, len(self.sizes)):
            raise ValueError(
                f"{len(self.strengths)} strengths and {len(self.sizes)} sizes were given; give one of each for a block."
            )

    @property
    def convexity(self) -> float:
        """Modulus of strong convexity: the least strength."""
        return float(min(self.strengths))

    def value(self, w: Array) -> float:
        """Penalty at ``w``."""
        blocks = np.split(w, self._ends())
        parts = zip(self.strengths, blocks, strict=True)
        return float(sum(0.5 * strength * np.square(block).sum() for strength, block in parts))

    def prox(self, w: Array, step: float) -> Array:
        """Shrink towards 0."""
        return self._times(w, [1.0 / (1.0 + step * strength) for strength in self.strengths])

    def gradient(self, w: Array) -> Array:
        """Return the gradient: each block times its strength."""
        return self._times(w, list(self.strengths))

    def _ends(self) -> Array:
        """Return the ends of all blocks but the last."""
        return np.cumsum(self.sizes[:-1], dtype=np.intp)

    def _times(self, w: Array, factors: list[float]) -> Array:
        out = np.array(w)
        for block, factor in zip(np.split(out, self._ends()), factors, strict=True):
            block *= float(factor)
        return out
