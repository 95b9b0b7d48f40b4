"""Formulas of (score, target) with declared constants. To add one: a file, a line in ``LOSSES``.

Those of a whole list of scores and grades are in ``LIST_LOSSES``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import Registry, attach

if TYPE_CHECKING:
    from ._loss import Loss, MarginLoss, ResidualLoss
    from .epsilon_insensitive import EpsilonInsensitive, SquaredEpsilonInsensitive
    from .hinge import Hinge, HuberisedHinge, SquaredHinge
    from .huber import Huber, QuantileHuber
    from .lists import BayesRank, ListLoss, ListMLE, ListNet, Lists
    from .logistic import ClippedLogistic, Logistic, Multinomial
    from .poisson import Poisson
    from .squared import Squared

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
        "clipped_logistic": "logistic.ClippedLogistic",
        "hinge": "hinge.Hinge",
        "huberised_hinge": "hinge.HuberisedHinge",
        "squared_hinge": "hinge.SquaredHinge",
        "huber": "huber.Huber",
        "squared": "squared.Squared",
        "epsilon_insensitive": "epsilon_insensitive.EpsilonInsensitive",
        "squared_epsilon_insensitive": "epsilon_insensitive.SquaredEpsilonInsensitive",
        "poisson": "poisson.Poisson",
        "quantile_huber": "huber.QuantileHuber",
        "multinomial": "logistic.Multinomial",
    },
)

LIST_LOSSES: Registry[ListLoss] = Registry(
    __name__,
    {
        "bayesrank": "lists.BayesRank",
        "listnet": "lists.ListNet",
        "listmle": "lists.ListMLE",
    },
)

if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "ListLoss": "lists",
            "Lists": "lists",
            "Loss": "_loss",
            "MarginLoss": "_loss",
            "ResidualLoss": "_loss",
        },
        LOSSES,
        LIST_LOSSES,
    )
