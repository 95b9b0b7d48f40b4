"""The one place where a budget pays and records are asked: for fits, private figures and transformers alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from ..entry import View
from ..exceptions import BudgetExceeded
from ..mechanisms import Noise, Oracle, Records, Statement
from ..mechanisms._oracle import Account
from ..privacy.events import Event, Script
from ..privacy.ledger import Recorder, Scripted, today
from ..privacy.receipt import Receipt
from ..privacy.spec import Spec
from ._payer import warn_of_promise
from ._scores import one_thread

if TYPE_CHECKING:
    from ..privacy import Ledger
    from ..privacy.ledger import Filter, Head

__all__ = ["Program", "Share", "Viewed", "Window", "charge", "version"]

Result = TypeVar("Result")
_ROOM = 1e-9  # of a part: that all parts together fit whatever rounding does


class Viewed(Protocol):
    """Protected data that can be looked at: a table, or records on which a model is scored."""

    def vault(self, view: Any) -> Records | tuple[Records, ...]:
        """Admit the records as a view sees them."""

    def check(self, view: Any) -> None:
        """Check a view before anything is paid."""


class Window:
    """Oracles of the views of one table, all charged to one account. It shows no record.

    Parameters
    ----------
    table : Viewed
        What is looked at.
    account : Account
        Charged for each question.
    noise : Noise
        Of the answers.
    parts : int
        Into how many equal parts an adaptive account is divided; 0 for one that is not.
    """

    __slots__ = ("__account", "__adaptive", "__last", "__noise", "__parts", "__rests", "__table")

    def __init__(self, table: Viewed, account: Account, noise: Noise, parts: int = 0) -> None:
        self.__table, self.__account, self.__noise = table, account, noise
        self.__adaptive, self.__parts = parts > 0, parts
        self.__rests: list[Oracle] = []
        self.__last: tuple[View | None, Any] = (None, None)  # shared by the fits of one view

    def __call__(self, view: View, code: int | None = None) -> Oracle:
        """Return the oracle of a view; of one class against the rest, or one column of targets, by its number."""
        known, vault = self.__last
        if code is None or view is not known:
            vault = self.__table.vault(view)
        if code is not None:
            self.__last = view, vault
        if isinstance(vault, tuple):
            vault = vault[code or 0]
        elif code is not None:
            vault = vault.one_against_rest(code)
        account = self.__account if self.__parts <= 1 else Share(self.__account, self.__parts)
        oracle = Oracle(vault, account, self.__noise)
        if self.__adaptive:  # else a statement says it, and a vault that was asked is let go of
            self.__rests.append(oracle)
        return oracle

    def rests_on(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return proof pages and notes of all questions that were asked, each once."""
        found = [oracle.rests_on() for oracle in self.__rests]
        pages = dict.fromkeys(page for pages, _ in found for page in pages)
        notes = dict.fromkeys(note for _, notes in found for note in notes)
        return tuple(pages), tuple(notes)


