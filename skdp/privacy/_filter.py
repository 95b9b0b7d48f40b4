"""Privacy filters: budgets that may be spent on events chosen after seeing earlier answers.

A promise in one currency: what it allows, what events take of it, what a total proves.

Nothing here changes: totals are kept by `Filter` and `Ledger`, as exact numbers.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from ..exceptions import BudgetExceeded, NotSupported, OffScript
from . import accountants
from ._arithmetic import own_arithmetic, round_down, round_up
from ._currencies import NOTHING, Currency, currency_named
from ._exact import Counted, Exact, amount, down, meant, short, up
from .events import Event, Script, checked
from .spec import Spec

__all__ = ["Book", "Filter", "Recorder", "Scripted", "largest_share"]


@dataclass(frozen=True)
class Book:
    """Budget and prices of one promise in one currency; see `Filter` for the parameters."""

    spec: Spec
    kind: str
    order: int | None = None

    @own_arithmetic
    def __post_init__(self) -> None:
        if self.spec.private and self.spec.delta == 0 and self.currency.needs_delta:
            raise NotSupported(f"A {self.kind} filter needs delta > 0; use kind='pure' or a delta.")
        object.__setattr__(self, "order", self.currency.order(self.spec, self.order))
        _ = self.budget  # refuses an order that proves nothing

    @cached_property
    def currency(self) -> Currency:
        """Currency that the book is kept in."""
        return currency_named(self.kind)

    @cached_property
    def budget(self) -> float:
        """Largest total that still proves the promise."""
        return self.currency.budget(self.spec, self.order) if self.spec.private else math.inf

    @cached_property
    def offered(self) -> float:
        """Budget that a caller may count on."""
        return self.currency.offered(self.budget)

    @cached_property
    def _limit(self) -> Exact:
        return self.currency.limit(self.budget)

    @property
    def unit(self) -> str:
        """The currency in words."""
        return self.currency.unit.format(order=self.order)

    @property
    def allowance(self) -> Script:
        """All that the book lets pass, as a script."""
        return self.currency.allowance(self.offered, self.order)

    def price(self, event: Event) -> Exact:
        """Return the price of one event."""
        if not self.spec.private:
            return NOTHING
        return _price(event, self.currency, self.order, self.spec.neighbors)

    def cost(self, script: Script) -> Exact:
        """Return the price of a script, an exact sum."""
        out = NOTHING
        for event, count in script:
            out = out + self.price(event) * count
        return out

    def plus(self, spent: Exact, script: Script) -> Exact:
        """The total with one more script."""
        return short(spent + self.cost(script))

    def holds(self, spent: Exact) -> bool:
        """Return whether the promised guarantee covers the total."""
        return not self.spec.private or bool(spent <= self._limit)

    @own_arithmetic
    def left(self, spent: Exact) -> float:
        """Return the unspent budget, rounded down."""
        return self.currency.left(self.budget, spent) if self.spec.private else math.inf

    @own_arithmetic
    def epsilon_of(self, amount: Exact, delta: float) -> float:
        """Epsilon that a total proves at delta; 0 for nothing."""
        return self.currency.epsilon(amount, delta, self.order)

    # What a ledger counts in, see `_exact`.

    @cached_property
    def _ways(self) -> dict[Script, tuple[Counted, ...]]:
        return {}

    def level(self, total: Counted) -> int:
        """Return the pricing level, always 0: the prices of a currency do not depend on what was spent."""
        return 0

    def ways(self, script: Script, level: int = 0) -> tuple[Counted, ...]:
        """Prices of the script, of which any one may be charged; none if it is infinite."""
        if script not in self._ways:
            price = up(self.cost(script))
            self._ways[script] = () if price is None else (price,)
        return self._ways[script]

    @cached_property
    def caps(self) -> Counted:
        """The largest totals that are let pass."""
        return down(self._limit if self.spec.private else math.inf)

    def share(self, total: Counted) -> float:
        """Return the share of the caps that a total takes."""
        return largest_share(total, self.caps)

    def reading(self, total: Counted, delta: float) -> float:
        """Epsilon that a total proves at delta."""
        return self.epsilon_of(amount(*total), delta)

    def room(self, total: Counted, delta: float) -> float:
        """Epsilon of what may still be spent."""
        return self.epsilon_of(meant(self.left(amount(*total))), delta)


def largest_share(total: Counted, caps: Counted) -> float:
    """The largest part of its cap that a total takes; infinite where it takes something of nothing."""
    return max((a / b if b else math.inf for a, b in zip(total, caps) if a), default=0.0)


@lru_cache(maxsize=4096)
@own_arithmetic
def _price(event: Event, currency: Currency, order: int | None, neighbors: str) -> Exact:
    return currency.price(event, neighbors, order)


class Recorder:
    """Write down what a rehearsal asks for; everything is affordable and nothing is spent.

    Examples
    --------
    >>> from skdp.privacy.events import Gaussian
    >>> from skdp.privacy.ledger import Recorder
    >>> account = Recorder()
    >>> account.charge(Gaussian(20.0))
    >>> account.charge(Gaussian(20.0), count=999)
    >>> account.script
    ((Gaussian(multiplier=20.0), 1000),)
    """

    def __init__(self) -> None:
        self._runs: list[tuple[Event, int]] = []

    def charge(self, event: Event, count: int = 1) -> None:
        """Append ``count`` equal events to the script."""
        if count < 1:
            return
        if self._runs and self._runs[-1][0] == event:
            self._runs[-1] = (event, self._runs[-1][1] + count)
        else:
            self._runs.append((event, count))

    def affords(self, *events: Event) -> bool:
        """Return True: a rehearsal has no budget."""
        return True

    def share(self, event: Event) -> float:
        """Return 0: a rehearsal has no budget."""
        return 0.0

    @property
    def script(self) -> Script:
        """Events asked so far."""
        return tuple(self._runs)


class Scripted:
    """Hold a run to the script that was priced before the data was touched.

    Parameters
    ----------
    spec : Spec
        The promise; a script that costs more is refused here.
    script : tuple of (Event, int)
        The events in order, run-length coded.
    accountant : str
        Who prices the script, see `skdp.privacy.epsilon`.

    Attributes
    ----------
    cost : float
        Epsilon of the script at the promised delta; infinite where nothing is promised.
    accountant : str
        Who priced it.

    Examples
    --------
    >>> from skdp.privacy import Spec
    >>> from skdp.privacy.events import Gaussian
    >>> from skdp.privacy.ledger import Scripted
    >>> account = Scripted(Spec(1.0, 1e-6), ((Gaussian(50.0), 2),))
    >>> account.charge(Gaussian(50.0))
    >>> account.complete
    False
    """

    def __init__(self, spec: Spec, script: Script, accountant: str = "auto") -> None:
        price = math.inf
        if accountant == "auto":
            accountant = accountants.choose(script, spec.neighbors, spec.delta)
        if spec.private:
            price = accountants.epsilon(script, spec.delta, spec.neighbors, accountant)
            if not price <= spec.epsilon:
                raise BudgetExceeded(
                    f"The script costs epsilon={round_up(price)} at delta={round_up(spec.delta)}, but the promise "
                    f"is {round_up(spec.epsilon)}; calibrate the noise or raise epsilon."
                )
        self.spec = spec
        self.cost, self.accountant = price, accountant
        self.script = tuple(run for run in script if run[1] > 0)
        self._run = 0
        self._used = 0

    def charge(self, event: Event, count: int = 1) -> None:
        """Pay for the next ``count`` events of the script, or refuse and change nothing."""
        if self.complete:
            raise OffScript(f"{event} was asked after the end of the script; nothing was answered.")
        expected, length = self.script[self._run]
        left = length - self._used
        same = event is expected or (type(event) is type(expected) and event == expected)
        if not same or not 1 <= count <= left:
            raise OffScript(
                f"{count} x {event} was asked where the script has {left} x {expected}; a solver "
                "must ask the same questions whatever the answers are."
            )
        self._used += count
        if self._used == length:
            self._run, self._used = self._run + 1, 0

    def affords(self, *events: Event) -> bool:
        """Return True: what is on the script has been paid for."""
        return True

    def share(self, event: Event) -> float:
        """Return 0: what is on the script has been paid for."""
        return 0.0

    @property
    def complete(self) -> bool:
        """True if the whole script has been charged."""
        return self._run == len(self.script)


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
