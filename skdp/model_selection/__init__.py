"""Folds by which one record's change stays in its part, cross-validation that pays for what it tells, and searches."""

from ._cross_validation import dp_cross_val_score
from ._folds import KeyFold, PositionFold
from ._searches import DPGridSearchCV, DPRandomizedSearchCV

__all__ = [
    "DPGridSearchCV",
    "DPRandomizedSearchCV",
    "KeyFold",
    "PositionFold",
    "dp_cross_val_score",
]
