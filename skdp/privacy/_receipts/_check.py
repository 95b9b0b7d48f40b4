"""Does a receipt hold: its price and its risk, again from its script, and its model, by the numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..._fingerprint import fingerprint
from ...exceptions import BudgetExceeded, NotSupported
from .. import accountants
from .._filter import Filter
from ..events import Script
from ..risk import Risk, risk, risk_of_pair
from ..spec import Spec

if TYPE_CHECKING:
    from ..receipt import Receipt

__all__ = ["complaints", "known_risk", "priced", "risk_of"]

_ROUND_OFF = 1e-9  # relative: prices on other machines agree to more


def priced(receipt: Receipt) -> Script:
    """What the price is for: the script, or all that the filter might have let pass."""
    budget = _filter(receipt)
    return receipt.script if budget is None else budget.allowance


def risk_of(receipt: Receipt) -> Risk:
    """What it allows; where no accountant can say it, what the promised pair alone does."""
    try:
        return risk(priced(receipt), receipt.neighbors)
    except NotSupported:
        return risk_of_pair(Spec(receipt.epsilon, receipt.delta, receipt.neighbors))


def known_risk(receipt: Receipt) -> Risk | None:
    """The same, and None where nothing is promised."""
    return None if math.isinf(receipt.epsilon) else risk_of(receipt)


def complaints(receipt: Receipt, model: Any) -> list[str]:
    """What does not hold, each in a sentence."""
    try:
        found = [*_of_price(receipt)]
    except (NotSupported, ValueError) as error:
        found = [str(error)]
    return found if model is None else [*found, *_of_model(receipt, model)]


def _filter(receipt: Receipt) -> Filter | None:
    """The filter of an adaptive fit, as it was before the fit."""
    if receipt.unspent is None:
        return None
    spec = Spec(receipt.epsilon, receipt.delta, receipt.neighbors)
    return Filter(spec, receipt.accountant.split()[0], receipt.order)


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
    return [f"The script costs epsilon={again:.6g}, the receipt says {receipt.epsilon:.6g}."]


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
    return [f"The filter had {budget.unspent:.6g} left, the receipt says {said:.6g}."]


def _of_model(receipt: Receipt, model: Any) -> list[str]:
    here = fingerprint(model)
    wrong = [name for name, told in receipt.model.items() if here.get(name) != told]
    if receipt.model and not wrong:
        return []
    return [
        f"It belongs to another model, which differs in: {', '.join(wrong) or 'all, it names none'}."
    ]
