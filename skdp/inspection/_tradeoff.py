"""Display of the best possible test against one record, as a curve."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..privacy import tradeoff
from ..privacy._printed import round_up
from ..privacy.events import Script
from ._drawing import COLOURS, Display, receipt_of

__all__ = ["TradeoffDisplay"]

_RATES = np.linspace(0.0, 1.0, 201)


class TradeoffDisplay(Display):
    """Largest rate of true accusations of any test, by its rate of false ones.

    Parameters
    ----------
    false_rates, true_rates : ndarray
        Points of the curve.
    label : str
        For the legend.

    Attributes
    ----------
    ax_, figure_, line_
        Of matplotlib, once it is drawn.

    See Also
    --------
    skdp.privacy.tradeoff : The numbers behind it.
    skdp.privacy.risk : Some points of the curve, in words.

    Examples
    --------
    >>> from skdp.inspection import TradeoffDisplay
    >>> from skdp.privacy.events import Gaussian
    >>> display = TradeoffDisplay.from_script(((Gaussian(4.0), 1),), plot=False)
    >>> float(display.true_rates[10].round(3))  # at 5 % false accusations
    0.082
    """

    line_: Any

    def __init__(
        self,
        false_rates: NDArray[np.float64],
        true_rates: NDArray[np.float64],
        label: str = "best test",
    ) -> None:
        self.false_rates, self.true_rates, self.label = false_rates, true_rates, label

    @classmethod
    def from_script(
        cls,
        script: Script,
        neighbors: str = "replace_one",
        *,
        label: str = "best test",
        ax: Any = None,
        plot: bool = True,
    ) -> Self:
        """Make a display from a script.

        Parameters
        ----------
        script : tuple of (Event, int)
            Script of the releases.
        neighbors : {"replace_one", "add_remove"}
            The neighbour relation.
        label : str
            For the legend.
        ax, plot : object
            As in `from_estimator`.

        Returns
        -------
        TradeoffDisplay
        """
        display = cls(_RATES, 1 - tradeoff(script, _RATES, neighbors), label)
        return display.plot(ax) if plot else display

    @classmethod
    def _of(cls, estimator: Any) -> Self:
        """Make a display from a fitted estimator, or from a receipt.

        Where a filter guarded the fit, the curve is of all that the filter allowed.
        """
        receipt = receipt_of(estimator)
        label = f"epsilon = {round_up(receipt.epsilon, 4)} at delta = {round_up(receipt.delta, 3)}"
        return cls.from_script(receipt.priced, receipt.neighbors, label=label, plot=False)

    def _draw(self) -> None:
        """Draw the curve over the diagonal of a blind guess."""
        self.ax_.plot([0, 1], [0, 1], color=COLOURS[-1], linestyle="--", label="blind guess")
        (self.line_,) = self.ax_.plot(
            self.false_rates, self.true_rates, color=COLOURS[0], label=self.label
        )
        self.ax_.set(xlabel="false accusations", ylabel="true accusations", aspect="equal")
        self.ax_.legend(loc="lower right", frameon=False)