@dataclass(frozen=True)
class Program:
    """A release, priced and not yet paid for.

    Parameters
    ----------
    spec : Spec
        The promise.
    name : str
        What a receipt calls it.
    statement : Statement
        What is asked at most, and what it rests on.
    account : Scripted or Filter
        Holds the run to that.
    n : int or None
        Records, or persons, as far as their number is public.
    ledger : Ledger or None
        Charged before a record is touched.
    charged : tuple of (Event, int) or None
        What the ledger is charged; None for the statement's script.
    report : str or None
        What a ledger's report calls it; None for the name.
    parts : int
        Into how many equal parts an adaptive account is divided; 0 for one that is not.
    held : bool
        Whether a script is held to where nothing is promised, as it is wherever something is; False where answers
        change what is asked after them.
    """

    spec: Spec
    name: str
    statement: Statement
    account: Scripted | Filter
    n: int | None
    ledger: Ledger | None = None
    charged: Script | None = None
    report: str | None = None
    parts: int = 0
    held: bool = True

    def run(
        self,
        table: Viewed,
        noise: Noise,
        work: Callable[[Window], Result],
        first: Iterable[View] = (),
        follow: Callable[[Account], Account] = lambda account: account,
    ) -> tuple[Result, Receipt]:
        """Pay, ask, and account for it.

        Parameters
        ----------
        table : Viewed
            What is looked at.
        noise : Noise
            Where answers' randomness comes from.
        work : callable
            What is made of answers, from a window on the table.
        first : iterable of View
            What is admitted, or refused, before anything is paid.
        follow : callable
            From the account to one that somebody follows.

        Returns
        -------
        result : object
            What `work` returned.
        receipt : Receipt
            What was spent.
        """
        warn_of_promise(self.spec, self.n)
        for view in first:
            table.check(view)
        account: Account = self.account
        if not self.held and not self.spec.private:
            account = Recorder()
        account = follow(account)
        stood = charge(self.ledger, self._owed, self.report or self.name)
        window = Window(table, account, noise, self.parts)
        with one_thread(), np.errstate(all="ignore"):
            result = work(window)
        receipt = replace(self.quote(noise.seeded), script=self.account.script)
        if not isinstance(self.account, Scripted):  # a filter: answers have decided what was asked
            pages, notes = window.rests_on()
            receipt = replace(receipt, proofs=pages, notes=notes)
        return result, replace(receipt, date=today(), ledger=stood)

    @property
    def _owed(self) -> Script:
        return self.statement.script if self.charged is None else self.charged

    def quote(self, seeded: bool = False) -> Receipt:
        """Return the receipt that a run would carry; nothing is spent."""
        account, stated = self.account, self.statement
        left: dict[str, Any] = {}
        if isinstance(account, Scripted):
            cost, accountant = account.cost, account.accountant
        else:
            cost, accountant = self.spec.epsilon, f"{account.kind} filter"
            left = {"unspent": account.unspent, "order": account.order}
        return Receipt(
            epsilon=cost,
            delta=self.spec.delta,
            neighbors=self.spec.neighbors,
            accountant=accountant,
            script=stated.script,
            solver=self.name,
            proofs=stated.proofs,
            notes=stated.notes,
            seeded=seeded,
            version=version(),
            **left,
        )


def charge(ledger: Ledger | None, script: Script, what: str) -> dict[str, Any] | None:
    """Charge a shared ledger, if there is one, for a whole script; where it stood before and after.

    Parameters
    ----------
    ledger : Ledger or None
        Who pays.
    script : tuple of (Event, int)
        What will be released.
    what : str
        What a report calls it.
    """
    if ledger is None:
        return None
    before = ledger.spent
    return position(ledger, before, ledger.reserve(script, what))


def version() -> str:
    """Return the version of this library; it is read late, since the package imports this module first."""
    from .. import __version__

    return __version__


def position(ledger: Ledger, before: float, head: Head | None) -> dict[str, Any]:
    """Say where a shared ledger stands after it has paid, and which line of its file paid, if it has one.

    Other fits may have charged it in between.

    Parameters
    ----------
    ledger : Ledger
        That has paid.
    before : float
        What was spent before.
    head : Head or None
        What `Ledger.reserve` returned.
    """
    line = (
        {}
        if head is None
        else {"identity": head.identity, "position": head.position, "head": head.digest}
    )
    return {
        "epsilon": ledger.epsilon,
        "delta": ledger.delta,
        "spent_before": before,
        "spent_after": ledger.spent,
        **line,
    }


class Share:
    """An account of which one fit may take a part, so that the next ones find theirs.

    What is charged goes to the whole account, and the guarantee is that account's: the parts are only fairness.

    Parameters
    ----------
    account : Account
        The whole; each event's share of it adds up.
    parts : int
        How many fits there are.
    """

    def __init__(self, account: Account, parts: int) -> None:
        self._account, self._parts, self._taken = account, parts, 0.0

    def charge(self, event: Event) -> None:
        """Charge the whole account, if this part can pay."""
        if not self._holds(event):
            raise BudgetExceeded("One fit of several has spent its part; nothing was released.")
        self._account.charge(event)
        self._taken += self.share(event)

    def affords(self, *wanted: Event) -> bool:
        """Return True if the part, and the whole, could pay for all of these."""
        return self._holds(*wanted) and self._account.affords(*wanted)

    def share(self, event: Event) -> float:
        """Return the portion of the part that one event takes."""
        if self._parts == 1:
            return self._account.share(event)
        return self._parts * (1.0 + _ROOM) * self._account.share(event)

    def _holds(self, *wanted: Event) -> bool:
        return self._taken + sum(map(self.share, wanted)) <= 1.0 + 0.5 * _ROOM
