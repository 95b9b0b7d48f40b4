"""The trusted room: the only one that touches records or draws noise. One file per question.

`MECHANISMS` is the registry: a question that is not in it is refused by the oracle.
"""

from ._documents import Documents
from ._noise import Noise, Silence
from ._oracle import Oracle, price
from ._public import Public
from ._records import Records
from ._registry import register
from ._schedule import Schedule, distances
from ._statement import Statement, state
from ._trials import best_of
from ._units import number_of_units
from .best_candidate import BestCandidate
from .best_column import BestColumn
from .cell_counts import CellCounts
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
    "BestCandidate",
    "BestColumn",
    "CellCounts",
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
    {
        ModelStep,
        GradientDifference,
        PartyGradients,
        SecondMoment,
        SteepestCoordinate,
        BestCandidate,
        BestColumn,
        CellCounts,
        MeanLoss,
        RankSum,
        ColumnCounts,
        ColumnMoments,
        Count,
        FirstDecrease,
        GaussianFirstDecrease,
        Gradient,
        HiddenDescent,
        JointMoments,
        LabelGradient,
        ListGradient,
        ListTargets,
        Mapped,
        RowNorms,
        NoisyMinimiser,
        PerturbedObjective,
        PoissonBatch,
        RandomBatch,
    }
)
