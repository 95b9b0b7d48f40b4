"""What parameters of rankers may be, where other estimators have none of the name, or another rule."""

from __future__ import annotations

from typing import Any

from ..fitting.data import is_count
from ..losses import LIST_LOSSES, ListLoss
from ..solvers import LIST_SOLVERS, SOLVERS, Solver

__all__ = ["RULES_OF_LISTS"]

_SOLVERS = sorted(
    {*LIST_SOLVERS, *(name for name, kind in SOLVERS.items() if kind.takes_lists), "auto"}
)
_UNITS = ("list", "list_labels", "user")


def _named(kind: Any, names: Any) -> Any:
    return lambda value: isinstance(value, kind) or (isinstance(value, str) and value in names)


RULES_OF_LISTS: dict[str, Any] = {
    "privacy_unit": (
        _named((), _UNITS),
        "is not known; use 'list', 'user' for persons with several, or 'list_labels' where documents are public",
    ),
    "loss": (
        _named(ListLoss, LIST_LOSSES),
        f"is not known; use one of {sorted(LIST_LOSSES)} or an instance of ListLoss from skdp.losses",
    ),
    "solver": (
        _named(Solver, _SOLVERS),
        f"is not known here; use one of {_SOLVERS} or an instance from skdp.solvers",
    ),
    "k": (is_count, "must be a whole number of 1 or more: the places that count in score"),
    "max_lists_per_user": (
        lambda value: value is None or is_count(value),
        "must be a whole number of 1 or more: the lists of a person that enter, or None",
    ),
    "max_documents": (is_count, "must be a whole number of 1 or more: documents of a list"),
}
