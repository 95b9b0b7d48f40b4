"""Displays of a receipt, of a trade-off and of a ledger, and the parts that they share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..exceptions import NotSupported
from ..privacy import Ledger, Receipt, breakdown, epsilon, tradeoff
from ..privacy._arithmetic import round_up
from ..privacy.events import Script

__all__ = [
    "COLOURS",
    "LedgerDisplay",
    "PrivacyDisplay",
    "TradeoffDisplay",
    "axes",
    "receipt_of",
    "stacked_bar",
]


# Paul Tol's bright scheme: told apart by readers who do not see all colours.
COLOURS = ("#4477aa", "#ee6677", "#228833", "#66ccee", "#aa3377", "#bbbbbb")


def axes(ax: Any) -> Any:
    """The axes that were given, or new ones."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("Displays need matplotlib; pip install 'skdp[plot]'.") from None
    return plt.subplots(layout="constrained")[1]


def receipt_of(estimator: Any) -> Receipt:
    """Return the receipt of a fitted estimator; a receipt is returned as it is."""
    if isinstance(estimator, Receipt):
        return estimator
    check_is_fitted(estimator)
    receipt = getattr(estimator, "privacy_", None)
    if not isinstance(receipt, Receipt):
        raise ValueError(
            f"{type(estimator).__name__} has no receipt in privacy_; give a private estimator, or the private step "
            "of a pipeline."
        )
    return receipt


def stacked_bar(ax: Any, parts: Sequence[tuple[str, float]]) -> None:
    """Draw one horizontal bar of parts with a legend; parts beyond the list of colours share the last colour."""
    left = 0.0
    for number, (label, width) in enumerate(parts):
        colour = COLOURS[min(number, len(COLOURS) - 1)]
        ax.barh([0], [width], left=left, color=colour, label=label)
        left += width
    ax.set_yticks([])
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.25), frameon=False)


class Display:
    """Base class of the displays: made once, drawn once or again."""

    ax_: Any
    figure_: Any

    @classmethod
    def _of(cls, estimator: Any) -> Self:
        raise NotImplementedError

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, plot: bool = True) -> Self:
        """Make a display from an estimator or its receipt.

        Parameters
        ----------
        estimator : estimator or Receipt
            Fitted estimator with ``privacy_``; a display of a ledger needs an estimator that charges one.
        ax : matplotlib axes, optional
            Where to draw.
        plot : bool
            Whether to draw at once.

        Returns
        -------
        Display
            Instance of this class.
        """
        display = cls._of(estimator)
        return display.plot(ax) if plot else display

    def plot(self, ax: Any = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        self
        """
        self.ax_ = axes(ax)
        self.figure_ = self.ax_.figure
        self._draw()
        return self

    def _draw(self) -> None:
        raise NotImplementedError


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
