"""Progress over the script, which is public: which question is being asked, and nothing else.

Callbacks of scikit-learn 1.9 and later: they follow which question is asked, and see no record.

A fit is a task, and each of its questions one below it. A callback that asks for records, targets or a model in the
midst of a fit is refused when it is set: these have no price. What a callback returns cannot stop a fit, which has been
paid for as a whole.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from ..exceptions import NotSupported
from ..mechanisms._oracle import Account
from ..privacy.events import Event
from ..privacy.ledger import Recorder, Scripted

__all__ = [
    "Ticking",
    "Told",
    "begin_context",
    "finish",
    "length_of",
    "refuse_looks",
    "telling",
    "with_progress_bar",
]


if TYPE_CHECKING:
    pass


class Told(Protocol):
    """Listener that is told of the questions of a fit, one after the other."""

    def begin(self, event: Event) -> None:
        """Mark a question as begun: it has been paid for."""

    def end(self) -> None:
        """Mark the question as answered, and what follows from the answer as worked out."""


class _Bar:
    """A progress bar that moves by one for every question that is over."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def begin(self, event: Event) -> None:
        """Leave the bar as it is: the question has yet to be answered."""

    def end(self) -> None:
        self._bar.update()


class Ticking:
    """An account that says where a fit is: a question is over when the next one is charged, or the fit ends.

    Parameters
    ----------
    account : Account
        What pays.
    told : Told
        Who is told.
    """

    def __init__(self, account: Account, told: Told) -> None:
        self._account, self._told, self._open = account, told, False

    def charge(self, event: Event) -> None:
        """Charge the account, and report the question before as over and this one as begun."""
        self._account.charge(event)
        self.over()
        self._told.begin(event)
        self._open = True

    def over(self) -> None:
        """End the question that is open."""
        if self._open:
            self._told.end()
            self._open = False

    def finish(self) -> None:
        """Report the last question as over, then finish the account."""
        self.over()
        finish(self._account)

    def affords(self, *wanted: Event) -> bool:
        """Return True if the account has enough left."""
        return self._account.affords(*wanted)

    def share(self, event: Event) -> float:
        """Return the part of the account that a question takes."""
        return self._account.share(event)


def length_of(account: Account) -> int | None:
    """Return the number of questions that will come; None for a filter, under which answers decide.

    Parameters
    ----------
    account : Account
        Of a fit.
    """
    if not isinstance(account, Recorder | Scripted):
        return None
    return sum(count for _, count in account.script)


def finish(account: Any) -> None:
    """End the question that is open, once a fit is over.

    Parameters
    ----------
    account : Account
        Says where a fit is, or does not.
    """
    over = getattr(account, "finish", None)
    if over is not None:
        over()


def with_progress_bar(account: Account, name: str, verbose: int, total: int | None) -> Account:
    """The account itself, or with ``verbose`` of 2 or more one that shows its progress (extra ``progress``).

    Parameters
    ----------
    account : Account
        What pays.
    name : str
        Label of the bar.
    verbose : int
        The estimator's.
    total : int or None
        How many questions will come, where that is known.

    Returns
    -------
    Account
        Charges the given one.
    """
    if verbose < 2:
        return account
    try:
        from tqdm import tqdm
    except ImportError as error:
        raise ImportError(
            f"verbose={verbose} shows a progress bar, which needs tqdm: pip install 'skdp[progress]', or set verbose=1."
        ) from error
    return Ticking(account, _Bar(tqdm(total=total, desc=name, unit="question")))


_HOOKS = "on_fit_task_begin", "on_fit_task_end"


def refuse_looks(callback: Any) -> None:
    """Refuse a callback that asks for more than the progress of the fit."""
    for hook in (getattr(callback, name, None) for name in _HOOKS):
        if hook is None:
            continue
        asked = inspect.signature(hook).parameters.values()
        wanted = [one.name for one in asked if one.kind is one.KEYWORD_ONLY]
        if wanted:
            raise NotSupported(
                f"{type(callback).__name__} asks for {wanted[0]} during a fit, which has no price; use a callback "
                "that only follows progress, such as sklearn.callback.ProgressBar."
            )


class _Questions:
    """The tasks below a fit's own."""

    def __init__(self, estimator: Any, context: Any) -> None:
        self._estimator, self._context = estimator, context
        self._task: Any = None

    def begin(self, event: Event) -> None:
        """Report that a question has been paid for."""
        self._task = self._context.subcontext(task_name=type(event).__name__)
        self._task.call_on_fit_task_begin(estimator=self._estimator)

    def end(self) -> None:
        """Report that the question has been answered."""
        self._task.call_on_fit_task_end(estimator=self._estimator)


def begin_context(estimator: Any, questions: int | None) -> Any:
    """Begin a fit's task of scikit-learn's callbacks, which knows what it is a part of; None before 1.9.

    Parameters
    ----------
    estimator : estimator
        Inside of a method that lets go of its callbacks, however it ends.
    questions : int or None
        How many there will be.
    """
    begin = getattr(estimator, "_init_callback_context", None)
    return None if begin is None else begin(max_subtasks=questions)


def telling(estimator: Any, context: Any, run: Callable[[Any], Any]) -> Any:
    """Run a fit while the estimator's callbacks follow its questions, and return what the fit returns.

    Parameters
    ----------
    estimator : estimator
        Has callbacks, or none.
    context : sklearn.callback.CallbackContext or None
        Of this fit.
    run : callable
        Takes who is told of questions, or None.
    """
    if context is None or not getattr(estimator, "_skl_callbacks", None):
        return run(None)
    context.call_on_fit_task_begin(estimator=estimator)
    found = run(_Questions(estimator, context))
    context.call_on_fit_task_end(estimator=estimator)
    return found
