"""Payer of a fit: the estimator's own ledger, the budget in scope, or nobody, in which case the user is warned."""

from __future__ import annotations

import multiprocessing
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakKeyDictionary

from ..exceptions import NotSupported, PrivacyWarning
from ..privacy.ledger import Sent, in_scope
from ._bases import BaseEstimator
from ._warning import frames_to_caller

if TYPE_CHECKING:
    from ..privacy import Ledger

__all__ = ["UNCOVERED", "Covered", "Uncovered", "payer_of"]

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


class Covered(BaseEstimator):
    """Part of an estimator that finds who pays, and takes the budget in scope along to other processes."""

    ledger: Ledger | None

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        scope = in_scope()
        if scope is not None and scope.ledger is not None and self.ledger is None:
            state = {**state, "_sent": scope.sent()}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        sent: Sent | None = state.get("_sent")
        super().__setstate__({name: value for name, value in state.items() if name != "_sent"})
        if sent is not None and sent.travelled:
            self._sent = sent
        _ARRIVED[self] = None

    def __sklearn_clone__(self) -> Self:
        twin: Self = super().__sklearn_clone__()
        if "_sent" in self.__dict__:
            twin._sent = self._sent
        _CLONES[twin] = None
        if self in _ARRIVED:
            _ARRIVED[twin] = None
        with suppress(NotSupported):  # a fit will say which budget is meant, or that none is
            if payer_of(self.ledger) is not None:
                if self in _CLONED:
                    vars(twin)["_one_of_several"] = True
                _CLONED[self] = None
        return twin

    def _payer(self) -> Ledger | None:
        """The ledger that pays for a fit, by the estimator's name in its report."""
        payer = payer_of(self.ledger)
        if payer is None and in_scope() is None and "_sent" in self.__dict__:
            payer = self._sent.ledger
        return None if payer is None else payer.called(type(self).__name__)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, as in scikit-learn."""
        super().set_params(**params)
        if {"epsilon", "delta"} & set(params) and (self in _CLONES or self in _ARRIVED):
            _SET[self] = None
        return self

    def _has_a_price_of_its_own(self) -> bool:
        """Tell whether it is a clone whose price was set afterwards."""
        return self in _SET

    def _is_out_of_sight(self) -> bool:
        """Tell whether it was made in a worker process: then nothing says whether a budget is open in another one."""
        return multiprocessing.parent_process() is not None and self not in _ARRIVED


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
