"""Does a receipt hold: its price and its risk, again from its script, and its model, by the numbers."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._fingerprint import VERSION, fingerprint, first_fingerprint, strangers
from ...exceptions import BudgetExceeded, NotSupported
from .. import accountants
from .._arithmetic import round_down, round_up
from .._risk import Risk, risk, risk_of_pair
from ..events import Script
from ..spec import Spec
from ._admission import admitted_by, wrong_admission

if TYPE_CHECKING:
    from .._filter import Filter
    from ..receipt import Receipt

__all__ = [
    "complaints",
    "is_page",
    "known_risk",
    "priced",
    "proof_page",
    "risk_of",
    "statement_of",
    "web_address",
]


_SHIPPED = Path(__file__).parent / "proofs"  # where a wheel has them
_SOURCE = Path(__file__).parents[3] / "docs" / "proofs"  # where the repository does
_WEB = "https://github.com/skdp/skdp/blob/{ref}/docs/proofs/{name}.md"


def proof_page(name: str) -> str:
    """Text of a proof page that a receipt names, from this installation.

    Parameters
    ----------
    name : str
        One of ``receipt.proofs``.

    Returns
    -------
    str
        The page, in markdown.

    See Also
    --------
    Receipt : Names the pages that its guarantee rests on.

    Examples
    --------
    >>> from skdp.privacy import proof_page
    >>> proof_page("count").splitlines()[0]
    '# The number of records'
    """
    path = _pages().get(name)
    if path is None:
        raise ValueError(f"name={name!r} is not a proof page; choose one of receipt.proofs.")
    text = path.read_text(encoding="utf-8")
    return re.sub(r"\A---\n.*?\n---\n\s*", "", text, flags=re.DOTALL)


def is_page(name: str) -> bool:
    """Return whether a proof page of this name is installed."""
    return name in _pages()


def _pages() -> dict[str, Path]:
    """All pages by name, those of the package before those of the repository."""
    return {path.stem: path for folder in (_SOURCE, _SHIPPED) for path in folder.glob("*.md")}


def statement_of(name: str) -> str:
    """The section of a page that says what is proved; empty where the page is not here."""
    try:
        page = proof_page(name)
    except ValueError:
        return ""
    found = re.search(r"^## Statement\n+(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    return found.group(1).strip() if found else ""


def web_address(name: str, version: str) -> str:
    """Return the address of a proof page on the web; an unreleased version gets the newest page."""
    released = bool(re.fullmatch(r"\d+(\.\d+)*", version))
    return _WEB.format(ref=f"v{version}" if released else "main", name=name)


# Relative. A price is computed by one deterministic path, whose digits differ between machines by the round-off of exp,
# log and FFTs alone: about 1e-12 of epsilon. How far an accountant's bound lies above the truth (2e-5 for loss
# distributions) is no part of it: the receipt states the bound, not the truth.
_ROUND_OFF = 1e-9


def priced(receipt: Receipt) -> Script:
    """Return the script that the price is for: the receipt's own, or all that the filter might have let pass."""
    budget = _filter(receipt)
    return receipt.script if budget is None else budget.allowance


def risk_of(receipt: Receipt) -> Risk:
    """Return the risk of a receipt's script; if no accountant knows it, that of the promised pair alone."""
    try:
        return risk(priced(receipt), receipt.neighbors)
    except NotSupported:
        return risk_of_pair(Spec(receipt.epsilon, receipt.delta, receipt.neighbors))


def known_risk(receipt: Receipt) -> Risk | None:
    """Return the risk of a receipt, or None where nothing is promised."""
    return None if math.isinf(receipt.epsilon) else risk_of(receipt)


def complaints(receipt: Receipt, model: Any) -> list[str]:
    """Return one sentence for each claim of the receipt that does not hold."""
    found = _of_form(receipt)
    try:
        found += _of_price(receipt)
    except (NotSupported, ValueError, TypeError, OverflowError) as error:
        found.append(str(error))
    found += _of_certificate(receipt)
    return found if model is None else [*found, *_of_model(receipt, model)]


def _of_certificate(receipt: Receipt) -> list[str]:
    """Return complaints about a certificate: of another script, below the receipt's epsilon, or not proved."""
    if receipt.certificate is None:
        return []
    from .._certificate import plain_events
    from ..certificate_checker import complaint

    told = receipt.certificate
    own = {
        "neighbors": receipt.neighbors,
        "script": plain_events(receipt.priced, receipt.neighbors),
    }
    claim = told.get("claim", {})
    if (
        any(told.get(name) != value for name, value in own.items())
        or claim.get("delta") != receipt.delta
    ):
        return ["The certificate is that of another script, relation or delta."]
    wrong = complaint(told)
    if wrong is not None:
        return [f"The certificate is not proved: {wrong}."]
    low = claim["epsilon"][0]
    if receipt.epsilon < low:
        return [f"The certificate proves that epsilon is at least {low!r}, above the receipt's."]
    return []


