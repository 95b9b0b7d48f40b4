"""A budget in scope: whatever is fitted inside a ``with`` is charged to one ledger, in workers too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ._state import WHOLE, State

if TYPE_CHECKING:
    from ._ledger import Ledger


import os
import pickle
import tempfile
import threading
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from ...exceptions import NotSupported

if TYPE_CHECKING:
    from ._ledger import Ledger

__all__ = ["Partition", "Scope", "Sent", "budget", "in_scope", "paid"]


class Partition:
    """The parts of divided data, each with a ledger.

    Every part has the whole of the budget, and a charge on some parts leaves the others as they were:
    each record lies in one part, so only what read that part could tell it (docs/proofs/partitions.md).
    What was charged before the division, or is charged on the undivided ledger, weighs on every part.

    Parameters
    ----------
    ledger : Ledger
        The undivided one.
    groups : int or iterable
        How many parts, or their names.

    See Also
    --------
    Ledger : Makes one, by its method `partition`.

    Notes
    -----
    Which part a record is in must not depend on any other record. Under ``neighbors="replace_one"`` parts
    go by *position*: contiguous pieces, or a permutation that depends on n alone; the record that takes
    another's place takes its part. Under ``"add_remove"`` they go by something of the record's own that
    it brings along: a hospital, a year, a keyed hash of an id; never by position, since one record that
    goes moves all that follow. Stratified and data-dependent splits fulfil neither.

    Examples
    --------
    Three folds: a record trains two of three models, and is tested once.

    >>> from skdp.privacy import Ledger
    >>> from skdp.privacy.events import PureDP
    >>> ledger = Ledger(1.0, 0.0)
    >>> folds = ledger.partition(3)
    >>> for fold in folds:
    ...     folds.without(fold).reserve(((PureDP(0.4), 1),))  # trains on the others
    ...     folds[fold].reserve(((PureDP(0.1), 1),))  # is tested on this one
    >>> ledger.spent  # two times 0.4 and 0.1, not three times 0.5
    0.9
    """

    def __init__(self, ledger: Ledger, groups: int | Iterable[object]) -> None:
        self.ledger, self.names = ledger, _names(groups)
        if ledger.parts:
            raise ValueError(
                f"The ledger covers only the parts {ledger.parts}; divide the whole ledger, once, into the smallest "
                "parts, and use only(...) to join some."
            )

        def step(state: State) -> State:
            if state.parts not in (WHOLE, self.names):
                raise ValueError(
                    f"The ledger is divided into {state.parts}, not into {self.names}: records of one division "
                    "lie in several parts of another; use the division that it has."
                )
            return ledger._rules.divided(state, self.names) if state.parts == WHOLE else state

        ledger._store.change(step)

    def __getitem__(self, name: object) -> Ledger:
        """The ledger of one part."""
        return self.only(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def only(self, *names: object) -> Ledger:
        """The ledger of a set of parts: a charge weighs on each of them."""
        chosen = tuple(dict.fromkeys(map(str, names)))
        unknown = [name for name in chosen if name not in self.names]
        if unknown or not chosen:
            raise ValueError(f"Parts {unknown} are unknown; name one or more of {self.names}.")
        return self.ledger._view(chosen)

    def without(self, *names: object) -> Ledger:
        """The ledger of all other parts, such as the training folds where these are tested."""
        self.only(*names)
        left_out = set(map(str, names))
        return self.only(*(name for name in self.names if name not in left_out))


def _names(groups: int | Iterable[object]) -> tuple[str, ...]:
    wanted: Iterable[object] = range(groups) if isinstance(groups, int) else groups
    names = tuple(map(str, wanted))
    if len(names) < 1 or len(set(names)) < len(names) or "" in names:
        raise ValueError(
            f"groups={groups!r} must be a number of parts, 1 or more, or their names, all different."
        )
    return names


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
