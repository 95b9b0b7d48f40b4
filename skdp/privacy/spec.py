"""Privacy specification: epsilon, delta, and what counts as one change of the data."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, field

__all__ = ["NEIGHBORS", "Spec", "check_delta", "check_epsilon", "check_neighbors"]

NEIGHBORS = ("replace_one", "add_remove")


def check_neighbors(neighbors: str) -> str:
    """Return ``neighbors`` if it names a relation skdp knows, else refuse."""
    if neighbors not in NEIGHBORS:
        raise ValueError(
            f"neighbors={neighbors!r} is not a relation; use 'replace_one' (n is public) or "
            "'add_remove' (n is private)."
        )
    return neighbors


def check_epsilon(epsilon: float) -> float:
    """Return ``epsilon`` as a float in (0, inf], else refuse."""
    if not _is_number(epsilon) or not float(epsilon) > 0:
        raise ValueError(
            f"epsilon={epsilon!r} must be a positive number; use float('inf') for no privacy."
        )
    return float(epsilon)


def check_delta(delta: float) -> float:
    """Return ``delta`` as a float in [0, 1), else refuse."""
    if not _is_number(delta) or not 0 <= float(delta) < 1:
        raise ValueError(
            f"delta={delta!r} must lie in [0, 1); choose it well below 1/n, for example 1e-6."
        )
    return float(delta)


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


@dataclass(frozen=True)
class Spec:
    """A promise of (epsilon, delta)-differential privacy under one neighbour relation.

    Parameters
    ----------
    epsilon : float
        In (0, inf]; ``inf`` promises nothing.
    delta : float
        In [0, 1).
    neighbors : {"replace_one", "add_remove"}
        Which pairs of data sets must be indistinguishable: one record replaced (n public) or one
        record added or removed (n private).

    Attributes
    ----------
    private : bool
        Whether anything is promised at all.

    See Also
    --------
    Ledger : Keeps a promise over several fits.

    Examples
    --------
    >>> from skdp.privacy import Spec
    >>> Spec(1.0, 1e-6)
    Spec(epsilon=1.0, delta=1e-06, neighbors='replace_one')
    >>> Spec(float("inf"), 0.0).private
    False
    """

    epsilon: float
    delta: float
    neighbors: str = "replace_one"
    private: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "delta", check_delta(self.delta))
        check_neighbors(self.neighbors)
        object.__setattr__(self, "private", math.isfinite(self.epsilon))
