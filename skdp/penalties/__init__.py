"""Formulas of the coefficients, each with its prox. To add one: a file, and a line in ``PENALTIES``."""

from skdp.penalties._penalty import Penalty
from skdp.penalties._placed import Placed
from skdp.penalties.l1 import L1
from skdp.penalties.l2 import L2
from skdp.penalties.none import NoPenalty

__all__ = ["L1", "L2", "PENALTIES", "NoPenalty", "Penalty", "Placed", "make"]

PENALTIES = {
    "none": NoPenalty,
    "l1": L1,
    "l2": L2,
}


def make(penalty, strength=1.0, l1_ratio=None):
    """Penalty that a name stands for; an instance stands for itself.

    Parameters
    ----------
    penalty : str, None or Penalty
        Name of a penalty that needs no more than a strength, or an instance of any.
    strength : float
        Weight against the sum of the losses (1/C of scikit-learn). An instance carries its own.
    l1_ratio : float in [0, 1], optional
        Share of L1 in the elastic net.

    Returns
    -------
    Penalty
    """
    if isinstance(penalty, Penalty):
        return penalty
    if penalty is None or penalty == "none":
        return NoPenalty()
    if penalty not in PENALTIES:
        raise ValueError(
            f"penalty={penalty!r} is not one of {sorted(PENALTIES)}, None, or an instance such "
            "as skdp.penalties.L2(strength)."
        )
    return PENALTIES[penalty](strength)
