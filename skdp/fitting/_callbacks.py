"""Callbacks of scikit-learn 1.9 and later: they follow which question is asked, and see no record.

A fit is a task, and each of its questions one below it. A callback that asks for records, targets or a model in the
midst of a fit is refused when it is set: these have no price. What a callback returns cannot stop a fit, which has been
paid for as a whole.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ..exceptions import NotSupported
from ..privacy.events import Event

__all__ = ["begin_context", "refuse_looks", "telling"]

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
