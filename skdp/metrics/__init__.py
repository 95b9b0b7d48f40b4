"""Private figures of held-out records: sampling and noise in one honest interval, one release each."""

from ._calibration import dp_calibration_curve
from ._confusion import DPConfusionMatrix
from ._estimate import Estimate
from ._groups import DPGroupAccuracy
from ._score import dp_score

__all__ = ["DPConfusionMatrix", "DPGroupAccuracy", "Estimate", "dp_calibration_curve", "dp_score"]
