"""Group lasso (Yuan and Lin 2006)."""

from dataclasses import dataclass

import numpy as np

from ._penalty import Array, Penalty, check_at_least

__all__ = ["GroupLasso"]


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
