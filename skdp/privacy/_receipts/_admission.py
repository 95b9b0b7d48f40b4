"""Admission of a fit's queries: all by a script fixed beforehand, or each by a filter.

The script of a filtered fit was chosen by its answers and proves nothing by itself. Which of the two a solver needs is
declared by those who run it; a receipt that says otherwise does not hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..receipt import Receipt

__all__ = ["admitted_by", "declare_admission", "wrong_admission"]

_SUFFIX = " filter"
_declared: list[Callable[[str], Iterable[str | None]]] = []


def declare_admission(filters_of: Callable[[str], Iterable[str | None]]) -> None:
    """Declare who knows under which filter a solver runs; it is asked when a receipt is checked.

    Parameters
    ----------
    filters_of : callable
        From the name of a solver's class, with which its text on a receipt begins, to the currencies of the filters of
        all solvers of that name, as `Filter` has them: None for one whose script is fixed beforehand, and nothing for
        a name that is not known.
    """
    _declared.append(filters_of)


def admitted_by(receipt: Receipt) -> str | None:
    """The currency of the filter that a receipt names as its accountant; None if it names none."""
    named = receipt.accountant.endswith(_SUFFIX)
    return receipt.accountant.removesuffix(_SUFFIX) if named else None


def wrong_admission(receipt: Receipt) -> str | None:
    """Return the contradiction in a receipt's account of how its queries were admitted, or None."""
    named = admitted_by(receipt)
    if (named is None) != (receipt.unspent is None):
        return f"accountant={receipt.accountant!r} does not go with unspent={receipt.unspent!r}."
    for part in receipt.solver.split(", then "):
        solver = re.match(r"\w*", part)
        wanted = _wanted(solver[0] if solver else "", named)
        if wanted != named:
            told = "a script fixed beforehand" if wanted is None else f"a {wanted} filter"
            return f"solver={part!r} runs under {told}, but the receipt says accountant={receipt.accountant!r}."
    return None


def _wanted(solver: str, named: str | None) -> str | None:
    """The currency that a solver of this name runs under: the one that is named, where nobody knows another."""
    known = [currency for filters_of in _declared for currency in filters_of(solver)]
    return named if named in known or not known else known[0]
