"""A model card: markdown with a head that model hubs read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .._arithmetic import round_down, round_up
from .._breakdown import shares
from ._check import known_risk
from ._checklist import checklist
from ._pages import web_address
from ._words import Fold, folded, not_covered, odds, promise, unit

if TYPE_CHECKING:
    from .._risk import Risk
    from ..receipt import Receipt

__all__ = ["budget_shares", "model_card", "numbers"]


def numbers(receipt: Receipt, risk: Risk) -> list[tuple[str, str]]:
    """The price in the units that experts compare."""
    mu = "none proved" if risk.mu is None else round_up(risk.mu, 4) + " at most" * (not risk.exact)
    found = [
        ("epsilon, delta", f"{round_up(receipt.epsilon, 4)}, {round_up(receipt.delta, 3)}"),
        ("unit of privacy", unit(receipt)),
        ("mu of Gaussian DP", mu),
    ]
    found += [(f"epsilon at delta = {d:g}", round_up(e, 4)) for d, e in risk.epsilons.items()]
    found += [
        (f"caught at {100 * a:g} % false accusations", f"{round_up(100 * p, 3)} %")
        for a, p in risk.power.items()
    ]
    found.append(("advantage of any attack", round_up(risk.advantage, 4)))
    found += [
        (f"error of an attacker with prior {p:g}", f"{round_down(e, 4)} (blind: {min(p, 1 - p):g})")
        for p, e in risk.bayes_risk.items()
    ]
    return [*found, ("odds move at most by (99 %)", f"x {round_up(risk.odds, 3)}")]


def model_card(receipt: Receipt, name: str, license: str) -> str:
    """The whole card."""
    known = known_risk(receipt)
    parts = [
        _head(license),
        f"# {name}",
        f"{promise(receipt, known)} {odds(receipt, known)}",
        "## Privacy\n\n" + _table(("what", "value"), _privacy(receipt, known)),
        "## What was released\n\n" + _table(("events", "share of the budget"), _releases(receipt)),
        "## Made by\n\n" + _table(("what", "value"), _made(receipt)),
        "## Not covered\n\n" + "\n".join(f"* {what}" for what in not_covered(receipt)),
        "## NIST SP 800-226\n\n" + _table(("layer", "asked", "answer"), checklist(receipt)),
        "## Check it\n\n" + _CHECK,
    ]
    return "\n\n".join(parts) + "\n"


_CHECK = """The receipt, as json, can be priced again and held against the model:

```python
import json
from skdp.privacy import Receipt

receipt = Receipt.from_dict(json.load(open("receipt.json")))
assert receipt.verify(model), receipt.complaints(model)
```"""


def _head(license: str) -> str:
    tags = "\n".join(f"- {tag}" for tag in ("differential_privacy", "tabular", "sklearn", "skdp"))
    return f"---\nlibrary_name: skdp\nlicense: {license}\ntags:\n{tags}\n---"


def _privacy(receipt: Receipt, risk: Risk | None) -> list[tuple[str, str]]:
    return [("guarantee", "none")] if risk is None else numbers(receipt, risk)


def _releases(receipt: Receipt) -> list[tuple[str, str]]:
    return [(str(fold), f"{100 * share:.1f} %") for fold, share in budget_shares(receipt)]


def budget_shares(receipt: Receipt) -> list[tuple[Fold, float]]:
    """Folded lines with the part of the budget that all their events take."""
    parts = shares(receipt.script, receipt.delta, receipt.neighbors)
    return [(fold, sum(parts[event] for event in fold.events)) for fold in folded(receipt.script)]


def _made(receipt: Receipt) -> list[tuple[str, str]]:
    return [
        ("library", f"skdp {receipt.version}"),
        ("date", receipt.date or "a quote: nothing was fitted"),
        ("solver", f"`{receipt.solver}`"),
        ("composed by", receipt.accountant),
        ("taken as public", ", ".join(f"{n} = {v}" for n, v in receipt.declared.items())),
        ("hyper-parameters chosen", receipt.tuning),
        ("other releases from the data", receipt.releases),
        ("proofs", ", ".join(f"[{n}]({web_address(n, receipt.version)})" for n in receipt.proofs)),
        ("digest of the receipt", f"`{receipt.to_dict()['digest']}`"),
    ]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in lines)
