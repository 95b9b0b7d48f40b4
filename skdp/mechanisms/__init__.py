"""The trusted room: the only one that touches records or draws noise. One file for each family of questions.

`MECHANISMS` is the registry: a question that is not in it is refused by the oracle.
"""

from typing import TYPE_CHECKING

from .._lazy import attach
from ._registry import register

if TYPE_CHECKING:
    from ._documents import Documents
    from ._exact import best_of
    from ._noise import Noise, Silence
    from ._oracle import Oracle, Statement, price, state
    from ._public import Public
    from ._records import Records
    from ._schedule import Schedule, distances
    from ._units import number_of_units
    from .batches import AllocatedBatch, PoissonBatch, RandomBatch
    from .class_sums import ClassSums
    from .counts import CellCounts, ColumnCounts, Count
    from .evaluation import MeanLoss, RankSum
    from .gradient import Gradient, GradientDifference, ModelStep, PartyGradients
    from .hidden_descent import HiddenDescent
    from .lists import LabelGradient, ListGradient, ListTargets
    from .mapped import Coordinates, Mapped, RowNorms
    from .minimiser import NoisyMinimiser, PerturbedObjective
    from .moments import ColumnMoments, JointMoments, SecondMoment
    from .selections import BestCandidate, BestColumn, SteepestCoordinate
    from .threshold import FirstDecrease, GaussianFirstDecrease

__all__ = [
    "MECHANISMS",
    "AllocatedBatch",
    "BestCandidate",
    "BestColumn",
    "CellCounts",
    "ClassSums",
    "ColumnCounts",
    "ColumnMoments",
    "Coordinates",
    "Count",
    "Documents",
    "FirstDecrease",
    "GaussianFirstDecrease",
    "Gradient",
    "GradientDifference",
    "HiddenDescent",
    "JointMoments",
    "LabelGradient",
    "ListGradient",
    "ListTargets",
    "Mapped",
    "MeanLoss",
    "ModelStep",
    "Noise",
    "NoisyMinimiser",
    "Oracle",
    "PartyGradients",
    "PerturbedObjective",
    "PoissonBatch",
    "Public",
    "RandomBatch",
    "RankSum",
    "Records",
    "RowNorms",
    "Schedule",
    "SecondMoment",
    "Silence",
    "Statement",
    "SteepestCoordinate",
    "best_of",
    "distances",
    "number_of_units",
    "price",
    "state",
]

MECHANISMS = register(
    __name__,
    [
        "gradient.ModelStep",
        "gradient.GradientDifference",
        "gradient.PartyGradients",
        "moments.SecondMoment",
        "selections.SteepestCoordinate",
        "selections.BestCandidate",
        "selections.BestColumn",
        "counts.CellCounts",
        "evaluation.MeanLoss",
        "evaluation.RankSum",
        "class_sums.ClassSums",
        "counts.ColumnCounts",
        "moments.ColumnMoments",
        "counts.Count",
        "threshold.FirstDecrease",
        "threshold.GaussianFirstDecrease",
        "gradient.Gradient",
        "hidden_descent.HiddenDescent",
        "moments.JointMoments",
        "lists.LabelGradient",
        "lists.ListGradient",
        "lists.ListTargets",
        "mapped.Mapped",
        "mapped.RowNorms",
        "minimiser.NoisyMinimiser",
        "minimiser.PerturbedObjective",
        "batches.AllocatedBatch",
        "batches.PoissonBatch",
        "batches.RandomBatch",
    ],
)

if not TYPE_CHECKING:  # pragma: no branch
    __getattr__, __dir__ = attach(
        __name__,
        {
            "Documents": "_documents",
            "Noise": "_noise",
            "Silence": "_noise",
            "Oracle": "_oracle",
            "price": "_oracle",
            "Public": "_public",
            "Records": "_records",
            "Schedule": "_schedule",
            "distances": "_schedule",
            "Statement": "_oracle",
            "state": "_oracle",
            "best_of": "_exact",
            "number_of_units": "_units",
            "Coordinates": "mapped",
        },
        MECHANISMS,
    )
