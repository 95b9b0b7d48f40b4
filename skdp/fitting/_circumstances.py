"""What a receipt says of the day and the place: public facts that no record decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..privacy.ledger import today

if TYPE_CHECKING:
    from ..privacy import Ledger
    from ..privacy.ledger import Head

__all__ = ["position", "today", "version"]


def version() -> str:
    """Of this library; asked late, since the package imports this room first."""
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
