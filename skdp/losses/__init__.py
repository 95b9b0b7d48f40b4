"""Formulas of (score, target) with declared constants. To add one: a file, a line in ``LOSSES``.

Those of a whole list of scores and grades are in ``LIST_LOSSES``.
"""

from ._lists import ListLoss, Lists
from ._loss import Loss, MarginLoss, ResidualLoss
from .bayesrank import BayesRank
from .clipped_logistic import ClippedLogistic
from .epsilon_insensitive import EpsilonInsensitive
from .hinge import Hinge
from .huber import Huber
from .huberised_hinge import HuberisedHinge
from .listmle import ListMLE
from .listnet import ListNet
from .logistic import Logistic
from .multinomial import Multinomial
from .poisson import Poisson
from .quantile_huber import QuantileHuber
from .squared import Squared
from .squared_epsilon_insensitive import SquaredEpsilonInsensitive
from .squared_hinge import SquaredHinge

__all__ = [
    "LIST_LOSSES",
    "LOSSES",
    "BayesRank",
    "ClippedLogistic",
    "EpsilonInsensitive",
    "Hinge",
    "Huber",
    "HuberisedHinge",
    "ListLoss",
    "ListMLE",
    "ListNet",
    "Lists",
    "Logistic",
    "Loss",
    "MarginLoss",
    "Multinomial",
    "Poisson",
    "QuantileHuber",
    "ResidualLoss",
    "Squared",
    "SquaredEpsilonInsensitive",
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
    "squared_epsilon_insensitive": SquaredEpsilonInsensitive,
    "poisson": Poisson,
    "quantile_huber": QuantileHuber,
    "multinomial": Multinomial,
}

LIST_LOSSES: dict[str, type[ListLoss]] = {
    "bayesrank": BayesRank,
    "listnet": ListNet,
    "listmle": ListMLE,
}
