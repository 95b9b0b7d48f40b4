"""Formulas of (score, target) with declared constants. To add one: a file, a line in ``LOSSES``."""

from skdp.losses._loss import Loss, MarginLoss, ResidualLoss
from skdp.losses.clipped_logistic import ClippedLogistic
from skdp.losses.hinge import Hinge
from skdp.losses.huber import Huber
from skdp.losses.huberised_hinge import HuberisedHinge
from skdp.losses.logistic import Logistic
from skdp.losses.multinomial import Multinomial
from skdp.losses.quantile_huber import QuantileHuber
from skdp.losses.squared import Squared
from skdp.losses.squared_hinge import SquaredHinge

__all__ = [
    "LOSSES",
    "ClippedLogistic",
    "Hinge",
    "Huber",
    "HuberisedHinge",
    "Logistic",
    "Loss",
    "MarginLoss",
    "Multinomial",
    "QuantileHuber",
    "ResidualLoss",
    "Squared",
    "SquaredHinge",
]

LOSSES = {
    "logistic": Logistic,
    "clipped_logistic": ClippedLogistic,
    "hinge": Hinge,
    "huberised_hinge": HuberisedHinge,
    "squared_hinge": SquaredHinge,
    "huber": Huber,
    "squared": Squared,
    "quantile_huber": QuantileHuber,
    "multinomial": Multinomial,
}
