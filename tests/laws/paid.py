"""Hold what was charged, and what a receipt tells, against the questions that one record was seen by.

Of two neighbours, with answers held, the vaults that differ are those that the record is in. What was asked of these is
priced question by question, by the oracle's own price list and apart from all that plans, merges, divides or replays a
script. Ledgers and receipts must cover it, whatever path led to them: fits, folds, steps of pipelines, stages.
"""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
from laws import promises
from laws.answers_held import Seen, _moved_vault, forgetting, watched
from laws.promises import Act
from laws.records import Table, far_record, table

from skdp.privacy import Ledger, Receipt, epsilon
from skdp.privacy.events import BestOf, Gaussian, merged

__all__ = ["all_is_paid", "receipts_in"]

DELTAS = (1e-9, 1e-6, 1e-3)
ROOM = 1e-4  # of epsilon: two prices of one sum may be found by different engines


def all_is_paid(act: Act) -> Iterator[str]:
    """Ways in which a ledger or a receipt covers less than what was asked about one record."""
    with forgetting(), _each_pays(), _new_ledgers() as made:
        given, others = _one_record(act)
        first = watched(act, given, priced=True)
        scripts = [script for ledger in made for script in ledger.scripts]
        receipts = receipts_in(first.result)
        if first.left["error"] is not None:
            return  # nothing was promised of it, and what it may have paid is of another law
        touched: set[int] = set()
        for other in others:
            touched |= _touched(first, watched(act, other, first.answers))
    asked = [first.prices[k] for k, vault in enumerate(first.asked_of) if vault in touched]
    if made:
        yield from _less(asked, scripts, act.relation, "ledgers were charged")
    if not isinstance(first.result, int):  # a command prints its receipts
        yield from _less(asked, [one.script for one in receipts], act.relation, "receipts tell")
    yield from _untold(first, receipts, act)


def _one_record(act: Act) -> tuple[Table, list[Table]]:
    """A table, and others in which one record is another one, or gone: far away, and of the other label alone."""
    given = table(0, act.size)
    n = len(given) // act.rows * act.rows
    given = given.take(np.arange(n))
    middle = n // 2 // act.rows * act.rows
    rows = slice(middle, middle + act.rows)
    if act.relation == "add_remove":
        return given, [given.take(np.delete(np.arange(n), np.arange(n)[rows]))]
    number = given.number.copy()
    number[rows] *= -1.0
    return given, [far_record(given, rows), replace(given, number=number)]


@contextlib.contextmanager
def _each_pays() -> Iterator[None]:
    promises.EACH_PAYS.append(True)
    try:
        yield
    finally:
        promises.EACH_PAYS.pop()


@contextlib.contextmanager
def _new_ledgers() -> Iterator[list[Ledger]]:
    """Ledgers that are made meanwhile, but for copies."""
    made: list[Ledger] = []
    real = Ledger.__init__

    def begin(self: Ledger, *args: Any, **given: Any) -> None:
        real(self, *args, **given)
        made.append(self)

    with patch.object(Ledger, "__init__", begin):
        yield made


def receipts_in(left: Any, over: tuple[int, ...] = ()) -> list[Receipt]:
    """All receipts that something holds, each once."""
    found: dict[int, Receipt] = {}
    _find(left, found, set(over))
    return list(found.values())


def _find(left: Any, found: dict[int, Receipt], known: set[int]) -> None:
    if id(left) in known:
        return
    known.add(id(left))
    if isinstance(left, Receipt):
        found[id(left)] = left
        return
    if isinstance(left, dict):
        left = list(left.values())
    elif hasattr(left, "__dict__") and not isinstance(left, type):
        left = list(vars(left).values())
    if isinstance(left, list | tuple):
        for part in left:
            _find(part, found, known)


def _touched(first: Seen, second: Seen) -> set[int]:
    """Places of the vaults that differ, or that one run has alone."""
    both = min(len(first.vaults), len(second.vaults))
    moved = {k for k in range(both) if _moved_vault(first.vaults[k], second.vaults[k])}
    return moved | set(range(both, len(first.vaults)))


def _less(asked: list[Any], covered: list[Any], relation: str, who: str) -> Iterator[str]:
    events = [(event, count) for script in covered for event, count in script]
    if any(isinstance(event, BestOf) for event, _ in events):
        # The number of runs is secret, and they cost less together than one by one. Each event was announced, or a
        # costlier Gaussian one in its place, where answers choose among several settings what is asked.
        known = {event for event, _ in _inside(events)}
        least = min(
            (one.multiplier for one in known if isinstance(one, Gaussian)), default=math.inf
        )
        for event in dict.fromkeys(asked):
            if event not in known and not (
                isinstance(event, Gaussian) and event.multiplier >= least
            ):
                yield f"{event} was asked; {who} no such event"
        return
    told: Counter[Any] = Counter()
    for event, count in events:
        told[event] += count
    missing = Counter(asked) - told
    if not missing:
        return
    for delta in DELTAS:
        true = epsilon(merged([(event, 1) for event in asked]), delta, relation)
        charged = epsilon(merged(events), delta, relation) if events else 0.0
        if not charged >= true * (1.0 - ROOM):
            yield f"epsilon {true:.6g} at delta {delta:g} was asked; {who} {charged:.6g}: {missing}"
            return


def _inside(events: list[Any]) -> Iterator[Any]:
    for event, count in events:
        yield event, count
        if isinstance(event, BestOf):
            for script in event.scripts:
                yield from _inside(list(script))


def _untold(first: Seen, receipts: list[Receipt], act: Act) -> Iterator[str]:
    """What receipts say beside their scripts, against what the act was."""
    pages = {page for receipt in receipts for page in receipt.proofs}
    if receipts and not first.proofs <= pages:
        yield f"no receipt names the pages {sorted(first.proofs - pages)}"
    for receipt in receipts:
        if receipt.neighbors != act.relation:
            yield f"a receipt says {receipt.neighbors!r}"
        if not receipt.seeded:
            yield "a receipt does not tell of the seed"
        facts = [vault.public for vault in first.vaults]
        if receipt.rows != max((one.rows for one in facts), default=1):
            yield f"a receipt says that {receipt.rows} rows of a unit count"
        told = receipt.declared.get("n")
        if isinstance(told, int) and told not in [one.n for one in facts]:
            yield f"a receipt says n = {told}; vaults were told {[one.n for one in facts]}"
        true = epsilon(receipt.script, receipt.delta, receipt.neighbors) if receipt.script else 0.0
        if not receipt.epsilon >= true * (1.0 - ROOM):
            yield f"a receipt says epsilon {receipt.epsilon:g} of a script of {true:g}"
