"""A progress bar over the script, which is public: it shows how many questions were paid for, and nothing else."""

from __future__ import annotations

from typing import Any

from ..mechanisms._oracle import Account
from ..privacy.events import Event
from ..privacy.ledger import Filter, Scripted

__all__ = ["with_progress_bar"]


class _Ticking:
    """An account that moves a bar by one for every charge."""

    def __init__(self, account: Account, bar: Any) -> None:
        self._account, self._bar = account, bar

    def charge(self, event: Event) -> None:
        self._account.charge(event)
        self._bar.update()

    def affords(self, *wanted: Event) -> bool:
        return self._account.affords(*wanted)

    def share(self, event: Event) -> float:
        return self._account.share(event)


def with_progress_bar(account: Scripted | Filter, name: str, verbose: int) -> Account:
    """The account itself, or with ``verbose`` of 2 or more one that shows its progress (extra ``progress``).

    Parameters
    ----------
    account : Account
        What pays; a scripted one knows how many questions will come.
    name : str
        Label of the bar.
    verbose : int
        The estimator's.

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
    total = None if hasattr(account, "unspent") else sum(count for _, count in account.script)
    return _Ticking(account, tqdm(total=total, desc=name, unit="question"))
