"""Display of a fit's budget: the part that each release takes."""

from __future__ import annotations

from typing import Any, Self

from ..privacy import breakdown
from ..privacy._printed import round_up
from ._drawing import Display, receipt_of, stacked_bar

__all__ = ["PrivacyDisplay"]


class PrivacyDisplay(Display):
    """Shares of a fit's budget, by release.

    Parameters
    ----------
    shares : sequence of (str, float)
        What was released, and its part of the whole.
    epsilon, delta : float
        The price of the whole.

    Attributes
    ----------
    ax_, figure_
        Of matplotlib, once it is drawn.

    See Also
    --------
    skdp.privacy.breakdown : The numbers behind it.
    TradeoffDisplay : What the whole allows.

    Examples
    --------
    >>> from skdp.inspection import PrivacyDisplay
    >>> from skdp.privacy import Receipt
    >>> from skdp.privacy.events import Gaussian
    >>> script = ((Gaussian(10.0), 3), (Gaussian(5.0), 1))
    >>> receipt = Receipt(1.1, 1e-6, "replace_one", "gdp", script, "GD()")
    >>> label, share = PrivacyDisplay.from_estimator(receipt, plot=False).shares[0]
    >>> label, round(share, 3)
    ('1 x Gaussian(5)', 0.571)
    """

    def __init__(self, shares: list[tuple[str, float]], epsilon: float, delta: float) -> None:
        self.shares, self.epsilon, self.delta = shares, epsilon, delta

    @classmethod
    def _of(cls, estimator: Any) -> Self:
        """Make a display from a fitted estimator, or from a receipt."""
        receipt = receipt_of(estimator)
        parts = breakdown(receipt.script, receipt.delta, receipt.neighbors)
        shares = [(f"{part.count} x {_name(part.event)}", part.share) for part in parts]
        return cls(shares, receipt.epsilon, receipt.delta)

    def _draw(self) -> None:
        """Draw one bar."""
        stacked_bar(self.ax_, [(f"{label}: {share:.1%}", share) for label, share in self.shares])
        self.ax_.set(xlim=(0, 1), xlabel="share of the budget")
        self.ax_.set_title(
            f"epsilon = {round_up(self.epsilon, 4)} at delta = {round_up(self.delta, 3)}"
        )


def _name(event: Any) -> str:
    """The event with its numbers in three digits."""
    values = ((name, getattr(event, name)) for name in event.__match_args__)
    told = ", ".join(
        round_up(value, 3) if name.endswith("epsilon") else f"{value:.3g}"
        for name, value in values
        if isinstance(value, float)
    )
    return f"{type(event).__name__}({told})"
