"""Verdicts of a check: of settings, of guarantees, and of the parameters that both depend on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..privacy import Spec
from ..privacy._arithmetic import round_up
from ..privacy._risk import PROTECTS_NOBODY, share_caught
from ..privacy.receipt import Receipt

__all__ = [
    "ASSUMES",
    "LEARNS",
    "NOTHING",
    "PRIVATE",
    "PUBLIC",
    "UNKNOWN",
    "VOID",
    "Setting",
    "Verdict",
    "charges",
    "is_ours",
    "judge_guarantee",
]


PRIVATE, PUBLIC = "private", "public"  # all is well
ASSUMES = "assumes"  # private where something holds that no declaration enforces
VOID = "void"  # it adds noise and has a receipt, and its parameters make the guarantee worthless
LEARNS, UNKNOWN = "learns", "unknown"  # without a receipt
NOTHING = (None, "passthrough", "drop", "deprecated")  # in the place of a step

Verdict = tuple[str, str]  # and why, in a few words


@dataclass(frozen=True)
class Setting:
    """Setting of a step in a pipeline, on which its verdict depends.

    Parameters
    ----------
    relations : frozenset of str
        Neighbouring relations of all steps that charge a budget.
    n : int or None
        Number of records, where it is public and was told.
    kept : bool
        Whether the step itself is what was fitted, and no copy of it: only then its receipt counts.
    finished : bool
        Whether the step's fit is over: it is frozen, or was fitted before.
    """

    relations: frozenset[str]
    n: int | None = None
    kept: bool = True
    finished: bool = False


def is_ours(thing: object) -> bool:
    """Tell whether an object's class is one of skdp itself, and no subclass from elsewhere."""
    return type(thing).__module__.split(".")[0] == "skdp"


LARGE_DELTA = 1e-3  # where the number of records is not known
_CODE = ("loss", "penalty", "scoring", "solver", "strategy")  # parameters that take objects


def charges(step: Any) -> bool:
    """Tell whether a step is an estimator of skdp that adds noise and charges a budget.

    Parameters
    ----------
    step : object
        Of a pipeline.
    """
    return is_ours(step) and hasattr(step, "quote")


def judge_guarantee(step: Any, setting: Setting) -> Verdict:
    """Judge a step that charges a budget by its parameters, and by its receipt where that counts.

    Parameters
    ----------
    step : estimator
        Of skdp.
    setting : Setting
        The number of records, and whether the step itself was fitted.
    """
    found = list(_complaints(step, setting))
    for verdict in (VOID, UNKNOWN, ASSUMES):
        if any(complaint[0] == verdict for complaint in found):
            return verdict, "; ".join(why for _, why in found)
    return PRIVATE, "charges the budget; see its receipt"


def _complaints(step: Any, setting: Setting) -> Iterator[Verdict]:
    """Yield one verdict for each thing that is wrong."""
    receipt = vars(step).get("privacy_") if setting.kept else None
    if not isinstance(receipt, Receipt):
        receipt = None
    n = setting.n if receipt is None or setting.n is not None else receipt.declared.get("n")
    if receipt is None or not setting.finished:  # else its receipt is all that counts
        yield from _of_numbers(_number(step, "epsilon"), _number(step, "delta"), n, "")
        if getattr(step, "random_state", None) is not None:
            yield VOID, "random_state is fixed, and whoever knows it subtracts the noise: use None"
    if receipt is not None:
        yield from _of_receipt(receipt, step, setting, n)
    own = [name for name in _CODE if _is_code(getattr(step, name, None))]
    if own:
        yield UNKNOWN, f"{own[0]} is code that is not of skdp: read it"
    if "classes" in step.get_params(deep=False) and step.classes is None:
        yield (
            ASSUMES,
            "takes the set of labels from y, so a rare label shows: declare classes=[...]",
        )


def _of_receipt(receipt: Receipt, step: Any, setting: Setting, n: Any) -> Iterator[Verdict]:
    """Yield verdicts on the receipt of the last fit, where the parameters do not give them already."""
    told = (receipt.epsilon, receipt.delta)
    same = told == (_number(step, "epsilon"), _number(step, "delta"))
    if setting.finished or not same:
        yield from _of_numbers(*told, n, "was fitted with ")
    if receipt.seeded and (setting.finished or getattr(step, "random_state", None) is None):
        yield VOID, "was fitted with a fixed seed, and whoever knows it subtracts the noise"
    if setting.finished and receipt.around:
        yield UNKNOWN, "was fitted behind or inside steps that its receipt does not cover"


def _of_numbers(
    epsilon: float | None, delta: float | None, n: Any, before: str
) -> Iterator[Verdict]:
    """Yield verdicts on epsilon and delta."""
    if epsilon is not None and math.isinf(epsilon):
        yield VOID, f"{before}epsilon=inf adds no noise, so nothing is private"
    elif epsilon is not None and _protects_nobody(epsilon, delta):
        yield VOID, f"{before}epsilon={round_up(epsilon)} protects nobody: take 10 or less"
    if delta is None:
        return
    if isinstance(n, int) and delta * n >= 1:
        yield (
            VOID,
            f"{before}delta={round_up(delta)} is 1/n or more at n={n}, which allows publishing a record: take far less",
        )
    elif not isinstance(n, int) and delta >= LARGE_DELTA:
        yield (
            VOID,
            f"{before}delta={round_up(delta)} allows publishing a record now and then: take 1e-6",
        )


def _protects_nobody(epsilon: float, delta: float | None) -> bool:
    """Tell whether the best attack finds nearly everybody; values that no fit takes are refused there."""
    if not epsilon > 0.0:
        return False
    known = LARGE_DELTA if delta is None or not 0.0 <= delta < 1.0 else delta
    return share_caught(Spec(epsilon, known, "replace_one")) >= PROTECTS_NOBODY


def _number(step: Any, name: str) -> float | None:
    """Return a parameter if it is a number; what is not one is refused in fit."""
    value = getattr(step, name, None)
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):
        return None


def _is_code(value: Any) -> bool:
    """Tell whether a parameter's value is an object or a function from elsewhere."""
    return value is not None and not isinstance(value, str | float | int) and not is_ours(value)
