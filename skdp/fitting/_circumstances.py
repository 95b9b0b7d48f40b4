"""What a receipt says of the day and the place: public facts that no record decides."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from ..privacy import Ledger

__all__ = ["position", "today", "version"]


def version() -> str:
    """Of this library; asked late, since the package imports this room first."""
    from .. import __version__

    return __version__


def today() -> str:
    """The date, UTC. A time of day would say how long fits take, which may depend on records."""
    return datetime.now(UTC).date().isoformat()


def position(ledger: Ledger, before: float) -> dict[str, Any]:
    """Where a shared ledger stands after it has paid; other fits may have charged it in between."""
    return {
        "epsilon": ledger.epsilon,
        "delta": ledger.delta,
        "spent_before": before,
        "spent_after": ledger.spent,
    }
