"""A model card: markdown with a head that model hubs read.

The receipt as a page for notebooks: plain words, a bar of the budget, and the rest folded.

Colours are either the notebook's own or of middle brightness, so that the page reads on light and on dark ground.

A record for the public registry of deployments, and the check of any record against its fields.

The registry (registry.opendp.org) has no field for mu or for a trade-off: they go into the details of the parameters.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .._arithmetic import round_up
from ._check import known_risk, statement_of, web_address
from ._words import UNTOLD, not_covered, odds, promise

if TYPE_CHECKING:
    from .._risk import Risk
    from ..receipt import Receipt


from typing import TYPE_CHECKING, NamedTuple

from ._words import NOT_COVERED, folded, unit

if TYPE_CHECKING:
    from ..receipt import Receipt


import json
import re
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..receipt import Receipt


from typing import TYPE_CHECKING

from .._arithmetic import round_down
from .._risk import shares
from ._words import Fold

if TYPE_CHECKING:
    from .._risk import Risk
    from ..receipt import Receipt

__all__ = [
    "Check",
    "budget_shares",
    "checklist",
    "model_card",
    "numbers",
    "page",
    "record",
    "registry_schema",
    "wrong_with",
]


OPEN = "to be answered by a person"


class Check(NamedTuple):
    """A line of the checklist.

    Parameters
    ----------
    layer : str
        Of the pyramid: what is above rests on what is below.
    asked : str
        What is to be known.
    answer : str
        From the receipt.
    """

    layer: str
    asked: str
    answer: str


def checklist(receipt: Receipt) -> tuple[Check, ...]:
    """All lines, from the top of the pyramid down."""
    return (
        *_parameters(receipt),
        *_unit(receipt),
        *_algorithms(receipt),
        *_side_channels(receipt),
        *_around(),
    )


def _parameters(receipt: Receipt) -> tuple[Check, ...]:
    released = "; ".join(map(str, folded(receipt.script)))
    n = receipt.declared.get("n")
    small = (
        f"delta * n = {round_up(receipt.delta * n, 2)}" if isinstance(n, int) else "n is private"
    )
    ledger = "held with others in one ledger" if receipt.ledger else "no ledger"
    layer = "privacy parameters"
    return (
        Check(
            layer,
            "epsilon and delta",
            f"{round_up(receipt.epsilon)} and {round_up(receipt.delta, 3)}",
        ),
        Check(layer, "all parameters, to convert", released or "nothing was released"),
        Check(layer, "delta is small", small),
        Check(layer, "comparable with", "fits of the same unit, relation and delta"),
        Check(layer, "other releases of the data", f"{ledger}; declared: {receipt.releases}"),
    )


def _unit(receipt: Receipt) -> tuple[Check, ...]:
    layer = "unit of privacy"
    if receipt.rows > 1:
        several = f"at most {receipt.rows} rows of a {receipt.unit} count"
    else:
        several = "a person with k rows has weaker privacy: for_rows(k) says how much"
    return (
        Check(layer, "what neighbours differ in", unit(receipt)),
        Check(layer, "one person with several rows", several),
    )


def _algorithms(receipt: Receipt) -> tuple[Check, ...]:
    version = f"skdp {receipt.version}".strip()
    layer = "algorithms, correctness, utility, bias"
    return (
        Check(layer, "library", version),
        Check(layer, "proofs", ", ".join(receipt.proofs) or "none named"),
        Check(layer, "algorithm", receipt.solver),
        Check(layer, "hyper-parameters", f"how they were chosen: {receipt.tuning}"),
        Check(
            layer, "accuracy", "not measured on the protected data: a figure from it costs privacy"
        ),
        Check(layer, "how many rows were clipped", "not released: it is private"),
        Check(
            layer,
            "small groups",
            "accuracy of groups not measured; noise weighs most on small ones",
        ),
    )


def _side_channels(receipt: Receipt) -> tuple[Check, ...]:
    seed = "FIXED SEED: no guarantee against whoever knows it" if receipt.seeded else "the system's"
    layer = "side channels"
    return (
        Check(
            layer, "floating point", "exact noise on a public lattice; rounding of sums is covered"
        ),
        Check(layer, "randomness", seed),
        Check(layer, "timing", "not covered: do not show readers how long the fit took"),
        Check(layer, "errors and warnings", "depend on public facts alone"),
    )


def _around() -> tuple[Check, ...]:
    return (
        Check("query model", "release", "one model, not interactive"),
        Check("threat model", "who is trusted", "central: whoever runs the fit sees the data"),
        Check("threat model", "not covered", "; ".join(NOT_COVERED)),
        Check("security", "of the raw data", OPEN),
        Check("access control", "who may spend the budget", OPEN),
        Check("data collection", "exposure before the fit", OPEN),
    )


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
        "## Privacy\n\n" + _markdown_table(("what", "value"), _privacy(receipt, known)),
        "## What was released\n\n"
        + _markdown_table(("events", "share of the budget"), _releases(receipt)),
        "## Made by\n\n" + _markdown_table(("what", "value"), _made(receipt)),
        "## Not covered\n\n" + "\n".join(f"* {what}" for what in not_covered(receipt)),
        "## NIST SP 800-226\n\n"
        + _markdown_table(("layer", "asked", "answer"), checklist(receipt)),
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


def _markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in lines)


# Paul Tol's bright scheme without its yellow: told apart by readers who do not see all colours.
COLOURS = ("#4477aa", "#ee6677", "#228833", "#66ccee", "#aa3377", "#999999")

STYLE = """
.skdp-receipt {font: 14px/1.45 system-ui, sans-serif; max-width: 54em; color: inherit;}
.skdp-receipt .skdp-promise {font-size: 1.1em; margin: .3em 0 .6em;}
.skdp-receipt .skdp-bar {display: flex; height: 1em; border-radius: .25em; overflow: hidden; margin: .4em 0;}
.skdp-receipt .skdp-key {display: inline-block; width: .8em; height: .8em; border-radius: .2em; margin-right: .5em;}
.skdp-receipt details {border-top: 1px solid rgba(128, 128, 128, .4); padding: .3em 0;}
.skdp-receipt details details {border: 0; padding: 0 0 0 1em;}
.skdp-receipt summary {cursor: pointer; font-weight: 600;}
.skdp-receipt table {border-collapse: collapse; margin: .3em 0 .3em 1em; font: inherit;}
.skdp-receipt table, .skdp-receipt table tr, .skdp-receipt table td {background: transparent; color: inherit;}
.skdp-receipt td {text-align: left; vertical-align: top; padding: .1em 1em .1em 0; border: 0; white-space: normal;}
.skdp-receipt td:first-child {opacity: .8;}
.skdp-receipt .skdp-share {white-space: nowrap; opacity: 1;}
.skdp-receipt a {color: inherit; text-decoration: underline;}
.skdp-receipt pre {white-space: pre-wrap; margin: .3em 0; font-size: .8em; color: inherit; background: transparent;}
"""


def page(receipt: Receipt) -> str:
    """The whole, in one block without scripts."""
    known = known_risk(receipt)
    parts = [
        f"<style>{STYLE}</style>",
        f"<div class='skdp-promise'>{_text(promise(receipt, known))}</div>",
        f"<div>{_text(UNTOLD)}</div>" if receipt.around is None else "",
        _budget(receipt),
        _fold("In numbers", _numbers(receipt, known)),
        _fold("The whole statement", _table(receipt.lines())),
        _fold("Proofs", "".join(_proof(name, receipt.version) for name in receipt.proofs)),
        _fold("Not covered", _table(("", what) for what in not_covered(receipt))),
        _fold("NIST SP 800-226", _table(checklist(receipt))),
    ]
    return f"<div class='skdp-receipt'>{''.join(parts)}</div>"


def _text(value: object) -> str:
    return html.escape(str(value))


def _table(rows: Iterable[Sequence[str]]) -> str:
    lines = ("".join(f"<td>{_text(cell)}</td>" for cell in row) for row in rows)
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def _fold(title: str, inside: str) -> str:
    return f"<details><summary>{_text(title)}</summary>{inside}</details>" if inside else ""


def _numbers(receipt: Receipt, risk: Risk | None) -> str:
    if risk is None:
        return ""
    return f"<div>{_text(odds(receipt, risk))}</div>{_table(numbers(receipt, risk))}"


def _budget(receipt: Receipt) -> str:
    """A bar, and a line for each part of it."""
    parts = budget_shares(receipt) if receipt.script else []
    bars, keys = [], []
    for number, (fold, share) in enumerate(parts):
        colour = COLOURS[min(number, len(COLOURS) - 1)]
        width = f"width:{100 * share:.2f}%;background:{colour}"
        bars.append(f"<div style='{width}' title='{_text(fold)}'></div>")
        keys.append(
            f"<tr><td class='skdp-share'><span class='skdp-key' style='background:{colour}'></span>"
            f"{100 * share:.1f} %</td><td>{_text(fold)}</td></tr>"
        )
    if not parts:
        return ""
    price = f"epsilon = {round_up(receipt.epsilon, 4)} at delta = {round_up(receipt.delta, 3)}"
    title = f"<div>The budget, {price}, by release:</div>"
    return f"{title}<div class='skdp-bar'>{''.join(bars)}</div><table>{''.join(keys)}</table>"


def _proof(name: str, version: str) -> str:
    """Return the statement of a proof page, from this installation, and a link to the whole page."""
    link = f"<a href='{_text(web_address(name, version))}'>the whole page</a>"
    here = f"<code>skdp.privacy.proof_page({_text(repr(name))})</code>"
    said = f"<pre>{_text(statement_of(name))}</pre><div>{link}, or here: {here}</div>"
    return _fold(name, said)


NEEDED = ("name", "curators", "intended_use", "region", "description", "authors")
OPTIONAL = (
    "sector",
    "actors",
    "justification",
    "preprocessing",
    "sources",
    "notes",
    "slug",
    "status",
)
_TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "integer": int,
}


def registry_schema() -> dict[str, Any]:
    """Fields of a record, what they may hold and which must be there, in the words of JSON schema."""
    path = Path(__file__).parent / "registry_schema.json"
    read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return read


def wrong_with(value: Any, schema: Mapping[str, Any], place: str = "record") -> Iterator[str]:
    """Yield each violation of a schema with its place; knows the keywords that the registry uses."""
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is(value, kind) for kind in kinds):
        yield f"{place} is {value!r}, not of type {' or '.join(kinds)}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{place} is {value!r}, not one of {schema['enum']}"
    if schema.get("format") == "date" and not _is_date(value):
        yield f"{place} is {value!r}, not a date"
    if isinstance(value, dict):
        yield from _wrong_parts(value, schema, place)
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            yield f"{place} is empty"
        for part in value:
            yield from wrong_with(part, schema.get("items", {}), f"{place}[]")


def _wrong_parts(value: dict[str, Any], schema: Mapping[str, Any], place: str) -> Iterator[str]:
    known = schema.get("properties", {})
    yield from (
        f"{place}.{name} is missing" for name in schema.get("required", ()) if name not in value
    )
    for name, part in value.items():
        if name in known:
            yield from wrong_with(part, known[name], f"{place}.{name}")
        elif not schema.get("additionalProperties", True):
            yield f"{place}.{name} is not a field of the registry"


def _is(value: Any, kind: str) -> bool:
    return isinstance(value, _TYPES[kind]) and not isinstance(value, bool)


def _is_date(value: Any) -> bool:
    try:
        return date.fromisoformat(value).isoformat() == value
    except (TypeError, ValueError):
        return False


def record(receipt: Receipt, answers: dict[str, Any]) -> dict[str, Any]:
    """The record, complete and checked, or a refusal that says which answers are missing."""
    _refuse_answers(receipt, answers)
    deployment = {
        "basic": _basic(receipt, answers),
        "dp_variant": _variant(receipt),
        "privacy_loss": _loss(receipt),
        "deployment_model": _model(receipt, answers),
        "accounting": _accounting(receipt),
        "implementation": _implementation(receipt, answers),
        "administrative": {
            "sources": answers.get("sources", "none given"),
            "notes": answers.get("notes", f"Digest of the receipt: {receipt.to_dict()['digest']}"),
            "registry_authors": _several(answers["authors"]),
        },
    }
    slug = answers.get("slug") or re.sub(r"[^a-z0-9]+", "_", answers["name"].lower()).strip("_")
    status = answers.get("status", "Draft")
    whole = {"url_slug": slug, "status": status, "tier": 3, "deployment": deployment}
    wrong = list(wrong_with(whole, registry_schema()))
    if wrong:
        raise ValueError(
            f"The registry does not accept this record: {'; '.join(wrong)}. Correct the answers."
        )
    return whole


def _refuse_answers(receipt: Receipt, answers: dict[str, Any]) -> None:
    missing = [name for name in NEEDED if not answers.get(name)]
    unknown = sorted(set(answers) - {*NEEDED, *OPTIONAL})
    if missing or unknown:
        raise ValueError(
            f"A record needs a person's answers: missing are {missing}, unknown are {unknown}; "
            f"give {', '.join(NEEDED)} and, where wanted, {', '.join(OPTIONAL)}."
        )
    if not receipt.date:
        raise ValueError(
            "date='' marks the receipt of a quote, which released nothing; use the receipt of a fit."
        )


def _several(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _basic(receipt: Receipt, answers: dict[str, Any]) -> dict[str, Any]:
    told = {
        "name": answers["name"],
        "data_curators": _several(answers["curators"]),
        "intended_use": answers["intended_use"],
        "data_product_type": "Machine learning model",
        "data_product_region": answers["region"],
        "description": answers["description"],
        "publication_date": receipt.date,
    }
    return told | ({"data_product_sector": answers["sector"]} if "sector" in answers else {})


def _variant(receipt: Receipt) -> dict[str, Any]:
    public = ", ".join(f"{name} = {value}" for name, value in receipt.declared.items())
    return {
        "variant_name": "Approximate DP" if receipt.delta else "Pure DP",
        "data_domain": "all tables of such columns whose rows lie within the declared bounds",
        "unprotected_quantities": f"taken as public: {public or 'nothing'}",
    }


def _loss(receipt: Receipt) -> dict[str, Any]:
    risk = receipt.risk()
    curve = ", ".join(f"{round_up(100 * p, 3)} % at {100 * a:g} %" for a, p in risk.power.items())
    epsilons = ", ".join(f"{round_up(e, 4)} at {d:g}" for d, e in risk.epsilons.items())
    mu = (
        "no mu is known"
        if risk.mu is None
        else f"mu = {round_up(risk.mu, 5)}{'' if risk.exact else ' at most'}"
    )
    return {
        "privacy_unit": receipt.unit,
        "privacy_unit_details": f"Neighbours differ in {unit(receipt)} ({receipt.neighbors}).",
        "privacy_parameters": {"epsilon": receipt.epsilon, "delta": receipt.delta},
        "privacy_parameters_details": (
            f"{promise(receipt, risk)} {odds(receipt, risk)} Gaussian DP: {mu}. Epsilon at other deltas: {epsilons}. "
            f"True against false accusations of the best test: {curve}. Advantage: {round_up(risk.advantage, 4)}."
        ),
    }


def _model(receipt: Receipt, answers: dict[str, Any]) -> dict[str, Any]:
    return {
        "model_name": "Central",
        "actors": answers.get(
            "actors", f"Whoever runs the fit sees the data and is trusted. Others: {OPEN}."
        ),
        "release_type": "One release",
        "release_type_details": f"Other releases from the same data: {receipt.releases}.",
        "data_source_type": "Static",
        "access_type": "Non-interactive",
    }


def _accounting(receipt: Receipt) -> dict[str, Any]:
    released = "; ".join(map(str, folded(receipt.script)))
    return {
        "composition": f"{released}; composed by: {receipt.accountant}.",
        "post_processing": "Coefficients are computed from the noisy answers alone.",
    }


def _implementation(receipt: Receipt, answers: dict[str, Any]) -> dict[str, Any]:
    before = answers.get("preprocessing", OPEN)
    return {
        "preprocessing_and_hyperparameter_tuning": (
            f"Before the fit: {before}. How hyper-parameters were chosen: {receipt.tuning}."
        ),
        "mechanisms": (
            f"{receipt.solver} of skdp {receipt.version}, proofs: {', '.join(receipt.proofs)}. Floating point: exact "
            f"noise on a public lattice, rounding covered. Not covered: {'; '.join(NOT_COVERED)}. Security of the "
            f"raw data: {OPEN}."
        ),
        "justification": answers.get("justification", OPEN),
    }
