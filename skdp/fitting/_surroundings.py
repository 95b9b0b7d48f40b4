"""What a fit is called from: pipelines and meta-estimators of scikit-learn among the callers.

scikit-learn tells an estimator nothing of the pipeline that holds it. The pipeline is there, though: it is calling.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from ..inspection.checks import LEARNS, UNKNOWN, check
from ..privacy.receipt import Receipt

__all__ = ["callers", "surroundings"]


def callers(inner: Any) -> Iterator[Any]:
    """Estimators of scikit-learn that call an estimator, the innermost first.

    Only what calls can be seen, and only where it calls in the same thread.

    Parameters
    ----------
    inner : estimator
        Who asks, from inside of a method of its own.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__", "").split(".")[0] == "sklearn":
            caller = frame.f_locals.get("self")
            if hasattr(caller, "get_params") and hasattr(caller, "fit") and caller is not inner:
                yield caller
        frame = frame.f_back


def surroundings(inner: Any, receipt: Receipt | None = None) -> tuple[str, ...]:
    """Steps around an estimator that learn from the data without a receipt, or of which nothing is known.

    Parameters
    ----------
    inner : estimator
        Who asks, from inside of a method of its own.
    receipt : Receipt or None
        What it names already, of an earlier fit, is named again.

    Returns
    -------
    tuple of str
        Classes of the steps, each once.
    """
    known = () if receipt is None else receipt.around
    *_, outermost = inner, *callers(inner)
    if outermost is inner:
        return known
    found = check(outermost)
    own = type(inner).__name__
    told = (name for name in (*found.named(LEARNS), *found.named(UNKNOWN)) if name != own)
    return tuple(dict.fromkeys((*known, *told)))
