"""Private linear models with scikit-learn's face."""

from .classifiers import DPLinearSVC, DPLogisticRegression

__all__ = [
    "DPLinearSVC",
    "DPLogisticRegression",
]
