"""The trusted room: the only one that touches records or draws noise. One file per question.

`MECHANISMS` is the registry: a question that is not in it is refused by the oracle.
"""

from typing import TYPE_CHECKING

from .._lazy import attach
from ._registry import register

if TYPE_CHECKING:
    from ._documents import Documents
    from ._noise import Noise, Silence
    from ._oracle import Oracle, price
    from ._public import Public
    from ._records import Records
    from ._schedule import Schedule, distances
    from ._statement import Statement, state
    from ._trials import best_of
    from ._units import number_of_units
    from .allocated import AllocatedBatch
    from .best_candidate import BestCandidate
    from .best_column import BestColumn
    from .cell_counts import CellCounts
    from .class_sums import ClassSums
    from .column_counts import ColumnCounts
    from .column_moments import ColumnMoments
    from .count import Count
    from .gradient import Gradient
    from .gradient_difference import GradientDifference
    from .hidden_descent import HiddenDescent
    from .joint_moments import JointMoments
    from .label_gradient import LabelGradient
    from .list_gradient import ListGradient
    from .list_targets import ListTargets
    from .mapped import Coordinates, Mapped
    from .mean_loss import MeanLoss
    from .minimiser import NoisyMinimiser
    from .model_step import ModelStep
    from .moments import SecondMoment
    from .parties import PartyGradients
    from .perturbed_objective import PerturbedObjective
    from .rank_sum import RankSum
    from .row_norms import RowNorms
    from .steepest_coordinate import SteepestCoordinate
    from .subsample import PoissonBatch, RandomBatch
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
        "model_step.ModelStep",
        "gradient_difference.GradientDifference",
        "parties.PartyGradients",
        "moments.SecondMoment",
        "steepest_coordinate.SteepestCoordinate",
        "best_candidate.BestCandidate",
        "best_column.BestColumn",
        "cell_counts.CellCounts",
        "mean_loss.MeanLoss",
        "rank_sum.RankSum",
        "class_sums.ClassSums",
        "column_counts.ColumnCounts",
        "column_moments.ColumnMoments",
        "count.Count",
        "threshold.FirstDecrease",
        "threshold.GaussianFirstDecrease",
        "gradient.Gradient",
        "hidden_descent.HiddenDescent",
        "joint_moments.JointMoments",
        "label_gradient.LabelGradient",
        "list_gradient.ListGradient",
        "list_targets.ListTargets",
        "mapped.Mapped",
        "row_norms.RowNorms",
        "minimiser.NoisyMinimiser",
        "perturbed_objective.PerturbedObjective",
        "allocated.AllocatedBatch",
        "subsample.PoissonBatch",
        "subsample.RandomBatch",
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
            "Statement": "_statement",
            "state": "_statement",
            "best_of": "_trials",
            "number_of_units": "_units",
            "Coordinates": "mapped",
        },
        MECHANISMS,
    )
