"""Private figure with its interval and its cost."""

from __future__ import annotations

from dataclasses import dataclass

from ..privacy import Receipt
from ..privacy._arithmetic import round_up

__all__ = ["Estimate"]


@dataclass(frozen=True)
class Estimate:
    """A private figure of held-out records.

    Parameters
    ----------
    value : float
        The figure.
    low, high : float
        Ends of an interval for what it would be on the population that the records were drawn from: privacy noise and
        sampling are both in it.
    level : float
        How often such an interval holds, nominally.
    name : str
        Of what.
    privacy : Receipt
        What it cost.

    See Also
    --------
    dp_score : Makes one.
    """

    value: float
    low: float
    high: float
    level: float
    name: str
    privacy: Receipt

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        return (
            f"Estimate({self.name} = {self.value:.4g}, {100 * self.level:g} % interval "
            f"[{self.low:.4g}, {self.high:.4g}], epsilon = {round_up(self.privacy.epsilon, 4)})"
        )
