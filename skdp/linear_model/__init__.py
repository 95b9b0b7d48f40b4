"""Private linear models with scikit-learn's face."""

from .classifiers import DPLinearSVC, DPLogisticRegression
from .regressors import DPLinearRegression, DPRidge

__all__ = [
    "DPLinearRegression",
    "DPLinearSVC",
    "DPLogisticRegression",
    "DPRidge",
]
