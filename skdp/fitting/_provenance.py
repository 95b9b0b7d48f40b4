"""Steps around a fit, as told by the pipeline that makes it.

scikit-learn tells an estimator nothing of the pipeline that holds it. A pipeline that `skdp.make_pipeline` made tells,
for as long as it fits; what another one holds is not known, and a receipt says that. What a user did to the rows
before the outermost `fit` nobody can tell.

Refusal of a search that its ledger cannot pay for, before the first fit, and a warning where its size is unknown.

scikit-learn turns an error of a fit into a score of nan and goes on, so a search that runs out of budget on the way
would spend it all and end with the first candidate, or with no model. Since 1.9 its searches tell callbacks which task
of which search a fit is; the context that a fit asks for is public, and so is how many tasks there will be. Before
1.9, and in cross-validation, nothing tells: then ``skdp.budget(..., fits=)`` or ``Ledger.announce`` does.

Privacy: none of this is a condition of a guarantee. A fit that is let pass is charged as any other.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._messages import frames_to_caller
from ..exceptions import BudgetExceeded, PrivacyWarning
from ..privacy.events import Script

if TYPE_CHECKING:
    from ..privacy import Ledger

__all__ = [
    "UNANNOUNCED",
    "Search",
    "Surroundings",
    "Unannounced",
    "expect_more",
    "find_search",
    "find_surroundings",
    "merge_around",
    "name_around",
    "name_searches",
    "stand_around",
]


TASK = "search"  # scikit-learn's name for the task whose subtasks are the fits of all candidates


@dataclass(frozen=True)
class Search:
    """A search of scikit-learn that makes a fit, with all searches around it.

    Parameters
    ----------
    name : str
        Class of the outermost search.
    identity : str
        What tells this run of it, and a round of it, from others, in every process.
    fits : int
        How many fits it makes in all, or from this round on at least.
    place : int
        How many of them come before this one.
    """

    name: str
    identity: str
    fits: int
    place: int

    def label(self, ledger: Ledger, payer: str) -> Ledger:
        """The ledger under a name by which all fits of this search are found in it."""
        return ledger.called(f"{payer} in {self.name} {self.identity}")

    def refuse_unpayable(
        self,
        ledger: Ledger,
        payer: str,
        script: Script,
        others: Iterable[tuple[str, Script]] = (),
        varies: bool = False,
    ) -> None:
        """Refuse a fit unless the ledger holds all that are left of this search; others like it are asked no more.

        Parameters
        ----------
        ledger : Ledger
            That pays.
        payer : str
            Who is fitted.
        script : tuple of (Event, int)
            What the fit asks.
        others : iterable of (str, script)
            Other steps of the same pipeline that the ledger pays for.
        varies : bool
            Whether the search sets the price, so that what other candidates cost is not known: where somebody has
            announced it, that counts.
        """
        if self.identity in _REFUSED:
            raise BudgetExceeded(_REFUSED[self.identity])
        if not ledger.spec.private or (self.identity, script) in _LET_PASS:
            return
        if varies and ledger.announced:
            return
        coming = [(script, max(1, self._left(ledger, payer)))]
        coming += [(asked, max(0, self._left(ledger, name))) for name, asked in others]
        try:
            ledger.announce(coming)
        except BudgetExceeded as error:
            told = f"{_VARIES}{error}" if varies else str(error)
            _REFUSED[self.identity] = told
            raise BudgetExceeded(told) from None
        _LET_PASS.add((self.identity, script))

    def _left(self, ledger: Ledger, payer: str) -> int:
        """Return the number of fits of an estimator that are to come.

        Fits before this one that did not pay were refused, so they are not counted as coming again.

        Fits before this one that did not pay were refused, so they come again in no count.
        """
        paid = [who for who in ledger.payers if self.identity in who]
        own = sum(who.startswith(f"{payer} ") for who in paid)
        return self.fits - max(own, min(self.place, len(paid)))


_VARIES = (
    "This search varies epsilon or delta, so the cost of its other candidates is unknown: declare it before the "
    "search with ledger.announce([(model.quote(n, d).script, fits), ...]), without fits=. If all candidates cost as "
    "much as this one: "
)
# Of searches that this process makes fits for: what was found payable, and what was not, after which nothing is.
_LET_PASS: set[tuple[str, Script]] = set()
_REFUSED: dict[str, str] = {}


def expect_more(
    ledger: Ledger,
    payer: str,
    script: Script,
    context: Any,
    several: bool,
    others: Iterable[tuple[str, Script]] = (),
    varies: bool = False,
) -> Ledger:
    """Refuse a fit whose search the ledger cannot hold, and return the ledger under the payer's name.

    Parameters
    ----------
    ledger : Ledger
        That pays.
    payer : str
        Who is fitted.
    script : tuple of (Event, int)
        What the fit asks.
    context : sklearn.callback.CallbackContext or None
        Of the fit.
    several : bool
        Whether it is one of several clones, so that where no search is known a warning is due.
    others : iterable of (str, script)
        Other steps of the same pipeline that the ledger pays for; read where they count.
    varies : bool
        Whether a search has set the price.
    """
    search = find_search(context)
    if search is not None:
        search.refuse_unpayable(ledger, payer, script, others, varies)
        return search.label(ledger, payer)
    if several and not name_searches(context):
        UNANNOUNCED.fit(payer, ledger)
    return ledger


def find_search(context: Any) -> Search | None:
    """Return the search that makes a fit, by the context of the fit; None where scikit-learn gives none.

    Parameters
    ----------
    context : sklearn.callback.CallbackContext or None
        Of the fit itself.
    """
    fits, place, stage, each, name = 1, 0, "", 1, ""
    for task in _upwards(context):
        above = task.parent
        if not _is_of_search(above):
            continue
        if (
            above.sequential_subtasks
        ):  # rounds of a halving search: a later one makes a fit at least
            fits += max(int(above.max_subtasks) - int(task.task_id) - 1, 0)
            stage = f".{task.task_id}{stage}"
        else:
            place, each = place + fits * int(task.task_id), fits
            fits *= int(above.max_subtasks)
        if above.task_name == TASK:
            fits += each * _refits(above)
            name = str(above.estimator_name)
    return Search(name, context.root_uuid.hex[:12] + stage, fits, place) if name else None


def _is_of_search(task: Any) -> bool:
    """Return True if a task is a search's comparison of candidates, or a round of it."""
    if task is None or not task.max_subtasks:
        return False
    own_round = task.source_task_name is None and task.parent is not None
    return task.task_name == TASK or (own_round and task.parent.task_name == TASK)


