"""Matrices of bounded largest singular value: of the layers of a network, one after the other."""

from dataclasses import dataclass

import numpy as np

from ._penalty import Array, Penalty, check_at_least, indicator

__all__ = ["SpectralBalls"]


@dataclass(frozen=True)
class SpectralBalls(Penalty):
    """Largest singular value of each block's matrix at most its radius, and ``strength/2 * |block|^2`` besides.

    What Miyato, Kataoka, Koyama and Yoshida (2018), "Spectral normalization for generative adversarial networks",
    divide a matrix by is here a bound, which leaves those within it alone: the nearest matrix has its larger singular
    values cut.

    Parameters
    ----------
    radii : tuple of float > 0
        Bound of each block.
    shapes : tuple of (int, int)
        Rows and columns of each block's matrix, of consecutive coefficients. Empty: one block of a single column.
    strengths : tuple of float >= 0
        Weight of half the squared norm of each block against the sum of the losses. Empty: none.

    See Also
    --------
    L2Blocks : Without a bound.
    L2Ball : Of all coefficients.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.penalties import SpectralBalls
    >>> SpectralBalls(radii=(1.0,), shapes=((2, 2),)).prox(np.array([3.0, 0.0, 0.0, 0.5]), step=1.0)
    array([1. , 0. , 0. , 0.5])
    """

    radii: tuple[float, ...] = (1.0,)
    shapes: tuple[tuple[int, int], ...] = ()
    strengths: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for radius in self.radii:
            check_at_least("radii", radius, 0.0, strictly=True)
        for strength in self.strengths:
            check_at_least("strengths", strength, 0.0)
        blocks = max(1, len(self.shapes))
        if len(self.radii) != blocks or len(self.strengths) not in (0, blocks):
            raise ValueError(
                f"{len(self.radii)} radii, {len(self.strengths)} strengths and {len(self.shapes)} shapes were given; "
                "give one of each for a block."
            )

    @property
    def convexity(self) -> float:
        """Modulus of strong convexity: the least strength."""
        return float(min(self.strengths, default=0.0))

    def value(self, w: Array) -> float:
        """Penalty at ``w``; infinite beyond a bound."""
        total = 0.0
        for block, radius, strength in self._blocks(w):
            largest = float(np.linalg.norm(block, 2))
            total += 0.5 * strength * float(np.square(block).sum())
            total += indicator(largest, float(radius), w.dtype)
        return total

    def prox(self, w: Array, step: float) -> Array:
        """Shrink each block, then cut its singular values at the radius."""
        out = np.array(w)
        for block, radius, strength in self._blocks(out):
            block /= 1.0 + step * strength
            norm = float(np.linalg.norm(block))
            if norm > radius and np.isfinite(
                norm
            ):  # else no singular value is larger, or there are none
                left, singular, right = np.linalg.svd(block, full_matrices=False)
                block[:] = (left * np.minimum(singular, float(radius))) @ right
        return out

    def _blocks(self, w: Array) -> list[tuple[Array, float, float]]:
        """Views of the matrices, with their radii and strengths."""
        shapes = self.shapes or ((len(w), 1),)
        wanted = sum(rows * columns for rows, columns in shapes)
        if w.ndim != 1 or w.size != wanted:
            raise ValueError(
                f"SpectralBalls has matrices of {wanted} parameters in all, but the parameters have shape {w.shape}; "
                "give matching shapes."
            )
        ends = np.cumsum([rows * columns for rows, columns in shapes[:-1]], dtype=np.intp)
        parts = [part.reshape(shape) for part, shape in zip(np.split(w, ends), shapes, strict=True)]
        strengths = self.strengths or (0.0,) * len(parts)
        return list(zip(parts, self.radii, strengths, strict=True))
