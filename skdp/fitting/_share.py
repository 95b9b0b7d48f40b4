"""An equal part of an account, for one of several fits that share a promise."""

from ..exceptions import BudgetExceeded
from ..mechanisms._oracle import Account
from ..privacy.events import Event

__all__ = ["Share"]

_ROOM = 1e-9  # of a part: that all parts together fit whatever rounding does


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
        """Whether the part, and the whole, could pay for all of these."""
        return self._holds(*wanted) and self._account.affords(*wanted)

    def share(self, event: Event) -> float:
        """Which portion of the part one event takes."""
        if self._parts == 1:
            return self._account.share(event)
        return self._parts * (1.0 + _ROOM) * self._account.share(event)

    def _holds(self, *wanted: Event) -> bool:
        return self._taken + sum(map(self.share, wanted)) <= 1.0 + 0.5 * _ROOM
