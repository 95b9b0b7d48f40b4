"""Steps around a fit, as told by the pipeline that makes it.

scikit-learn tells an estimator nothing of the pipeline that holds it. A pipeline that `skdp.make_pipeline` made tells,
for as long as it fits; what another one holds is not known, and a receipt says that. What a user did to the rows
before the outermost `fit` nobody can tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from ..privacy.events import Script
from ._search_budget import name_searches

__all__ = ["Surroundings", "find_surroundings", "merge_around", "name_around", "stand_around"]


@dataclass(frozen=True)
class Surroundings:
    """Facts that a pipeline tells the fits inside it.

    Parameters
    ----------
    around : tuple of str
        Classes of steps that learn from the data without a receipt, or of which nothing is known.
    paying : tuple of str
        Classes of the steps in front that pay, and so learn anew at each fit.
    quotes : callable
        Every step of the outermost pipeline that pays, with the script of its fit; empty where nobody knows.
    """

    around: tuple[str, ...] = ()
    paying: tuple[str, ...] = ()
    quotes: Callable[[], list[tuple[Any, Script]]] = list


_TOLD: ContextVar[Surroundings | None] = ContextVar("skdp_surroundings", default=None)


def find_surroundings() -> Surroundings | None:
    """Return what the pipelines around this fit have told, in its thread; None where none has."""
    return _TOLD.get()


@contextmanager
def stand_around(
    pipeline: Any, quotes: Callable[[], list[tuple[Any, Script]]] = list
) -> Iterator[None]:
    """Tell every fit inside a pipeline which steps stand around it.

    Parameters
    ----------
    pipeline : Pipeline
        That is being fitted.
    quotes : callable
        Its steps that pay, with their scripts.
    """
    from ..inspection.checks import LEARNS, UNKNOWN, check  # fits outside pipelines need none of it

    outer, found = _TOLD.get() or Surroundings(), check(pipeline)
    learning = found.named(LEARNS) + found.named(UNKNOWN)
    front = (check(step) for _, step in pipeline.steps[:-1])
    paying = tuple(part.kind for step in front for part in step.steps if part.charges)
    quotes = quotes if _TOLD.get() is None else outer.quotes
    around, before = _once(outer.around + learning), _once(outer.paying + paying)
    token = _TOLD.set(Surroundings(around, before, quotes))
    try:
        yield
    finally:
        _TOLD.reset(token)


def name_around(name: str, context: Any = None) -> tuple[str, ...] | None:
    """Return the classes around a fit that have no receipt; None where nothing is known and no search was met.

    Parameters
    ----------
    name : str
        Class of who is fitted, which is not around itself.
    context : sklearn.callback.CallbackContext or None
        Of the fit, which knows of searches.
    """
    told, searches = find_surroundings(), name_searches(context)
    names = _once((() if told is None else told.around) + searches)
    return None if told is None and not names else tuple(one for one in names if one != name)


def merge_around(
    earlier: tuple[str, ...] | None, later: tuple[str, ...] | None
) -> tuple[str, ...] | None:
    """Return the names of the steps around two fits; None if there are no names and one of the fits knows of nothing.

    Parameters
    ----------
    earlier, later : tuple of str or None
        As in a receipt.
    """
    names = _once((earlier or ()) + (later or ()))
    return None if not names and None in (earlier, later) else names


def _once(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
