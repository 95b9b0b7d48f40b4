"""What a receipt says of the day and the place: public facts that no record decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..privacy.ledger import today

if TYPE_CHECKING:
    from ..privacy import Ledger

__all__ = ["position", "today", "version"]


def version() -> str:
    """Of this library; asked late, since the package imports this room first."""
    from .. import __version__

    return __version__


def position(ledger: Ledger, before: float) -> dict[str, Any]:
    """Where a shared ledger stands after it has paid, and which line of its file says so, if it has one.

    Other fits may have charged it in between.
    """
    head = ledger.head
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
