"""No penalty, the lasso's L1 norm, ridge's squared L2 norm, and the elastic net (Zou and Hastie 2005).

Penalties that flatten out.

Smoothly clipped absolute deviation (Fan and Li 2001), and the minimax concave penalty (Zhang 2010).

Penalties of groups of coefficients.

The group lasso (Yuan and Lin 2006), a squared L2 norm with a strength for each block (the layers of a network), and the
nuclear norm (coefficient matrices of low rank).
"""

from dataclasses import dataclass

import numpy as np

from ._penalty import Array, Penalty, check_at_least, soft_threshold

__all__ = [
    "L1",
    "L2",
    "MCP",
    "SCAD",
    "ElasticNet",
    "GroupLasso",
    "L2Blocks",
    "NoPenalty",
    "Nuclear",
]


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
