"""Folds by which one record's change stays in its part, and cross-validation that pays for what it tells."""

from ._cross_validation import dp_cross_val_score
from ._folds import KeyFold, PositionFold

__all__ = ["KeyFold", "PositionFold", "dp_cross_val_score"]
