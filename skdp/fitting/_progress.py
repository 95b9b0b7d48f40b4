"""Progress over the script, which is public: which question is being asked, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ..mechanisms._oracle import Account
from ..privacy.events import Event
from ..privacy.ledger import Recorder, Scripted

if TYPE_CHECKING:
    pass

__all__ = ["Told", "finish", "length_of", "with_progress", "with_progress_bar"]


class Told(Protocol):
    """Listener that is told of the questions of a fit, one after the other."""

    def begin(self, event: Event) -> None:
        """Mark a question as begun: it has been paid for."""

    def end(self) -> None:
        """Mark the question as answered, and what follows from the answer as worked out."""


class _Bar:
    """A progress bar that moves by one for every question that is over."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def begin(self, event: Event) -> None:
        """Leave the bar as it is: the question has yet to be answered."""

    def end(self) -> None:
        self._bar.update()


class _Ticking:
    """An account that says where a fit is: a question is over when the next one is charged, or the fit ends."""

    def __init__(self, account: Account, told: Told) -> None:
        self._account, self._told, self._open = account, told, False

    def charge(self, event: Event) -> None:
        self._account.charge(event)
        self.over()
        self._told.begin(event)
        self._open = True

    def over(self) -> None:
        """End the question that is open."""
        if self._open:
            self._told.end()
            self._open = False

    def finish(self) -> None:
        """Report the last question as over, then finish the account."""
        self.over()
        finish(self._account)

    def affords(self, *wanted: Event) -> bool:
        return self._account.affords(*wanted)

    def share(self, event: Event) -> float:
        return self._account.share(event)


def length_of(account: Account) -> int | None:
    """Return the number of questions that will come; None for a filter, under which answers decide.

    Parameters
    ----------
    account : Account
        Of a fit.
    """
    if not isinstance(account, Recorder | Scripted):
        return None
    return sum(count for _, count in account.script)


def with_progress(account: Account, told: Told) -> _Ticking:
    """An account that says where a fit is.

    Parameters
    ----------
    account : Account
        What pays.
    told : Told
        Who is told.
    """
    return _Ticking(account, told)


def finish(account: Any) -> None:
    """End the question that is open, once a fit is over.

    Parameters
    ----------
    account : Account
        Says where a fit is, or does not.
    """
    over = getattr(account, "finish", None)
    if over is not None:
        over()


def with_progress_bar(account: Account, name: str, verbose: int, total: int | None) -> Account:
    """The account itself, or with ``verbose`` of 2 or more one that shows its progress (extra ``progress``).

    Parameters
    ----------
    account : Account
        What pays.
    name : str
        Label of the bar.
    verbose : int
        The estimator's.
    total : int or None
        How many questions will come, where that is known.

    Returns
    -------
    Account
        Charges the given one.
    """
    if verbose < 2:
        return account
    try:
        from tqdm import tqdm
    except ImportError as error:
        raise ImportError(
            f"verbose={verbose} shows a progress bar, which needs tqdm: pip install 'skdp[progress]', or set verbose=1."
        ) from error
    return with_progress(account, _Bar(tqdm(total=total, desc=name, unit="question")))
