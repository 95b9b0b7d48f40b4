"""Ledgers and filters: the only mutable privacy state. Charges are refused before anything moves.

Composition theorems differ in what they allow. A *script* is fixed before the data is touched, so
any accountant may price it, and `Scripted` refuses every event that is not the next one. Prices
that depend on answers need a *filter*, and `Filter` offers only the ones with a proof. A `Ledger`
is the filter that several fits share, in one process, in several, or over years in a file.
"""

from typing import TYPE_CHECKING

from ..._lazy import attach

if TYPE_CHECKING:
    from .._filter import Filter, Recorder, Scripted
    from ._audit import Audit
    from ._budget import Partition, Scope, Sent, budget, in_scope, paid
    from ._ledger import Ledger
    from ._place import Head
    from ._state import today
    from .report import Report
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "Filter": "._filter",
            "Recorder": "._filter",
            "Scripted": "._filter",
            "Audit": "_audit",
            "Scope": "_budget",
            "Sent": "_budget",
            "budget": "_budget",
            "in_scope": "_budget",
            "paid": "_budget",
            "Ledger": "_ledger",
            "Partition": "_budget",
            "today": "_state",
            "Head": "_place",
            "Report": "report",
        },
    )

__all__ = [
    "Audit",
    "Filter",
    "Head",
    "Ledger",
    "Partition",
    "Recorder",
    "Report",
    "Scope",
    "Scripted",
    "Sent",
    "budget",
    "in_scope",
    "paid",
    "today",
]
