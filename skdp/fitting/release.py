"""The seam of everything that is released of records without a fit: plan, price, pay, touch, account for it.

The seam of searches: runs that are paid for as a whole, of which the best one leaves and nothing else.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from types import FunctionType
from typing import Any, ClassVar, TypeVar

from ..entry import Outcome, Outcomes, quietly
from ..mechanisms import Noise, Public, Statement, best_of, state
from ..mechanisms._mechanism import Mechanism
from ..privacy import Ledger, Spec, calibrate
from ..privacy.events import Script, merged
from ..privacy.ledger import Scripted
from ..privacy.receipt import Receipt
from ._payer import payer_of
from ._seeds import seed_of
from .program import Program, Window

__all__ = ["Query", "Seeds", "best_trial", "refuse_unless_public", "release"]


_PLAIN = (bool, int, float, str, type(None))  # what a query may know


class Query(ABC):
    """Question about records, at any noise scale: a frozen dataclass of public numbers, and of nothing else.

    Fields of a question that no price follows (a range, the larger class, what counts are put on) are chosen in `ask`.
    So a query knows public numbers and answers alone: its fields are numbers and texts, and its methods close over
    nothing. It names what is seen of records, and is shown none. `release` refuses any other.
    """

    name: ClassVar[str]  # what a receipt calls it

    @property
    def declared(self) -> dict[str, Any]:
        """Return the facts that a receipt calls public."""
        return {}

    @abstractmethod
    def questions(self, scale: float) -> Sequence[Mechanism]:
        """List the questions of `ask` at this noise, in order, with numbers in place of those that answers decide.

        Answers may decide the bounds of later questions, and no price.
        """

    @abstractmethod
    def ask(self, put: Callable[..., Any], scale: float) -> Any:
        """Ask, and make the result of the answers.

        What a question sees of a record may depend on earlier answers too: `put` may be given a second argument, a
        registered map of the targets to those that it asks of, record by record (`skdp.entry.TARGET_MAPS`).
        """

    @property
    @abstractmethod
    def outcome(self) -> Outcome:
        """Return what is seen of records: of a registered type, with public numbers."""

    def script(self, scale: float, public: Public) -> Script:
        """Return the cost of the query at this scale, as a script."""
        return state([(question, 1) for question in self.questions(scale)], public).script

    def priced(self, spec: Spec, public: Public) -> tuple[Script, tuple[str, ...]]:
        """Return the script of a release under this guarantee, and its proof pages; nothing is spent."""
        scale, script = calibrate(lambda noise: self.script(noise, public), spec)
        questions = [(question, 1) for question in self.questions(scale)]
        return script, state(questions, public).proofs


def release(
    asked: Query,
    spec: Spec,
    public: Public,
    held: Any,
    *,
    ledger: Ledger | None = None,
    besides: Script = (),
    random_state: Any = None,
) -> tuple[Any, Receipt]:
    """Price, pay, touch, and account for it.

    Parameters
    ----------
    asked : Query
        What is asked.
    spec : Spec
        The promise.
    public : Public
        What is known of the records.
    held : object
        Records, which only the registered outcome is shown, once all is paid.
    ledger : Ledger or None
        A shared budget; None for the one in scope, if there is one.
    besides : tuple of (Event, int)
        What else the ledger is charged for at once: what making the outcomes will release.
    random_state : int, RandomState or None
        A seed for tests; None for noise that nobody knows.

    Returns
    -------
    result : object
        What `ask` made of the answers.
    receipt : Receipt
        What was spent.
    """
    refuse_unless_public(asked, "questions", "ask")
    payer = _payer(ledger, spec)
    scale, script = calibrate(lambda noise: asked.script(noise, public), spec)
    stated = state([(question, 1) for question in asked.questions(scale)], public)
    program = Program(
        spec,
        asked.name,
        Statement(script, stated.proofs, stated.notes),
        Scripted(spec, script),
        public.n,
        payer,
        merged((*besides, *script)),
    )
    table = Outcomes(asked.outcome, public, held)

    def work(window: Window) -> Any:
        return asked.ask(lambda question, of=None: window(of).ask(question), scale)

    result, receipt = program.run(table, Noise(seed_of(random_state)), work)
    return result, replace(receipt, declared=dict(asked.declared))


def refuse_unless_public(thing: Any, *methods: str) -> None:
    """Refuse a query that could carry more than public numbers from records to a question.

    Parameters
    ----------
    thing : object
        A query.
    *methods : str
        Those that will be called.
    """
    known = is_dataclass(thing) and {field.name for field in fields(thing)} == set(vars(thing))
    found = [vars(thing)[name] for name in vars(thing)] if known else []
    plain = known and all(_is_plain(value) for value in found)
    free = all(_closes_over_nothing(getattr(type(thing), name, None)) for name in methods)
    if not plain or not free or not type(thing).__dataclass_params__.frozen:
        raise TypeError(
            f"{type(thing).__name__} must be a frozen dataclass whose fields are numbers or texts and whose methods "
            "close over nothing: a question may depend on public numbers and answers alone."
        )


def _is_plain(value: Any) -> bool:
    several = type(value) is tuple and all(type(one) in _PLAIN for one in value)
    return several or type(value) in _PLAIN


def _closes_over_nothing(method: Any) -> bool:
    plain = isinstance(method, FunctionType) and not (method.__defaults__ or method.__kwdefaults__)
    return plain and set(method.__code__.co_freevars) <= {"__class__"}


def _payer(ledger: Ledger | None, spec: Spec) -> Ledger | None:
    """The ledger that was given, or that of the budget in scope; its prices are those of its own relation."""
    ledger = payer_of(ledger)
    if ledger is not None and ledger.neighbors != spec.neighbors:
        raise ValueError(
            f"neighbors={spec.neighbors!r} differs from the ledger's {ledger.neighbors!r}; use one relation."
        )
    return ledger


Result = TypeVar("Result")
_BYTES = 4


class Seeds:
    """Seeds for the parts of a search: None for all, or of a search that is seeded one after the other.

    Parameters
    ----------
    random_state : int, RandomState or None
        The search's.
    """

    def __init__(self, random_state: Any) -> None:
        self.noise = Noise(seed_of(random_state))

    def next(self) -> int | None:
        """A seed that no other part has."""
        if not self.noise.seeded:
            return None
        return int.from_bytes(self.noise.bytes(_BYTES), "little") >> 1


def best_trial(
    run: Callable[[int], tuple[float, Result]],
    weights: Sequence[int],
    odds: Sequence[int],
    seeds: Seeds,
) -> Result | None:
    """Return the release of the best run (see `skdp.mechanisms.best_of`); a run that fails loses against any other.

    Parameters
    ----------
    run : callable
        From the index of a setting to its private score, and what is released with it.
    weights, odds : sequence of int
        Of settings, and of how many runs count.
    seeds : Seeds
        Of the search.
    """

    def safe(setting: int) -> tuple[float, Result | None]:
        found = quietly(lambda: run(setting))
        return (-math.inf, None) if found is None else found

    return best_of(safe, weights, odds, seeds.noise)
