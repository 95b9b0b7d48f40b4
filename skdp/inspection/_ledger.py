"""Display of a shared budget: the part that each fit took."""

from __future__ import annotations

from typing import Any, Self

from ..exceptions import NotSupported
from ..privacy import Ledger, epsilon
from ..privacy._printed import round_up
from ._drawing import COLOURS, Display

__all__ = ["LedgerDisplay"]


class LedgerDisplay(Display):
    """Display of the used capacity of a ledger, and of the cost that each fit would have alone.

    Parameters
    ----------
    alone : list of float
        Epsilon of each fit alone, in the order of their charges.
    spent, total, delta : float
        What is used of the budget, all of it, and its delta.

    Attributes
    ----------
    ax_, figure_
        Of matplotlib, once it is drawn.

    See Also
    --------
    skdp.privacy.Ledger : The budget.

    Notes
    -----
    What is spent is capacity used and no guarantee at a time that was chosen after looking at answers: the guarantee is
    the whole budget. Fits compose, so together they cost less than the sum of their bars.

    Examples
    --------
    >>> from skdp.inspection import LedgerDisplay
    >>> from skdp.privacy import Ledger
    >>> from skdp.privacy.events import Gaussian
    >>> ledger = Ledger(1.0, 1e-6)
    >>> for _ in range(3):
    ...     ledger.reserve(((Gaussian(20.0), 1),))
    >>> display = LedgerDisplay.from_ledger(ledger, plot=False)
    >>> len(display.alone), sum(display.alone) > display.spent
    (3, True)
    """

    def __init__(self, alone: list[float], spent: float, total: float, delta: float) -> None:
        self.alone, self.spent, self.total, self.delta = alone, spent, total, delta

    @classmethod
    def from_ledger(cls, ledger: Ledger, *, ax: Any = None, plot: bool = True) -> Self:
        """Make a display from a ledger as it stands.

        Parameters
        ----------
        ledger : Ledger
            The budget.
        ax, plot : object
            As in `from_estimator`.

        Returns
        -------
        LedgerDisplay
        """
        alone = [_alone(script, ledger) for script in ledger.scripts]
        display = cls(alone, ledger.spent, ledger.epsilon, ledger.delta)
        return display.plot(ax) if plot else display

    @classmethod
    def _of(cls, estimator: Any) -> Self:
        """Make a display from the ledger that an estimator charges."""
        ledger = getattr(estimator, "ledger", None)
        if not isinstance(ledger, Ledger):
            raise ValueError(
                f"ledger={ledger!r} is not a ledger; give an estimator that charges one."
            )
        return cls.from_ledger(ledger, plot=False)

    def _draw(self) -> None:
        """Draw a bar for each fit, and lines for what is used and for the whole budget."""
        places = range(1, len(self.alone) + 1)
        self.ax_.bar(places, self.alone, color=COLOURS[0], label="each fit alone")
        self.ax_.axhline(
            self.spent, color=COLOURS[1], label=f"used together: {round_up(self.spent, 4)}"
        )
        self.ax_.axhline(
            self.total, color=COLOURS[2], linestyle="--", label=f"budget: {round_up(self.total, 4)}"
        )
        self.ax_.set(
            xlabel="fit", ylabel=f"epsilon at delta = {round_up(self.delta, 3)}", ylim=(0, None)
        )
        self.ax_.xaxis.get_major_locator().set_params(integer=True)
        self.ax_.legend(frameon=False)


def _alone(script: Any, ledger: Ledger) -> float:
    try:
        return epsilon(script, ledger.delta, ledger.neighbors)
    except NotSupported:
        return float("nan")
