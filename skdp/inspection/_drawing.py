"""Parts that all displays share: matplotlib where it is wanted, the receipt of an estimator, colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from ..privacy import Receipt

__all__ = ["COLOURS", "axes", "receipt_of", "stacked_bar"]

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
