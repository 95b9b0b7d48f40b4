"""Verdicts of a check, and the setting that they depend on beside the step itself."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..exceptions import NotSupported
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
    "Coefficients",
    "Setting",
    "Verdict",
    "charges",
    "is_ours",
    "judge_guarantee",
    "original_units",
]


Array = np.ndarray[Any, Any]


class Coefficients(NamedTuple):
    """Coefficients of a linear model, with the names of their columns.

    See Also
    --------
    original_units : Makes them.

    Examples
    --------
    >>> from skdp.inspection import Coefficients
    >>> Coefficients(["age"], [0.02], -0.1).intercept
    -0.1
    """

    names: Any
    coef: Any
    intercept: Any


def original_units(model: Any) -> Coefficients:
    """Coefficients and intercept for columns in their own units, which is free: scales are declared, or paid for.

    They give the pipeline's own scores for rows that none of its steps cuts: each number within its bounds, each row
    within its norm.

    Parameters
    ----------
    model : Pipeline or linear estimator
        Fitted. Steps before the last are `BoundsScaler` with linear scales, `DPBounds` or `DPStandardScaler`; an
        estimator that has bought bounds itself (``data_norm=None``) needs none.

    Returns
    -------
    Coefficients
        Names of the columns, ``coef`` and ``intercept`` of the shapes that the estimator's have.

    See Also
    --------
    skdp.preprocessing.BoundsScaler : Scales by declaration.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from skdp import DPRidge
    >>> from skdp.inspection import original_units
    >>> from skdp.preprocessing import BoundsScaler
    >>> years = np.random.default_rng(0).uniform(1900, 2000, (5000, 1))
    >>> scaler = BoundsScaler((1900, 2000))
    >>> ridge = DPRidge(epsilon=2.0, y_bounds=(0, 30), data_norm=1.0, random_state=0)
    >>> model = make_pipeline(scaler, ridge).fit(years, 0.2 * years[:, 0] - 375.0)
    >>> original_units(model).coef.round(2)  # a fifth of a unit each year
    array([0.2])
    """
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    steps = [step for step in steps if step is not None and step != "passthrough"]
    last = steps[-1] if steps else model
    check_is_fitted(last)
    if not hasattr(last, "coef_") or not hasattr(last, "intercept_"):
        raise NotSupported(
            f"{type(last).__name__} has no coefficients; give a linear estimator, or a pipeline that ends in one."
        )
    coef = last.coef_.toarray() if hasattr(last.coef_, "toarray") else last.coef_
    coef, intercept = np.asarray(coef, dtype=np.float64), last.intercept_
    for step in reversed(steps):
        if step is last and not hasattr(last, "bounds_"):
            continue
        slope, shift = _affine(step)
        intercept = intercept + coef @ shift
        coef = coef * slope
    first = steps[0]
    names = getattr(first, "feature_names_in_", None)
    unnamed = [f"x{j}" for j in range(coef.shape[-1])]
    return Coefficients(list(unnamed if names is None else names), coef, intercept)


def _affine(step: Any) -> tuple[Array, Array]:
    """Return slope and shift of the map of each column."""
    found = getattr(step, "_affine", None)
    if found is None:
        raise NotSupported(
            f"Nothing is known of how {type(step).__name__} maps a column; use BoundsScaler, DPBounds or "
            "DPStandardScaler before the estimator."
        )
    slope, shift = found()
    return slope, shift


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
