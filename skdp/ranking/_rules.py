"""Values that parameters of rankers may take, where other estimators lack the name or have another rule."""

from __future__ import annotations

from numbers import Real
from typing import Any

from ..fitting.data import is_count
from ..losses import LIST_LOSSES, ListLoss
from ..solvers import LIST_SOLVERS, SOLVERS, Solver

__all__ = ["RULES_OF_LISTS"]

_SOLVERS = sorted(
    {*LIST_SOLVERS, *(name for name, kind in SOLVERS.items() if kind.takes_lists), "auto"}
)
_UNITS = ("list", "list_labels", "user")


def _is_width(value: Any) -> bool:
    return is_count(value) and value <= 10**6


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


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
    "hidden_layer_sizes": (
        lambda value: all(map(_is_width, value if isinstance(value, list | tuple) else [value])),
        "must be a number of units from 1 to 1e6, or a tuple of such numbers, one for each hidden layer; () for none",
    ),
    "spectral_norm": (
        lambda value: value is None or (_is_number(value) and 1e-6 <= value <= 1e6),
        "must be a number between 1e-6 and 1e6, or None: of the largest singular values, over those of weights to "
        "begin with",
    ),
    "max_documents": (is_count, "must be a whole number of 1 or more: documents of a list"),
}
