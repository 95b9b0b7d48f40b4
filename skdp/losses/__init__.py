"""Formulas of (score, target) with declared constants. To add one: a file, a line in ``LOSSES``."""

from ._loss import Loss, MarginLoss, ResidualLoss
from .clipped_logistic import ClippedLogistic
from .epsilon_insensitive import EpsilonInsensitive
from .hinge import Hinge
from .huber import Huber
from .huberised_hinge import HuberisedHinge
from .logistic import Logistic
from .multinomial import Multinomial
from .poisson import Poisson
from .quantile_huber import QuantileHuber
from .squared import Squared
from .squared_hinge import SquaredHinge

__all__ = [
    "LOSSES",
    "ClippedLogistic",
    "EpsilonInsensitive",
    "Hinge",
    "Huber",
    "HuberisedHinge",
    "Logistic",
    "Loss",
    "MarginLoss",
    "Multinomial",
    "Poisson",
    "QuantileHuber",
    "ResidualLoss",
    "Squared",
    "SquaredHinge",
]

LOSSES: dict[str, type[Loss]] = {
    "logistic": Logistic,
    "clipped_logistic": ClippedLogistic,
    "hinge": Hinge,
    "huberised_hinge": HuberisedHinge,
    "squared_hinge": SquaredHinge,
    "huber": Huber,
    "squared": Squared,
    "epsilon_insensitive": EpsilonInsensitive,
    "poisson": Poisson,
    "quantile_huber": QuantileHuber,
    "multinomial": Multinomial,
}
