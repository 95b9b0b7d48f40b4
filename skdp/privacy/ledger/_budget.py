"""A budget in scope: whatever is fitted inside a ``with`` is charged to one ledger, in workers too."""

from __future__ import annotations

import os
import pickle
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from ...exceptions import NotSupported

if TYPE_CHECKING:
    from ._ledger import Ledger

__all__ = ["Scope", "Sent", "budget", "in_scope", "paid"]


class Scope:
    """An open budget: its ledger, and a mark on the disk that stands while it is open.

    The mark tells other processes whether the ``with`` that sent them a fit is still there. Without a ledger, what is
    inside has been paid for as a whole.
    """

    def __init__(self, ledger: Ledger | None) -> None:
        self.ledger, self.thread = ledger, threading.get_ident()
        self._mark: str | None = None

    def sent(self) -> Sent:
        """Return the part of the scope that travels with an estimator into another process."""
        if self._mark is None:
            handle, self._mark = tempfile.mkstemp(prefix="skdp-budget-")
            os.close(handle)
        return Sent(self._mark, os.getpid(), pickle.dumps(self.ledger))

    def close(self) -> None:
        """The ``with`` has ended."""
        if self._mark is not None:
            with suppress(FileNotFoundError):
                os.unlink(self._mark)


class Sent:
    """A scope as it is seen from another process."""

    def __init__(self, mark: str, process: int, ledger: bytes) -> None:
        self._mark, self._process, self._ledger = mark, process, ledger

    @property
    def travelled(self) -> bool:
        """True if the scope belongs to another process: in its own, the ``with`` itself decides.

        One that has ended stays, too: a fit that arrives late would be charged to nobody.
        """
        return os.getpid() != self._process

    @property
    def ledger(self) -> Ledger:
        """The ledger to charge, or a refusal once the scope has ended."""
        if not os.path.exists(self._mark):
            raise NotSupported(
                "This estimator was pickled inside a budget that has ended; fit it inside another `with`, or give "
                "it a ledger."
            )
        ledger: Ledger = pickle.loads(self._ledger)
        return ledger


_HERE: ContextVar[Scope | None] = ContextVar("skdp_budget", default=None)
_OPEN: list[Scope] = []


@contextmanager
def budget(
    epsilon: float, delta: float, neighbors: str = "replace_one", **options: Any
) -> Iterator[Ledger]:
    """Charge every fit inside a ``with`` to one ledger.

    Fits of estimators without a ledger of their own are covered, whoever calls them: pipelines, searches,
    ensembles, threads, and worker processes that estimators are sent to.

    Parameters
    ----------
    epsilon, delta : float
        The promise for everything inside, but for what pays elsewhere: at a ledger of its own, or in an inner budget.
    neighbors : {"replace_one", "add_remove"}
        The relation.
    **options
        ``accountant``, ``path``, ``fits``, ``plan``, ``must_exist``, ``moved`` and ``witness``, as of `Ledger`.

    Yields
    ------
    Ledger
        The ledger that pays.

    See Also
    --------
    Ledger : The same as an object that estimators are given.

    Notes
    -----
    Budgets may be nested, and the innermost pays. Threads that were started inside see the budget; where
    several threads have opened different ones, a fit in yet another thread is refused. An estimator that
    a function *makes* in a worker process (of loky, as joblib uses by default, or another that was spawned, or was
    started before the ``with``) is not covered, and a warning says so: make it outside and send it, or give it the
    ledger.

    Examples
    --------
    >>> import skdp
    >>> from sklearn.model_selection import cross_val_score
    >>> from skdp.datasets import make_census
    >>> X, y = make_census(n_samples=300, return_X_y=True)
    >>> model = skdp.DPLogisticRegression(
    ...     epsilon=0.3, delta=1e-6, data_norm=1.0, classes=[0, 1], solver="gd"
    ... )
    >>> with skdp.budget(epsilon=2, delta=1e-5, fits=3) as ledger:
    ...     scores = cross_val_score(model, X, y, cv=3)
    >>> len(ledger), ledger.spent < 0.9
    (3, True)
    """
    from ._ledger import Ledger

    ledger = Ledger(epsilon, delta, neighbors, **options)
    scope = Scope(ledger)
    token = _HERE.set(scope)
    _OPEN.append(scope)
    try:
        yield ledger
    finally:
        _HERE.reset(token)
        _OPEN.remove(scope)
        scope.close()


_PAID = Scope(None)


@contextmanager
def paid() -> Iterator[None]:
    """Fits inside are parts of something that has been charged as a whole: no budget is charged for them again."""
    token = _HERE.set(_PAID)
    try:
        yield
    finally:
        _HERE.reset(token)


def in_scope() -> Scope | None:
    """The budget that covers a fit in this thread, or None."""
    scope = _HERE.get()
    if scope is not None or not _OPEN:
        return scope
    if len({open_one.thread for open_one in _OPEN}) > 1:
        raise NotSupported(
            "Several threads have opened a budget, but not this one; give the estimator a ledger."
        )
    return _OPEN[-1]
