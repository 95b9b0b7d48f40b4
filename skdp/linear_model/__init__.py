"""Private linear models with scikit-learn's face."""

from .classifiers import DPLinearSVC, DPLogisticRegression
from .glm_regressors import DPLinearSVR, DPPoissonRegressor
from .regressors import DPLinearRegression, DPRidge
from .robust_regressors import DPHuberRegressor, DPQuantileRegressor
from .sparse_regressors import DPElasticNet, DPLasso

__all__ = [
    "DPElasticNet",
    "DPHuberRegressor",
    "DPLasso",
    "DPLinearRegression",
    "DPLinearSVC",
    "DPLinearSVR",
    "DPLogisticRegression",
    "DPPoissonRegressor",
    "DPQuantileRegressor",
    "DPRidge",
]