def _of_form(receipt: Receipt) -> list[str]:
    """Return complaints about the form: unknown proof pages, an empty script, an unknown accountant."""
    unknown = [name for name in receipt.proofs if not is_page(name)]
    found = [f"proofs names {name!r}, which is not a proof page." for name in unknown]
    if math.isinf(receipt.epsilon):
        return found
    if not any(count for _, count in receipt.script):
        found.append("The script is empty, so the receipt does not say what was released.")
    elif not receipt.proofs:
        found.append("The receipt names no proof page.")
    if admitted_by(receipt) is None and receipt.accountant not in accountants.ACCOUNTANTS:
        found.append(
            f"accountant={receipt.accountant!r} is unknown; known are {accountants.ACCOUNTANTS}."
        )
    wrong = wrong_admission(receipt)
    return found if wrong is None else [*found, wrong]


def _filter(receipt: Receipt) -> Filter | None:
    """The filter of an adaptive fit, as it was before the fit."""
    if receipt.unspent is None:
        return None
    spec = Spec(receipt.epsilon, receipt.delta, receipt.neighbors)
    from .._filter import Filter

    return Filter(spec, admitted_by(receipt) or "", receipt.order)


def _of_price(receipt: Receipt) -> list[str]:
    if math.isinf(receipt.epsilon):
        return []
    budget = _filter(receipt)
    if budget is not None:
        return _of_filter(receipt, budget)
    known = receipt.accountant in accountants.ACCOUNTANTS
    again = accountants.epsilon(
        receipt.script, receipt.delta, receipt.neighbors, receipt.accountant if known else "auto"
    )
    if again <= receipt.epsilon * (1 + _ROUND_OFF):
        return []
    return [
        f"The script costs epsilon={round_up(again)}, but the receipt says {round_up(receipt.epsilon)}."
    ]


def _of_filter(receipt: Receipt, budget: Filter) -> list[str]:
    if receipt.script == budget.allowance and receipt.unspent == budget.total:
        return []  # a quote: all may be spent, and nothing is yet
    try:
        budget.charge_all(receipt.script)
    except BudgetExceeded as error:
        return [str(error)]
    said = float(receipt.unspent or 0.0)
    if math.isclose(budget.unspent, said, rel_tol=_ROUND_OFF, abs_tol=_ROUND_OFF * budget.total):
        return []
    return [
        f"The filter had {round_down(budget.unspent)} left, but the receipt says {round_down(said)}."
    ]


def _of_model(receipt: Receipt, model: Any) -> list[str]:
    """Return complaints about the model, against the most similar of those that the receipt names.

    A search names itself and its best estimator.
    """
    if not receipt.model:
        return ["The receipt belongs to another model: it names none, like that of a quote."]
    if not all(digest.startswith(VERSION) for digest in receipt.model.values()):
        return _of_first_version(receipt, model)
    try:
        here, unknown = fingerprint(model), strangers(model)
    except Exception as error:  # whatever an object that is none of ours may raise
        return [
            f"The receipt belongs to another model: this one cannot be read ({type(error).__name__})."
        ]
    wrong = min((_differences(told, here) for told in _named(receipt.model)), key=len)
    wrong += [f"{name} is new" for name in unknown]
    own = getattr(model, "__dict__", {}).get("privacy_", receipt)
    if type(own) is type(receipt) and not receipt.same_fit(own):
        wrong.append("privacy_ is another receipt")
    return [f"The receipt belongs to another model: {', '.join(wrong)}."] if wrong else []


def _named(model: dict[str, str]) -> list[dict[str, str]]:
    """Fingerprints that stand in one dict, each with its place and a dot in front of its names."""
    found: dict[str, dict[str, str]] = {}
    for name, digest in model.items():
        place, _, attribute = name.rpartition(".")
        found.setdefault(place, {})[attribute] = digest
    return list(found.values())


def _differences(told: dict[str, str], here: dict[str, str]) -> list[str]:
    missing = [f"{name} is missing" for name in told if name not in here]
    new = [f"{name} is new" for name in here if name not in told]
    changed = [f"{name} is changed" for name in told if here.get(name, told[name]) != told[name]]
    return changed + missing + new


def _of_first_version(receipt: Receipt, model: Any) -> list[str]:
    """Compare with a receipt of the first version, whose hashes cover numbers only."""
    here = first_fingerprint(model)
    wrong = [name for name, told in receipt.model.items() if here.get(name) != told]
    return (
        [f"The receipt belongs to another model: {', '.join(wrong)} is changed."] if wrong else []
    )
