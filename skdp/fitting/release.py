"""The seam of everything that is released of records without a fit: plan, price, pay, touch, account for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from ..mechanisms import Noise, Oracle, Public, Records, state
from ..mechanisms._mechanism import Mechanism
from ..privacy import Ledger, Spec, calibrate
from ..privacy.events import Script, merged
from ..privacy.ledger import Scripted, paid
from ..privacy.receipt import Receipt
from ._circumstances import position, today, version
from ._covered import payer_of
from ._seeds import seed_of
from ._tables import Array
from ._weak import warn_of_promise

__all__ = ["Asked", "pay", "release"]

Ask = Callable[[Callable[..., Any], float], Any]


@dataclass(frozen=True)
class Asked:
    """What is asked of records, at any noise.

    Parameters
    ----------
    questions : callable
        From the noise scale to the questions that `ask` asks, in order, with numbers in place of what answers decide:
        these may decide the bounds of later questions, and no price.
    ask : callable
        Given a way to ask a question, and the scale: the result, a function of answers. What a question sees of a
        record may depend on earlier answers too: it may be given a function from the targets to those that it asks
        of, record by record.
    name : str
        What a receipt calls it.
    declared : dict
        What a receipt calls public.
    """

    questions: Callable[[float], Sequence[Mechanism]]
    ask: Ask
    name: str
    declared: dict[str, Any] = field(default_factory=dict)

    def script(self, scale: float, public: Public) -> Script:
        """What it costs at this scale."""
        return state([(question, 1) for question in self.questions(scale)], public).script

    def priced(self, spec: Spec, public: Public) -> tuple[Script, tuple[str, ...]]:
        """What a release under this promise will be charged, and the proof pages that it rests on; nothing is spent."""
        scale, script = calibrate(lambda noise: self.script(noise, public), spec)
        questions = [(question, 1) for question in self.questions(scale)]
        return script, state(questions, public).proofs


def release(
    asked: Asked,
    spec: Spec,
    public: Public,
    load: Callable[[], tuple[Array, Array]],
    *,
    ledger: Ledger | None = None,
    besides: Script = (),
    random_state: Any = None,
) -> tuple[Any, Receipt]:
    """Price, pay, touch, and account for it.

    Parameters
    ----------
    asked : Asked
        What is asked.
    spec : Spec
        The promise.
    public : Public
        What is known of the records.
    load : callable
        Gives rows, and targets or what a question's targets are made of; called once all is paid.
    ledger : Ledger or None
        A shared budget; None for the one in scope, if there is one.
    besides : tuple of (Event, int)
        What else the ledger is charged for at once: what `load` will release.
    random_state : int, RandomState or None
        A seed for tests; None for noise that nobody knows.

    Returns
    -------
    result : object
        What `ask` made of the answers.
    receipt : Receipt
        What was spent.
    """
    warn_of_promise(spec, public.n)
    payer = _payer(ledger, spec)
    scale, script = calibrate(lambda noise: asked.script(noise, public), spec)
    account = Scripted(spec, script)
    stood = pay(payer, merged((*besides, *script)), asked.name)
    with paid(), np.errstate(all="ignore"):  # as in `Records.admit`
        rows, targets = load()
    noise = Noise(seed_of(random_state))
    oracles: dict[Callable[[Array], Array], Oracle] = {}

    def put(question: Mechanism, of: Callable[[Array], Array] = _as_they_are) -> Any:
        if of not in oracles:
            with np.errstate(all="ignore"):
                seen = of(targets)
            oracles[of] = Oracle(Records.admit(rows, seen, public, 1.0), account, noise)
        return oracles[of].ask(question)

    result = asked.ask(put, scale)
    pages, notes = zip(*(oracle.rests_on() for oracle in oracles.values()))
    receipt = _receipt(asked, account, (_once(pages), _once(notes)), noise.seeded)
    return result, replace(receipt, ledger=stood)


def _as_they_are(targets: Array) -> Array:
    return targets


def _once(texts: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Each of them once, in their order."""
    return tuple(dict.fromkeys(chain.from_iterable(texts)))


def _payer(ledger: Ledger | None, spec: Spec) -> Ledger | None:
    """The ledger that was given, or that of the budget in scope; its prices are those of its own relation."""
    ledger = payer_of(ledger)
    if ledger is not None and ledger.neighbors != spec.neighbors:
        raise ValueError(
            f"neighbors={spec.neighbors!r} differs from the ledger's {ledger.neighbors!r}; use one relation."
        )
    return ledger


def pay(ledger: Ledger | None, script: Script, what: str) -> dict[str, Any] | None:
    """Charge a shared ledger, if there is one, for a whole script; where it stood before and after.

    Parameters
    ----------
    ledger : Ledger or None
        Who pays.
    script : tuple of (Event, int)
        What will be released.
    what : str
        What a report calls it.
    """
    if ledger is None:
        return None
    before = ledger.spent
    ledger.reserve(script, what)
    return position(ledger, before)


def _receipt(
    asked: Asked, account: Scripted, rests_on: tuple[tuple[str, ...], tuple[str, ...]], seeded: bool
) -> Receipt:
    return Receipt(
        account.cost,
        account.spec.delta,
        account.spec.neighbors,
        account.accountant,
        account.script,
        asked.name,
        proofs=rests_on[0],
        notes=rests_on[1],
        declared=dict(asked.declared),
        seeded=seeded,
        version=version(),
        date=today(),
    )
