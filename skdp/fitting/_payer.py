"""Payer of a fit: the estimator's own ledger, the budget in scope, or nobody, in which case the user is warned.

Warnings, before anything is paid, of guarantees that protect nobody and of noise that drowns a model.
"""

from __future__ import annotations

import multiprocessing
import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from .._messages import frames_to_caller
from ..exceptions import NotSupported, PrivacyWarning
from ..privacy import Spec
from ..privacy._arithmetic import round_up
from ..privacy._risk import PROTECTS_NOBODY, share_caught
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
    "warn_of_doubts",
    "warn_of_noise",
    "warn_of_promise",
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


DROWNED = (
    1.0  # log-odds, or deviations of residuals: noise on a score that is as large as what it tells
)


def warn_of_promise(spec: Spec, n: int | None) -> None:
    """Warn of a privacy guarantee that protects nobody.

    Parameters
    ----------
    spec : Spec
        The promise.
    n : int or None
        Records, or persons, as far as their number is public.
    """
    if _part_of_a_whole():
        return
    if not spec.private:
        _warn("epsilon=inf adds no noise: the result is NOT private; use it for debugging only.")
        return
    if share_caught(spec) >= PROTECTS_NOBODY:
        _warn(
            f"epsilon={round_up(spec.epsilon)} protects hardly anybody: an attacker who is wrong about 5 of 100 people "
            "outside the data may find 99 of 100 people in it; 1 is usual, and above 10 little is left."
        )
    if n is not None and spec.delta * n >= 1.0:
        _warn(
            f"delta={round_up(spec.delta)} is not below 1/n={1.0 / n:.2g}: it allows a fit to publish a record now and "
            f"then; choose delta={min(1e-6, n**-1.5):.0e} or less."
        )


def warn_of_doubts(doubts: Iterable[str]) -> None:
    """Warn of parameters that an estimator finds doubtful.

    Parameters
    ----------
    doubts : iterable of str
        Sentences.
    """
    if not _part_of_a_whole():
        for told in doubts:
            _warn(told)


def warn_of_noise(error: Mapping[str, Any]) -> None:
    """Warn where noise will move scores so far that little of the model is left.

    Parameters
    ----------
    error : mapping
        A receipt's ``standard_error``, which a quote tells at no cost; empty where public numbers do not tell.
    """
    if error.get("score", 0.0) >= DROWNED and not _part_of_a_whole():
        _warn(
            f"Noise drowns this model: it moves a score by about {error['score']:.2g} {error['unit']}; see quote(). "
            "Use more records, fewer columns, tighter bounds or a larger epsilon."
        )


def _part_of_a_whole() -> bool:
    """Return True if the release was paid for together with others.

    Which releases a search makes is then secret, and a warning would reveal it.
    """
    scope = in_scope()
    return scope is not None and scope.ledger is None


def _warn(told: str) -> None:
    warnings.warn(told, PrivacyWarning, stacklevel=frames_to_caller())
