"""What has been spent: the only mutable privacy state. Charges are refused before anything moves.

Composition theorems differ in what they allow. A *script* is fixed before the data is touched, so
any accountant may price it, and `Scripted` refuses every event that is not the next one. Prices
that depend on answers need a *filter*, and `Filter` offers only the ones with a proof. A `Ledger`
is the filter that several fits share.
"""

from __future__ import annotations

import math
import os
import threading
from typing import Any, NamedTuple

from ..exceptions import BudgetExceeded, NotSupported
from . import accountants
from ._book import Book
from ._compose import exact_mu, reduced
from ._currencies import CURRENCIES, FILTERS, NOTHING
from ._exact import Exact
from ._filter import Filter
from ._script import Recorder, Scripted
from .events import Script, checked, tally
from .spec import Spec

__all__ = ["Filter", "Ledger", "Recorder", "Scripted"]

# How delta is divided where two books are kept, see docs/accounting.md: for Gaussians alone mu loses
# 1 % by it. The shares add up to less than one, so that rounding cannot lift their sum above delta.
_GAUSSIAN_SHARE, _RENYI_SHARE = 0.8, 0.2 * (1 - 1e-12)


class _State(NamedTuple):
    """All that a ledger knows: replaced as a whole, so that nobody ever sees half of a charge."""

    books: tuple[Book, ...] = ()
    spent: tuple[Exact, ...] = ()  # one total a book; infinite once the book is out
    scripts: tuple[Script, ...] = ()
    closed: bool = False

    @property
    def live(self) -> list[tuple[Book, Exact]]:
        """The books that still prove the promise, with their totals."""
        return [(book, spent) for book, spent in zip(self.books, self.spent) if spent != math.inf]


