"""Private linear models with scikit-learn's face."""

from .classifiers import DPLinearSVC, DPLogisticRegression
from .regressors import DPLinearRegression, DPRidge
from .robust_regressors import DPHuberRegressor, DPQuantileRegressor
from .sparse_regressors import DPElasticNet, DPLasso

__all__ = [
    "DPElasticNet",
    "DPHuberRegressor",
    "DPLasso",
    "DPLinearRegression",
    "DPLinearSVC",
    "DPLogisticRegression",
    "DPQuantileRegressor",
    "DPRidge",
]
