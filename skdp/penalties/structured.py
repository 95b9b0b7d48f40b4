"""Penalties of groups of coefficients.

The group lasso (Yuan and Lin 2006), a squared L2 norm with a strength for each block (the layers of a network), and the
nuclear norm (coefficient matrices of low rank).
"""

from dataclasses import dataclass

import numpy as np

from ._penalty import Array, Penalty, check_at_least

__all__ = ["GroupLasso", "L2Blocks", "Nuclear"]


@dataclass(frozen=True)
class GroupLasso(Penalty):
    """``strength`` times the sum over groups of the group's L2 norm.

    Parameters
    ----------
    strength : float >= 0
        Weight against the sum of the losses. Groups of any size weigh the same.
    groups : sequence of int
        Group number of each feature, 0, 1, ... With several outputs a group holds the rows of its
        features whole. Empty: each feature is a group of its own.

    See Also
    --------
    L1 : Groups of one feature.
    Nuclear : Low rank instead of few groups.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.penalties import GroupLasso
    >>> GroupLasso(strength=2.5, groups=(0, 0, 1)).prox(np.array([3.0, 4.0, 1.0]), step=1.0)
    array([1.5, 2. , 0. ])
    """

    strength: float = 1.0
    groups: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        check_at_least("strength", self.strength, 0.0)
        groups = tuple(int(group) for group in self.groups)
        if any(group < 0 for group in groups):
            raise ValueError(
                f"groups must be numbers of 0 or more, got {min(groups)}; number them 0, 1, ..."
            )
        object.__setattr__(self, "groups", groups)

    def value(self, w: Array) -> float:
        """Penalty at ``w``."""
        return float(self.strength * self._norms(w)[0].sum())

    def prox(self, w: Array, step: float) -> Array:
        """Shrink the norm of each group by ``step * strength``."""
        norms, members = self._norms(w)
        threshold = float(step * self.strength)
        kept = 1.0 - threshold / np.maximum(norms, threshold) if threshold else np.ones_like(norms)
        return w * kept.astype(w.dtype)[members].reshape((-1,) + (1,) * (w.ndim - 1))

    def _norms(self, w: Array) -> tuple[Array, Array]:
        members = np.array(self.groups, dtype=np.intp) if self.groups else np.arange(len(w))
        if len(members) != len(w):
            raise ValueError(
                f"groups numbers {len(members)} features where the coefficients have {len(w)}; "
                "give one group number for each feature."
            )
        squares = np.square(w, dtype=np.float64).reshape(len(w), -1).sum(axis=1)
        return np.sqrt(np.bincount(members, weights=squares)), members


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


@dataclass(frozen=True)
class Nuclear(Penalty):
    """``strength`` times the sum of the singular values of a coefficient matrix (d, K).

    Parameters
    ----------
    strength : float >= 0
        Weight against the sum of the losses.

    See Also
    --------
    GroupLasso : Few features instead of low rank.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.penalties import Nuclear
    >>> w = np.diag([3.0, 0.5])
    >>> shrunk = Nuclear(strength=1.0).prox(w, step=1.0)
    >>> np.linalg.matrix_rank(w), np.linalg.matrix_rank(shrunk)
    (np.int64(2), np.int64(1))
    """

    strength: float = 1.0

    def __post_init__(self) -> None:
        check_at_least("strength", self.strength, 0.0)

    def value(self, w: Array) -> float:
        """Penalty at ``w``."""
        _check_matrix(w)
        return float(self.strength * np.linalg.svd(w, compute_uv=False).sum())

    def prox(self, w: Array, step: float) -> Array:
        """Soft threshold of the singular values (Cai, Candes and Shen 2010)."""
        _check_matrix(w)
        left, singular, right = np.linalg.svd(w, full_matrices=False)
        return (left * np.maximum(singular - float(step * self.strength), 0.0)) @ right


def _check_matrix(w: Array) -> None:
    if w.ndim != 2:
        raise ValueError(
            f"The nuclear norm needs a coefficient matrix, got an array of {w.ndim} dimension(s); use it with several "
            "outputs, or l1 with one."
        )
