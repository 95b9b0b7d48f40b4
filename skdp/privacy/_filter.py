"""Privacy filters: budgets that may be spent on events chosen after seeing earlier answers."""

from __future__ import annotations

import numbers
from typing import Any

from ..exceptions import BudgetExceeded
from ._arithmetic import round_down, round_up
from ._book import Book
from ._currencies import NOTHING
from ._exact import Exact
from ._script import Recorder
from .events import Event, Script, checked
from .spec import Spec

__all__ = ["Filter"]


class Filter:
    """A budget for prices that depend on answers; refuses before anything is drawn.

    Parameters
    ----------
    spec : Spec
        The promise.
    kind : {"zcdp", "gdp", "rdp", "pure"}
        The currency: rho, mu squared, Renyi divergence at one order, or epsilon.
    order : int, optional
        For "rdp": the order, fixed in advance; by default the one with the largest budget per
        order, which suits unsampled Gaussians. For sampled events choose it from the planned
        schedule.

    See Also
    --------
    Ledger : For several fits.

    Examples
    --------
    >>> from skdp.privacy import Filter, Spec
    >>> from skdp.privacy.events import PureDP
    >>> budget = Filter(Spec(1.0, 0.0), "pure")
    >>> budget.charge(PureDP(0.1), count=10)
    >>> budget.unspent, budget.allowance
    (0.0, ((PureDP(epsilon=1.0), 1),))
    """

    def __init__(self, spec: Spec, kind: str, order: int | None = None) -> None:
        self._book = Book(spec, kind, order)
        self.spec, self.kind, self.order = spec, kind, self._book.order
        # (total after the charge, what was charged): one list operation commits a charge, so that
        # an interrupt finds it paid and recorded or neither
        self._log: list[tuple[Exact, Script]] = []

    def charge(self, event: Event, count: int = 1) -> None:
        """Pay for ``count`` equal events, or raise `BudgetExceeded` and change nothing."""
        self.charge_all(((event, count),))

    def charge_all(self, script: Script) -> None:
        """Pay for a whole script or for none of it."""
        runs = tuple((event, _whole(event, count)) for event, count in checked(script))
        after = self._book.plus(self._total, runs)
        if not self._book.holds(after):
            raise BudgetExceeded(
                f"Asked for {round_up(self.cost(runs))}, spent {round_up(self.spent)}, left {round_down(self.unspent)} "
                f"({self._book.unit}); nothing was released, so ask for less."
            )
        last = self._log[-1][1] if self._log else ()
        if len(runs) == len(last) == 1 and runs[0][0] == last[0][0]:
            self._log[-1] = after, ((runs[0][0], last[0][1] + runs[0][1]),)
        elif runs:
            self._log.append((after, runs))

    def cost(self, script: Script) -> float:
        """Return the price of a script, in the filter's currency."""
        return float(self._book.cost(script))

    def affords(self, *events: Event) -> bool:
        """Return whether all the events together could be paid for now."""
        asked = tuple((event, 1) for event in events)
        return self._book.holds(self._book.plus(self._total, asked))

    def share(self, event: Event) -> float:
        """Return the share of the whole budget that one event takes, whatever has been spent."""
        return float(self._book.price(event)) / self.total

    @property
    def _total(self) -> Exact:
        return self._log[-1][0] if self._log else NOTHING

    @property
    def total(self) -> float:
        """The whole budget, in the filter's currency."""
        return self._book.offered

    @property
    def spent(self) -> float:
        """Amount paid so far, in the filter's currency."""
        return float(self._total)

    @property
    def unspent(self) -> float:
        """Amount left, in the filter's currency; spending exactly this is allowed."""
        return self._book.left(self._total)

    @property
    def allowance(self) -> Script:
        """Script that a shared `Ledger` is charged for this filter: all that it may ever let pass."""
        return self._book.allowance

    @property
    def script(self) -> Script:
        """Events charged so far, in order."""
        record = Recorder()
        for _, runs in tuple(self._log):
            for event, count in runs:
                record.charge(event, count)
        return record.script


def _whole(event: Event, count: Any) -> int:
    """The count of a charge: part of an event cannot be paid, and nothing is paid back."""
    if not isinstance(count, numbers.Integral) or isinstance(count, bool) or count < 1:
        raise ValueError(
            f"{type(event).__name__} was charged {count!r} times; give a whole number, 1 or more."
        )
    return int(count)
