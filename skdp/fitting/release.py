"""The seam of everything that is released of records without a fit: plan, price, pay, touch, account for it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..exceptions import PrivacyWarning
from ..mechanisms import Noise, Oracle, Public, Records, state
from ..mechanisms._mechanism import Mechanism
from ..privacy import Ledger, Spec, calibrate
from ..privacy.events import Script, merged
from ..privacy.ledger import Scripted
from ..privacy.receipt import Receipt
from ._circumstances import position, today, version
from ._seeds import seed_of
from ._tables import Array
from ._warning import frames_to_caller

__all__ = ["Asked", "release"]

Ask = Callable[[Callable[[Mechanism], Any], float], Any]


@dataclass(frozen=True)
class Asked:
    """What is asked of records, at any noise.

    Parameters
    ----------
    questions : callable
        From the noise scale to the questions that `ask` asks, in order, with numbers in place of what answers decide:
        these may decide the bounds of later questions, and no price.
    ask : callable
        Given a way to ask a question, and the scale: the result, a function of answers.
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
        Gives rows and targets; called once all is paid.
    ledger : Ledger or None
        A shared budget.
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
    if not spec.private:
        warnings.warn(
            "epsilon=inf adds no noise: the result is NOT private; use it for debugging only.",
            PrivacyWarning,
            stacklevel=frames_to_caller(),
        )
    scale, script = calibrate(lambda noise: asked.script(noise, public), spec)
    account = Scripted(spec, script)
    stood = _pay(ledger, merged((*besides, *script)))
    rows, targets = load()
    records = Records.admit(rows, targets, public, 1.0)
    noise = Noise(seed_of(random_state))
    oracle = Oracle(records, account, noise)
    result = asked.ask(oracle.ask, scale)
    receipt = _receipt(asked, account, oracle.rests_on(), noise.seeded)
    return result, replace(receipt, ledger=stood)


def _pay(ledger: Ledger | None, script: Script) -> dict[str, Any] | None:
    if ledger is None:
        return None
    before = ledger.spent
    ledger.reserve(script)
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
