"""A record for the public registry of deployments, and the check of any record against its fields.

The registry (registry.opendp.org) has no field for mu or for a trade-off: they go into the details of the parameters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._arithmetic import round_up
from ._checklist import OPEN
from ._words import NOT_COVERED, folded, odds, promise, unit

if TYPE_CHECKING:
    from ..receipt import Receipt

__all__ = ["record", "registry_schema", "wrong_with"]

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