class Ledger:
    """A budget that several fits on the same data share.

    Later fits are chosen after earlier results were seen, so their composition needs a privacy
    filter, and a filter's currency must be fixed before it is used: it is settled at the first
    `reserve` and kept for life. With ``accountant="auto"`` every common solver stays affordable
    whichever came first. If the first script is made of Gaussians, two books are kept: Gaussian DP
    with four fifths of delta, which is exact for as long as only Gaussians come, and Renyi divergence
    at one order with the rest; a fit is admitted while either book has room. After any other first
    script, Renyi divergence at the one order that suits it. A first script that fits the budget
    only by a tighter theorem (PLD, a profile) is admitted too, alone: the ledger is then closed.

    Parameters
    ----------
    epsilon, delta : float
        The promise for everything that is ever charged here.
    neighbors : {"replace_one", "add_remove"}
        The relation under which every script is written and priced.
    accountant : {"auto", "gdp", "zcdp", "rdp", "pure"}
        The filter's currency: "gdp" for a ledger that will hold Gaussians and nothing else, which
        spares the fifth of delta.

    See Also
    --------
    Filter : For prices that depend on answers, within one fit.
    Spec : The promise.

    Notes
    -----
    The ledger lives in memory. Copying it, or cloning an estimator that holds it, gives the same
    ledger; pickling gives a read-only statement, since a copy in another process could overspend,
    and so does forking, in the child.

    Examples
    --------
    >>> from skdp.privacy import Ledger
    >>> from skdp.privacy.events import PureDP
    >>> ledger = Ledger(1.0, 0.0)
    >>> for _ in range(10):
    ...     ledger.reserve(((PureDP(0.1), 1),))
    >>> ledger.spent, ledger.remaining
    (1.0, 0.0)
    """

    def __init__(
        self,
        epsilon: float,
        delta: float,
        neighbors: str = "replace_one",
        accountant: str = "auto",
    ) -> None:
        if accountant not in ("auto", *CURRENCIES):
            raise NotSupported(
                f"accountant={accountant!r} cannot guard fits that are chosen after earlier results "
                f"were seen; use 'auto' or one of {FILTERS}."
            )
        self._spec = Spec(epsilon, delta, neighbors)
        self._accountant = accountant
        self._lock = threading.RLock()
        self._state = _State()
        self._statement = False
        self._process = os.getpid()

    @property
    def spec(self) -> Spec:
        """The promise."""
        return self._spec

    @property
    def accountant(self) -> str:
        """The currency that was asked for."""
        return self._accountant

    @property
    def epsilon(self) -> float:
        """The promised epsilon."""
        return self.spec.epsilon

    @property
    def delta(self) -> float:
        """The promised delta."""
        return self.spec.delta

    @property
    def neighbors(self) -> str:
        """The neighbour relation."""
        return self.spec.neighbors

    def reserve(self, script: Script) -> None:
        """Pay for a script before its data is touched, or raise and change nothing.

        Parameters
        ----------
        script : tuple of (Event, int)
            Everything that one fit will release.
        """
        script = checked(script)
        tally(script)
        if self._read_only:  # asked before the lock, which a fork may have left held for ever
            raise NotSupported(
                "This ledger is a read-only statement, because it was forked or pickled and a "
                "copy could overspend; fit with n_jobs=1 or in threads."
            )
        with self._lock:
            if self._state.closed:
                raise BudgetExceeded(
                    f"Spent epsilon={self.spent:.6g} of {self.epsilon:g}: the first fit took the "
                    "budget as a whole and left nothing; open another ledger for other data."
                )
            if self._state.books:
                self._state = self._charged(self._state, script)
            else:
                self._state = self._opened(script)

    @property
    def _read_only(self) -> bool:
        return self._statement or os.getpid() != self._process

    def _opened(self, script: Script) -> _State:
        """Settle the currency on the first script, or admit it alone by a tighter theorem."""
        books = self._settled(script)
        try:
            return self._charged(_State(books, (NOTHING,) * len(books)), script)
        except (BudgetExceeded, NotSupported):
            if self.accountant != "auto" or not self._fits_alone(script):
                raise
        return _State(books, (math.inf,) * len(books), (script,), closed=True)

    def _settled(self, script: Script) -> tuple[Book, ...]:
        if self.accountant != "auto":
            return (self._planned_book(self.accountant, script),)
        if self.delta == 0:
            return (self._planned_book("pure", script),)
        if self.spec.private and exact_mu(reduced(script, self.neighbors)) is not None:
            return (
                Book(self._with_share(_GAUSSIAN_SHARE), "gdp"),
                Book(self._with_share(_RENYI_SHARE), "rdp"),
            )
        return (self._planned_book("rdp", script),)

    def _planned_book(self, kind: str, script: Script) -> Book:
        """A book of the whole promise, at the order that suits the first script."""
        return Book(self.spec, kind, CURRENCIES[kind].planned_order(self.spec, script))

    def _with_share(self, share: float) -> Spec:
        return Spec(self.epsilon, self.delta * share, self.neighbors)

    def _fits_alone(self, script: Script) -> bool:
        try:
            return accountants.epsilon(script, self.delta, self.neighbors) <= self.epsilon
        except NotSupported:
            return False

    def _charged(self, state: _State, script: Script) -> _State:
        """The state with one more script; a book that cannot hold it is out for good."""
        totals, asked, refusal = [], [], None
        for book, spent in zip(state.books, state.spent):
            after: Exact = math.inf
            if spent != math.inf:
                try:
                    after = book.plus(spent, script)
                    asked.append(book.epsilon_of(book.cost(script), self.delta))
                except NotSupported as error:
                    refusal = error
            totals.append(after if book.holds(after) else math.inf)
        if all(math.isinf(total) for total in totals) and (asked or refusal):
            raise self._refused(state, script, asked, refusal)
        return _State(state.books, tuple(totals), (*state.scripts, script))

    def _refused(
        self, state: _State, script: Script, asked: list[float], why: NotSupported | None
    ) -> Exception:
        """The refusal, in epsilons where some book could price the script."""
        kinds = " or ".join(book.kind for book, _ in state.live)
        if asked:
            return BudgetExceeded(
                f"Asked for epsilon={min(asked):.6g}, spent epsilon={self.spent:.6g} of "
                f"{self.epsilon:g}, left {self.remaining:.6g} (at delta={self.delta:g}, in {kinds}); "
                "nothing was charged, so ask for less."
            )
        able = [kind for kind, known in CURRENCIES.items() if known.covers(script, self.neighbors)]
        remedy = f"a new ledger with accountant={able[0]!r}" if able else "a ledger of its own"
        return NotSupported(
            f"{why} The ledger keeps its books in {kinds} for life; use another solver "
            f"or give this fit {remedy}."
        )

    @property
    def spent(self) -> float:
        """Epsilon, at the ledger's delta, of all that was charged: an odometer reading.

        It says how much of the budget is used and it is no guarantee at a time that was chosen
        after looking at answers: the guarantee of everything that is ever charged here is
        (`epsilon`, `delta`), and no smaller one.
        """
        state = self._state
        if not state.scripts:
            return 0.0
        if not self.spec.private:
            return self._planned(tuple(run for script in state.scripts for run in script))
        reading = self._reading(state)
        if len(state.scripts) == 1:  # still a plan fixed beforehand
            return min(reading, self._planned(state.scripts[0]))
        return min(self.epsilon, reading)

    def _planned(self, script: Script) -> float:
        """Epsilon of a script by the tightest accountant; infinite if nothing can be said."""
        try:
            return accountants.epsilon(script, self.delta, self.neighbors)
        except NotSupported:
            return math.inf

    def _reading(self, state: _State) -> float:
        totals = [book.epsilon_of(spent, self.delta) for book, spent in state.live]
        return min(totals, default=math.inf)

    @property
    def remaining(self) -> float:
        """Epsilon, at the ledger's delta, of the largest fit that is still affordable."""
        state = self._state
        if state.closed:
            return 0.0
        if not state.books or not self.spec.private:
            return self.epsilon
        rooms = [book.epsilon_of(book.left(spent), self.delta) for book, spent in state.live]
        return min(self.epsilon, max(rooms, default=0.0))

    @property
    def renyi_order(self) -> int | None:
        """The one order of books that are kept in Renyi divergence, once it is settled; else None.

        An adaptive fit whose own filter has that order is charged what it was promised and no more.
        """
        orders = [book.order for book, _ in self._state.live if book.order is not None]
        return orders[0] if orders and self.spec.private else None

    @property
    def scripts(self) -> tuple[Script, ...]:
        """What was charged, one script a fit."""
        return self._state.scripts

    def __repr__(self) -> str:
        state = self._state
        kind = " or ".join(book.kind for book, _ in state.live) or self.accountant
        return (
            f"Ledger(epsilon={self.epsilon:g}, delta={self.delta:g}, "
            f"neighbors={self.neighbors!r}, accountant={kind!r}; "
            f"spent={self.spent:.6g}, remaining={self.remaining:.6g}, "
            f"fits={len(state.scripts)}{', read-only' if self._read_only else ''})"
        )

    def __sklearn_clone__(self) -> Ledger:
        return self

    def __copy__(self) -> Ledger:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Ledger:
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {**{k: v for k, v in self.__dict__.items() if k != "_lock"}, "_statement": True}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.RLock()
