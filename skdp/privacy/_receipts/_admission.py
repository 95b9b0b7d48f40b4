"""How a fit's questions were admitted: by a script that was fixed beforehand, or one by one by a filter.

The script of a filtered fit was chosen by its answers and proves nothing by itself. Which of the two a solver needs is
declared by those who run it; a receipt that says otherwise does not hold.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..receipt import Receipt

__all__ = ["admitted_by", "declare_admission", "wrong_admission"]

_FILTERS: dict[str, str | None] = {}
_SUFFIX = " filter"


def declare_admission(solver: str, currency: str | None) -> None:
    """Declare the currency of a solver's filter; None for a solver whose script is fixed beforehand.

    Parameters
    ----------
    solver : str
        Name of its class, with which its text on a receipt begins.
    currency : str or None
        As `Filter` has it.
    """
    _FILTERS[solver] = currency


def admitted_by(receipt: Receipt) -> str | None:
    """The currency of the filter that a receipt names as its accountant; None if it names none."""
    named = receipt.accountant.endswith(_SUFFIX)
    return receipt.accountant.removesuffix(_SUFFIX) if named else None


def wrong_admission(receipt: Receipt) -> str | None:
    """What contradicts itself in how a receipt says that its questions were admitted."""
    named = admitted_by(receipt)
    if (named is None) != (receipt.unspent is None):
        return f"accountant={receipt.accountant!r} does not go with unspent={receipt.unspent!r}."
    for part in receipt.solver.split(", then "):
        solver = re.match(r"\w*", part)
        wanted = _FILTERS.get(solver[0], named) if solver else named
        if wanted != named:
            told = "a script fixed beforehand" if wanted is None else f"a {wanted} filter"
            return f"solver={part!r} runs under {told}, the receipt says accountant={receipt.accountant!r}."
    return None
