"""The window between a solver and the records: check, pay, touch, noise, in that order.

Price list of queries and the proofs behind them: public before anything is asked.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..exceptions import NotSupported
from ..losses import Loss
from ..penalties import Penalty
from ..privacy.events import Event, Script, merged
from . import _registry
from ._mechanism import Mechanism
from ._noise import Noise
from ._public import Public
from ._records import Records
from ._schedule import Schedule

__all__ = ["Account", "Oracle", "Statement", "pages_and_notes", "price", "state"]


_PLAIN = frozenset({float, int, bool, tuple, type(None)})  # what cannot change
_PARTS = (Loss, Penalty, Schedule)


class Account(Protocol):
    """Protocol of the account that an oracle charges: it refuses before anything is touched."""

    def charge(self, event: Event) -> None:
        """Pay for one event, or raise and change nothing."""

    def affords(self, *wanted: Event) -> bool:
        """Return whether all of these could be paid together; a function of public history alone."""

    def share(self, event: Event) -> float:
        """Return the share of the whole allowance that one event takes, whatever has been spent."""


class Oracle:
    """Answers registered questions about one vault, and charges an account for each.

    Parameters
    ----------
    records : Records
        The vault; a solver is given the oracle and never this.
    account : Account
        Charged before a record is touched. A fit that fails later has paid.
    noise : Noise
        Where the answers' randomness comes from.

    Attributes
    ----------
    public : Public
        What may be known without paying.

    See Also
    --------
    Records : The vault.
    skdp.privacy.Filter : An account.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.mechanisms import Count, Noise, Oracle, Public, Records
    >>> from skdp.privacy import Filter, Spec
    >>> public = Public(n=None, n_features=1, intercept=0.0, neighbors="add_remove")
    >>> vault = Records.admit(np.ones((100, 1)), np.ones(100), public, data_norm=1.0)
    >>> account = Filter(Spec(1.0, 1e-6, "add_remove"), "zcdp")
    >>> oracle = Oracle(vault, account, Noise(seed=0))
    >>> bool(abs(oracle.ask(Count(multiplier=5.0)) - 100.0) < 40.0)
    True
    >>> 0.0 < account.spent < 1.0, oracle.proofs
    (True, ('count',))
    """

    __slots__ = ("__account", "__kinds", "__lock", "__noise", "__records", "public")

    def __init__(self, records: Records, account: Account, noise: Noise) -> None:
        self.public = records.public  # for the solver; prices are found with the vault's own
        self.__records, self.__account, self.__noise = records, account, noise
        self.__kinds: dict[tuple[type, type], Mechanism] = {}  # the first question of each kind
        self.__lock = threading.Lock()

    @property
    def proofs(self) -> tuple[str, ...]:
        """Pages of docs/proofs/ that the answers given so far rest on."""
        return self.rests_on()[0]

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for a receipt on the public constants of the queries asked so far."""
        return self.rests_on()[1]

    def rests_on(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Proof pages and notes of the questions asked so far, for a receipt."""
        return pages_and_notes(self.__kinds.values(), self.__records.public)

    def ask(self, question: Mechanism) -> Any:
        """Check, pay, touch, noise: of a copy, so that what is priced is what is answered."""
        question, kind = _copied(question)
        event = _event(question, self.__records.public)
        with self.__lock:  # a solver may ask from threads, and accounts check before they note
            self.__account.charge(event)
        if kind not in self.__kinds:
            self.__kinds[kind] = question
        # A floating-point error that a program has made fatal would show which records there are.
        with np.errstate(all="ignore"):
            return question.answer(self.__records, self.__noise)

    def affords(self, *questions: Mechanism) -> bool:
        """Return whether all of these queries could be paid for, together, now."""
        public = self.__records.public
        return self.__account.affords(*(_event(question, public) for question in questions))

    def share(self, question: Mechanism) -> float:
        """Return the share of a filter's whole allowance that the query would take."""
        return self.__account.share(_event(question, self.__records.public))


def pages_and_notes(
    questions: Iterable[Mechanism], public: Public
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Pages that the questions' answers rest on, each once, and what the questions want a receipt to say."""
    questions = tuple(questions)
    pages = dict.fromkeys(page for question in questions for page in question.proofs())
    notes = [note for question in questions for note in question.notes(public)]
    if public.model.proof is not None and questions:
        pages[public.model.proof] = None
    if public.lists is not None:
        if public.lists_each and questions:
            pages["units"] = None
        return tuple(pages), (*notes, *_of_lists(public))
    if public.shares and questions:
        pages["units"] = None
    if public.weighted and questions:
        notes.append(
            "each row has a weight of its own, at most 1 as a share of the declared bound; the weight is protected "
            "with its record"
        )
    if public.rows > 1 and questions:
        notes.append(
            f"neighbours differ in one unit; at most its first {public.rows} rows are used, with equal weights that "
            "sum to 1, so the estimate is a mean over units"
        )
    return tuple(pages), tuple(notes)


def _of_lists(public: Public) -> tuple[str, ...]:
    """Return a note on how neighbours differ where records are lists."""
    if public.lists == "labels":
        return (
            "neighbours differ in the labels of one list; which lists there are and all their documents are "
            "public, and are not protected",
        )
    if public.lists_each:
        return (
            f"neighbours differ in all lists of one person; at most the first {public.lists_each} lists are used, "
            f"with equal weights that sum to 1, and at most the first {public.rows // public.lists_each} documents "
            "of each",
        )
    return (
        f"neighbours differ in one whole list, documents and labels; at most its first {public.rows} documents are "
        "used",
    )


def price(question: Mechanism, public: Public) -> Event:
    """Return what an oracle would charge for the query; it is refused here where it would be refused there.

    Parameters
    ----------
    question : Mechanism
        What might be asked.
    public : Public
        What is known of the records.
    """
    return _event(_copied(question)[0], public)


def _event(question: Mechanism, public: Public) -> Event:
    """The price, where the question and the one inside it have a proof for such units and weights."""
    if public.lists is not None:
        asked = vars(question).get("question") or question
        if not asked.of_lists:
            raise NotSupported(
                f"{type(asked).__name__} has no proof for lists of documents; ask a query for lists, such as "
                "ListGradient."
            )
        if public.lists_each and not asked.covers_users:
            raise NotSupported(
                f"{type(asked).__name__} has no proof for units of several lists; ask ListGradient."
            )
    elif public.shares:
        for part in (question, vars(question).get("question")):
            if part is not None and not part.covers_units:
                raise NotSupported(f"{type(part).__name__} has no proof for {_of_shares(public)}.")
    return question.event(public)


def _of_shares(public: Public) -> str:
    """Return the end of a refusal: the unit that has no proof, and the remedy."""
    if public.rows == 1:
        return "weighted records; ask another query, or give no weights"
    return f"units of up to {public.rows} rows; ask another query, or give one row for each unit"


def _copied(question: Mechanism) -> tuple[Mechanism, tuple[type, type]]:
    """The question as it is now, whatever a thread writes into it later, and its type and the inner one's.

    Refused where either, or the loss, has no proof.
    """
    own = _copy(question)
    inner = vars(own).get("question")
    if inner is not None:
        inner = vars(own)["question"] = _copy(inner)
    asked = own if inner is None else inner
    loss = vars(asked).get("loss")
    if loss is not None:
        _refuse_unless(loss, _registry.losses(type(asked).of_lists), "losses")
    return own, (type(own), type(inner))


def _copy(question: Any) -> Any:
    _refuse_unless(question, _registry.questions(), "mechanisms")
    return _fresh(question)


def _fresh(part: Any) -> Any:
    """Copy a part with its own arrays, losses, penalties and schedules; coordinates are known by their identity."""
    own = object.__new__(type(part))
    fields = vars(own)
    for name, value in vars(part).items():
        kind = type(value)
        if kind is np.ndarray:
            value = value.copy()
        elif kind not in _PLAIN and isinstance(value, _PARTS) and vars(value):
            value = _fresh(value)
        fields[name] = value
    return own


def _refuse_unless(part: Any, known: Collection[type], room: str) -> None:
    """Exact types with declared fields only: a subclass, or a method set on an instance, could measure anything."""
    kind: Any = type(part)
    if kind not in known:
        raise NotSupported(
            f"{kind.__name__} is not registered in skdp.{room}; register it there, with its proof."
        )
    if not vars(part).keys() <= _registry.declared(kind):
        raise NotSupported(
            f"this {kind.__name__} carries attributes that its class does not declare; make a new one."
        )


@dataclass(frozen=True)
class Statement:
    """Public statement of a run: its price, its proofs and its notes.

    Parameters
    ----------
    script : tuple of (Event, int)
        What it costs, in order.
    proofs : tuple of str
        Pages of docs/proofs/ that the answers rest on.
    notes : tuple of str
        What a receipt should say of the public constants that were chosen.
    """

    script: Script
    proofs: tuple[str, ...]
    notes: tuple[str, ...]


def state(asked: Iterable[tuple[Mechanism, int]], public: Public) -> Statement:
    """Price questions; what an oracle would refuse is refused here.

    Parameters
    ----------
    asked : iterable of (Mechanism, int)
        Questions in order, with how often each is asked in a row.
    public : Public
        What is known of the records.
    """
    runs: list[tuple[Event, int]] = []
    kinds: dict[Any, Mechanism] = {}
    for question, count in asked:
        runs.append((price(question, public), count))
        kinds.setdefault((type(question), question.proofs()), question)
    return Statement(merged(runs), *pages_and_notes(kinds.values(), public))
