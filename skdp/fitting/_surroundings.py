"""What a fit is called from: pipelines and meta-estimators of scikit-learn among the callers.

scikit-learn tells an estimator nothing of the pipeline that holds it. The pipeline is there, though: it is calling.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from ..inspection.checks import LEARNS, UNKNOWN, check

__all__ = ["surroundings"]


def surroundings(inner: Any) -> tuple[str, ...]:
    """Steps around an estimator that learn from the data without a receipt, or of which nothing is known.

    Only what calls can be seen, and only where it calls in the same thread.

    Parameters
    ----------
    inner : estimator
        Who asks, from inside of a method of its own.

    Returns
    -------
    tuple of str
        Classes of the steps, each once.
    """
    outermost = inner
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__", "").split(".")[0] == "sklearn":
            caller = frame.f_locals.get("self")
            if hasattr(caller, "get_params") and hasattr(caller, "fit"):
                outermost = caller
        frame = frame.f_back
    if outermost is inner:
        return ()
    found = check(outermost)
    own = type(inner).__name__
    return tuple(name for name in (*found.named(LEARNS), *found.named(UNKNOWN)) if name != own)
