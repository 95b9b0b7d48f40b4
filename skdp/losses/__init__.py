"""Formulas of (score, target) with declared constants. To add one: a file, and a line in ``LOSSES``."""

from skdp.losses._loss import Loss, MarginLoss, ResidualLoss
from skdp.losses.clipped_logistic import ClippedLogistic
from skdp.losses.huberised_hinge import HuberisedHinge
from skdp.losses.logistic import Logistic

__all__ = [
    "LOSSES",
    "ClippedLogistic",
    "HuberisedHinge",
    "Logistic",
    "Loss",
    "MarginLoss",
    "ResidualLoss",
]

LOSSES = {
    "logistic": Logistic,
    "clipped_logistic": ClippedLogistic,
    "huberised_hinge": HuberisedHinge,
}
