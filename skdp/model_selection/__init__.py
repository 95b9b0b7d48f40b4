"""Folds in which a changed record stays in its part, cross-validation that pays for its scores, and searches."""

from typing import TYPE_CHECKING

from .._lazy import attach

if TYPE_CHECKING:
    from ._folds import KeyFold, PositionFold, dp_cross_val_score
    from ._searches import DPGridSearchCV, DPRandomizedSearchCV
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "dp_cross_val_score": "_folds",
            "KeyFold": "_folds",
            "PositionFold": "_folds",
            "DPGridSearchCV": "_searches",
            "DPRandomizedSearchCV": "_searches",
        },
    )

__all__ = [
    "DPGridSearchCV",
    "DPRandomizedSearchCV",
    "KeyFold",
    "PositionFold",
    "dp_cross_val_score",
]
