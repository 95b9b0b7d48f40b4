"""Formulas of (score, target) with declared constants. To add one: a file, a line in ``LOSSES``.

Those of a whole list of scores and grades are in ``LIST_LOSSES``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import Registry, attach

if TYPE_CHECKING:
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

LOSSES: Registry[Loss] = Registry(
    __name__,
    {
        "logistic": "logistic.Logistic",
        "clipped_logistic": "clipped_logistic.ClippedLogistic",
        "hinge": "hinge.Hinge",
        "huberised_hinge": "huberised_hinge.HuberisedHinge",
        "squared_hinge": "squared_hinge.SquaredHinge",
        "huber": "huber.Huber",
        "squared": "squared.Squared",
        "epsilon_insensitive": "epsilon_insensitive.EpsilonInsensitive",
        "squared_epsilon_insensitive": "squared_epsilon_insensitive.SquaredEpsilonInsensitive",
        "poisson": "poisson.Poisson",
        "quantile_huber": "quantile_huber.QuantileHuber",
        "multinomial": "multinomial.Multinomial",
    },
)

LIST_LOSSES: Registry[ListLoss] = Registry(
    __name__,
    {
        "bayesrank": "bayesrank.BayesRank",
        "listnet": "listnet.ListNet",
        "listmle": "listmle.ListMLE",
    },
)

if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "ListLoss": "_lists",
            "Lists": "_lists",
            "Loss": "_loss",
            "MarginLoss": "_loss",
            "ResidualLoss": "_loss",
        },
        LOSSES,
        LIST_LOSSES,
    )
