"""Private figures of held-out records: sampling and noise in one honest interval, one release each."""

from typing import TYPE_CHECKING

from .._lazy import attach

if TYPE_CHECKING:
    from ._confusion import DPConfusionMatrix, DPGroupAccuracy, dp_calibration_curve
    from ._figure import Estimate
    from ._score import dp_score
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "dp_calibration_curve": "_confusion",
            "DPConfusionMatrix": "_confusion",
            "Estimate": "_figure",
            "DPGroupAccuracy": "_confusion",
            "dp_score": "_score",
        },
    )

__all__ = ["DPConfusionMatrix", "DPGroupAccuracy", "Estimate", "dp_calibration_curve", "dp_score"]
