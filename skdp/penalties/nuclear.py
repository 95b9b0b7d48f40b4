"""Nuclear norm: coefficient matrices of low rank."""

from dataclasses import dataclass

import numpy as np

from ._penalty import Array, Penalty, check_at_least

__all__ = ["Nuclear"]


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
