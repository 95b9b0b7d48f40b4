"""A private estimator's box in the diagrams that scikit-learn draws of pipelines."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ..privacy._arithmetic import round_up

__all__ = ["visual_block"]


def visual_block(estimator: Any) -> SimpleNamespace:
    """Return the block that scikit-learn draws for an estimator, with a caption on what the guarantee covers.

    Parameters
    ----------
    estimator : estimator
        A private one.

    Returns
    -------
    SimpleNamespace
        With the attributes of scikit-learn's own, which it keeps to itself.
    """
    receipt = vars(estimator).get("privacy_")
    around = getattr(receipt, "around", None)
    caption = f"epsilon = {round_up(estimator.epsilon)}"
    if around:
        caption = f"{caption} for this step only, NOT PRIVATE as a whole: {', '.join(around)}"
    return SimpleNamespace(
        kind="single",
        estimators=estimator,
        names=type(estimator).__name__,
        name_details=str(estimator),
        name_caption=caption,
        doc_link_label=None,
        dash_wrapped=True,
    )
