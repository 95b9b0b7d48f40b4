"""Bounds on norms of coefficients: L1, L2, and the largest singular value of each layer's matrix."""

from dataclasses import dataclass

import numpy as np

from ._penalty import Array, Penalty, check_at_least, indicator
from ._scaled import Ball
from .norms import ElasticNet

__all__ = ["Box", "L1Ball", "L2Ball", "NonNegative", "SpectralBalls"]


@dataclass(frozen=True)
class Box(Penalty):
    """Bounds [low, high] on each coefficient; ``Box(0, inf)`` keeps them from being negative.

    Parameters
    ----------
    low, high : float
        Bounds; either may be infinite.

    See Also
    --------
    L2Ball : A bound of the norm.
    L1Ball : A bound that gives zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.penalties import Box
    >>> Box(0.0, np.inf).prox(np.array([-2.0, 3.0]), step=1.0)
    array([0., 3.])
    >>> Box(-1.0, 1.0).vertex(np.array([2.0, -1.0]))
    array([-1.,  1.])
    """

    separable = True
    low: float = -1.0
    high: float = 1.0

    def __post_init__(self) -> None:
        if not self.low <= self.high or not (self.low < np.inf and self.high > -np.inf):
            raise ValueError(
                f"low must be at most high, got low={self.low!r} and high={self.high!r}; "
                "give the smaller one first."
            )

    @property
    def bounded(self) -> bool:
        """True if both bounds are finite."""
        return bool(np.isfinite(self.low) and np.isfinite(self.high))

    def value(self, w: Array) -> float:
        """0 inside, infinity outside, where outside means more than rounding can explain."""
        w = np.asarray(w)
        slack = np.sqrt(np.finfo(w.dtype if w.dtype.kind == "f" else float).eps)
        low, high = (0.0 if np.isinf(end) else slack * abs(end) for end in (self.low, self.high))
        inside = np.all(w >= self.low - low) and np.all(w <= self.high + high)
        return 0.0 if inside else np.inf

    def prox(self, w: Array, step: float) -> Array:
        """Projection."""
        return np.clip(w, float(self.low), float(self.high))

    def vertex(self, direction: Array) -> Array:
        """Minimiser of ``<direction, u>`` over the box, if it is bounded."""
        if not self.bounded:
            return super().vertex(direction)
        corner = np.where(direction > 0, float(self.low), float(self.high))
        return corner.astype(direction.dtype)


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


@dataclass(frozen=True)
class L1Ball(Ball):
    """``|w|_1 <= radius``, over all entries.

    Parameters
    ----------
    radius : float > 0
        Bound of the L1 norm.

    See Also
    --------
    L1 : The penalised form.
    skdp.solvers.FrankWolfe : The solver that goes from vertex to vertex.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.penalties import L1Ball
    >>> L1Ball(radius=1.0).prox(np.array([2.0, 1.5, 0.0]), step=1.0)
    array([0.75, 0.25, 0.  ])
    >>> L1Ball(radius=1.0).vertex(np.array([0.5, -2.0]))
    array([0., 1.])
    """

    def value(self, w: Array) -> float:
        """0 inside, infinity outside."""
        return indicator(np.abs(w).sum(), self.radius, w.dtype)

    def prox(self, w: Array, step: float) -> Array:
        """Projection: soft threshold at the level that leaves the norm at the radius.

        Found by sorting, O(d log d) (Duchi, Shalev-Shwartz, Singer and Chandra 2008). It works on
        the gaps below the largest entry, so that a small radius is not lost in large entries.
        """
        size = np.abs(w, dtype=np.float64)
        if size.sum() <= self.radius:
            return np.array(w)
        gaps = size.max() - size
        ordered = np.sort(gaps, axis=None)
        left = (np.cumsum(ordered) + self.radius) / np.arange(1, ordered.size + 1)
        left_of_largest = left[np.flatnonzero(ordered < left)[-1]]
        return np.copysign(np.maximum(left_of_largest - gaps, 0.0), w).astype(w.dtype)

    def vertex(self, direction: Array) -> Array:
        """Corner of the ball against the largest entry of ``direction``."""
        corner = np.zeros_like(direction)
        at = np.argmax(np.abs(direction))
        corner.flat[at] = np.copysign(self.radius, -direction.flat[at])
        return corner


@dataclass(frozen=True)
class L2Ball(Ball):
    """``|w|_2 <= radius``, over all entries.

    Parameters
    ----------
    radius : float > 0
        Bound of the L2 norm.

    See Also
    --------
    L2 : The penalised form.
    Box : A bound on each coefficient.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.penalties import L2Ball
    >>> L2Ball(radius=1.0).prox(np.array([3.0, 4.0]), step=1.0)
    array([0.6, 0.8])
    """

    def value(self, w: Array) -> float:
        """0 inside, infinity outside."""
        return indicator(float(np.linalg.norm(w)), self.radius, w.dtype)

    def prox(self, w: Array, step: float) -> Array:
        """Projection: scale down to the radius."""
        return w * min(1.0, float(self.radius) / max(float(np.linalg.norm(w)), self.radius))

    def vertex(self, direction: Array) -> Array:
        """Point of the sphere against ``direction``; the centre if that is 0."""
        norm = float(np.linalg.norm(direction))
        return direction * (-float(self.radius) / norm if norm > 0.0 else 0.0)


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
