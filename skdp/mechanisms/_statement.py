"""Price list of queries and the proofs behind them: public before anything is asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..privacy.events import Event, Script, merged
from ._mechanism import Mechanism
from ._oracle import pages_and_notes, price
from ._public import Public

__all__ = ["Statement", "state"]


@dataclass(frozen=True)
class Statement:
    """Public statement of a run: its price, its proofs and its notes.

    Parameters
    ----------
    script : tuple of (Event, int)
        What it costs, in order.
    proofs : tuple of str
        Pages of docs/proofs/ that the answers rest on.
    notes : tuple of str
        What a receipt should say of the public constants that were chosen.
    """

    script: Script
    proofs: tuple[str, ...]
    notes: tuple[str, ...]


def state(asked: Iterable[tuple[Mechanism, int]], public: Public) -> Statement:
    """Price questions; what an oracle would refuse is refused here.

    Parameters
    ----------
    asked : iterable of (Mechanism, int)
        Questions in order, with how often each is asked in a row.
    public : Public
        What is known of the records.
    """
    runs: list[tuple[Event, int]] = []
    kinds: dict[Any, Mechanism] = {}
    for question, count in asked:
        runs.append((price(question, public), count))
        kinds.setdefault((type(question), question.proofs()), question)
    return Statement(merged(runs), *pages_and_notes(kinds.values(), public))
