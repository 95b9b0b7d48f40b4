"""Payer of a fit: the estimator's own ledger, the budget in scope, or nobody, in which case the user is warned."""

from __future__ import annotations

import multiprocessing
import warnings
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from .._messages import frames_to_caller
from ..exceptions import NotSupported, PrivacyWarning
from ..privacy.ledger import Sent, in_scope

if TYPE_CHECKING:
    from ..privacy import Ledger

__all__ = [
    "UNCOVERED",
    "Uncovered",
    "has_own_price",
    "is_out_of_sight",
    "note_clone",
    "note_price",
    "payer_of",
    "paying_ledger",
    "send_scope",
    "take_scope",
]

_CLONED: WeakKeyDictionary[Any, None] = WeakKeyDictionary()  # what was cloned while a ledger paid
_ARRIVED: WeakKeyDictionary[Any, None] = (
    WeakKeyDictionary()
)  # what another process made, and its clones


def payer_of(ledger: Ledger | None) -> Ledger | None:
    """The ledger that was given, else the budget in scope."""
    scope = in_scope() if ledger is None else None
    return ledger if scope is None else scope.ledger


# Clones, and those whose price was set afterwards, as searches do: other candidates may cost otherwise.
_SET: WeakKeyDictionary[Any, None] = WeakKeyDictionary()
_CLONES: WeakKeyDictionary[Any, None] = WeakKeyDictionary()


def paying_ledger(model: Any) -> Ledger | None:
    """Return the ledger that pays for a fit, under the estimator's name in its report; None where nobody pays."""
    payer = payer_of(model.ledger)
    if payer is None and in_scope() is None and "_sent" in vars(model):
        payer = model._sent.ledger
    return None if payer is None else payer.called(type(model).__name__)


def send_scope(model: Any, state: dict[str, Any]) -> dict[str, Any]:
    """Return an estimator's state for another process, with the budget in scope where the estimator has no ledger."""
    scope = in_scope()
    if scope is None or scope.ledger is None or model.ledger is not None:
        return state
    return {**state, "_sent": scope.sent()}


def take_scope(model: Any, state: dict[str, Any]) -> dict[str, Any]:
    """Note that an estimator arrived from another process, and return its state without the budget that it was sent."""
    sent: Sent | None = state.get("_sent")
    own = {name: value for name, value in state.items() if name != "_sent"}
    if sent is not None and sent.travelled:
        own["_sent"] = sent
    _ARRIVED[model] = None
    return own


def note_clone(model: Any, twin: Any) -> None:
    """Note that an estimator has been cloned: a clone takes the budget that its model was sent."""
    if "_sent" in vars(model):
        twin._sent = model._sent
    _CLONES[twin] = None
    if model in _ARRIVED:
        _ARRIVED[twin] = None
    with suppress(NotSupported):  # a fit will say which budget is meant, or that none is
        if payer_of(model.ledger) is not None:
            if model in _CLONED:
                vars(twin)["_one_of_several"] = True
            _CLONED[model] = None


def note_price(model: Any, names: Iterable[str]) -> None:
    """Note that parameters of these names were set: epsilon and delta of a clone may be its own."""
    if {"epsilon", "delta"} & set(names) and (model in _CLONES or model in _ARRIVED):
        _SET[model] = None


def has_own_price(model: Any) -> bool:
    """Return True if an estimator is a clone whose epsilon or delta was set afterwards."""
    return model in _SET


def is_out_of_sight(model: Any) -> bool:
    """Return True if an estimator was made in a worker process: a budget of another process cannot be seen there."""
    return multiprocessing.parent_process() is not None and model not in _ARRIVED


class Uncovered:
    """Counter of fits that no ledger pays for, by public facts of their tables.

    A fingerprint of the records would be an answer about them: whether a warning comes would tell whether
    two tables are equal. So tables with equal columns count as one, and the sentence says "if".
    """

    def __init__(self) -> None:
        self._seen: set[tuple[Any, ...]] = set()
        self.told = False

    def fit(self, n_features: int, names: Any, out_of_sight: bool = False) -> None:
        """Count one more uncovered fit, and warn once a process: at the second fit on equal columns.

        The warning comes at the first fit where a budget of another process would be out of sight.
        """
        if out_of_sight and not self.told:
            self.told = True
            warnings.warn(
                "This estimator was made in a worker process and has no ledger: the budget that is open in the "
                "parent process is not charged. Make the estimator in the parent process, or give it the ledger.",
                PrivacyWarning,
                stacklevel=frames_to_caller(),
            )
        columns = (n_features, None if names is None else tuple(map(str, names)))
        if columns in self._seen and not self.told:
            self.told = True
            warnings.warn(
                f"This is the second fit without a ledger on tables of the same {n_features} columns: if they "
                "hold the same people, the costs of all fits add up (cross-validation, one-vs-rest and "
                "ensembles fit many times). Fit inside `with skdp.budget(epsilon, delta):`, or share a ledger.",
                PrivacyWarning,
                stacklevel=frames_to_caller(),
            )
        self._seen.add(columns)


UNCOVERED = Uncovered()
