"""Private models of raw tables: from a frame and its declaration to the model that public numbers choose."""

from typing import TYPE_CHECKING

from .._lazy import attach

if TYPE_CHECKING:
    from .estimators import DPTableClassifier, DPTableRegressor
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "DPTableClassifier": "estimators",
            "DPTableRegressor": "estimators",
        },
    )

__all__ = ["DPTableClassifier", "DPTableRegressor"]
