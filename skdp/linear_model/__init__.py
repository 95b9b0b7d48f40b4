"""Private linear models with scikit-learn's face."""

from .classifiers import DPLinearSVC, DPLogisticRegression
from .regressors import DPLinearRegression, DPRidge
from .sparse_regressors import DPElasticNet, DPLasso

__all__ = [
    "DPElasticNet",
    "DPLasso",
    "DPLinearRegression",
    "DPLinearSVC",
    "DPLogisticRegression",
    "DPRidge",
]
