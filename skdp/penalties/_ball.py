"""Base class of the bounds on a norm."""

from dataclasses import dataclass

from ._penalty import Penalty, check_at_least

__all__ = ["Ball"]


@dataclass(frozen=True)
class Ball(Penalty):
    """A bound on a norm: 0 up to the radius, infinity beyond.

    Parameters
    ----------
    radius : float > 0
        Bound of the norm.
    """

    bounded = True
    radius: float = 1.0

    def __post_init__(self) -> None:
        check_at_least("radius", self.radius, 0.0, strictly=True)