def name_searches(context: Any) -> tuple[str, ...]:
    """Classes of the searches around a fit, that of the refit too.

    Parameters
    ----------
    context : sklearn.callback.CallbackContext or None
        Of the fit itself.
    """
    found = (
        str(task.estimator_name)
        for task in _upwards(context)
        if any(one.task_name == TASK and one.parent is task for one in task)
    )
    return tuple(dict.fromkeys(found))


def _upwards(context: Any) -> Iterator[Any]:
    """A task and those that it is a part of, the innermost first."""
    while context is not None:
        yield context
        context = context.parent


def _refits(task: Any) -> int:
    """Return the number of fits that a search makes besides the task that compares candidates."""
    whole = task.parent
    return 0 if whole is None or whole.max_subtasks is None else int(whole.max_subtasks) - 1


class Unannounced:
    """Say once a process that several clones are fitted at a ledger which knows of no number of fits."""

    def __init__(self) -> None:
        self.told = False

    def fit(self, payer: str, ledger: Ledger) -> None:
        """Warn of a fit of a clone that is not the first one.

        Parameters
        ----------
        payer : str
            Who is fitted.
        ledger : Ledger
            That pays.
        """
        if self.told or ledger.announced or not ledger.spec.private:
            return
        self.told = True
        warnings.warn(
            f"Clones of one {payer} charge a ledger, and nothing says how many will follow: if the budget runs out "
            "midway, the fits already made stay charged. Declare the number with skdp.budget(epsilon, delta, "
            "fits=...), Ledger(..., fits=...) or Ledger.announce; what the budget cannot pay is then refused before "
            "the first fit.",
            PrivacyWarning,
            stacklevel=frames_to_caller(),
        )


UNANNOUNCED = Unannounced()


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
