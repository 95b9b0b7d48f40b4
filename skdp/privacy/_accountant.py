"""An accountant that one tells, step by step, what is released."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from . import accountants
from ._risk import Risk, Share, breakdown, risk
from .dp_event import from_dp_event
from .events import Event, Script, checked, merged, tally
from .spec import check_neighbors

__all__ = ["Accountant"]


class Accountant:
    """Write down what is released, and read off what it costs together.

    The price holds for a script that was fixed before the data was touched. Where the next step depends
    on earlier answers, charge a `Filter` or a `Ledger`, which know when to refuse.

    Parameters
    ----------
    neighbors : {"replace_one", "add_remove"}
        The relation under which every event is written.

    See Also
    --------
    Filter : For steps that depend on earlier answers.
    epsilon : The same as a function of a script.

    Examples
    --------
    >>> from skdp.privacy import Accountant
    >>> from skdp.privacy.events import Gaussian, PoissonGaussian
    >>> account = Accountant("add_remove")
    >>> account.step(PoissonGaussian(1.0, 0.01), 1000).step(Gaussian(20.0))
    Accountant('add_remove', 1001 events)
    >>> 2.0 < account.epsilon(1e-6) < 3.0
    True
    """

    def __init__(self, neighbors: str = "replace_one") -> None:
        self._neighbors = check_neighbors(neighbors)
        self._script: Script = ()

    @property
    def neighbors(self) -> str:
        """The neighbour relation."""
        return self._neighbors

    @property
    def script(self) -> Script:
        """Releases told so far, in order."""
        return self._script

    def step(self, event: Event, count: int = 1) -> Self:
        """Add `count` equal events.

        Parameters
        ----------
        event : Event
            What is released.
        count : int
            How often.

        Returns
        -------
        self
        """
        return self.compose(((event, count),))

    def compose(self, other: Any) -> Self:
        """Add all of another accountant, of a script, or of an event of dp-accounting.

        Parameters
        ----------
        other : Accountant, tuple of (Event, int), or dp_accounting.DpEvent
            What is released besides, of the same data.

        Returns
        -------
        self
        """
        if isinstance(other, Accountant):
            if other.neighbors != self.neighbors:
                raise ValueError(
                    f"neighbors={other.neighbors!r} differs from {self.neighbors!r}; use one relation."
                )
            other = other.script
        elif not isinstance(other, tuple | list):
            other = from_dp_event(other, self.neighbors)
        more = checked(other)
        tally(more)
        self._script = merged((*self._script, *more))
        return self

    def epsilon(self, delta: float) -> float:
        """Smallest epsilon at `delta` of all that was told."""
        return accountants.epsilon(self._script, delta, self._neighbors)

    def delta(self, epsilon: float) -> float:
        """Smallest delta at `epsilon`."""
        return accountants.delta(self._script, epsilon, self._neighbors)

    def tradeoff(self, alphas: Sequence[float]) -> NDArray[np.float64]:
        """Least type II errors of any test at these type I errors."""
        return accountants.tradeoff(self._script, alphas, self._neighbors)

    def risk(self) -> Risk:
        """Return the bounds of what the script allows against one record."""
        return risk(self._script, self._neighbors)

    def breakdown(self, delta: float) -> tuple[Share, ...]:
        """Return the share of the price that each event takes."""
        return breakdown(self._script, delta, self._neighbors)

    def __len__(self) -> int:
        return sum(count for _, count in self._script)

    def __repr__(self) -> str:
        return f"Accountant({self._neighbors!r}, {len(self)} events)"
