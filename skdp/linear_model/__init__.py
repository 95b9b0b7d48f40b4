"""Private linear models with scikit-learn's interface."""

from typing import TYPE_CHECKING

from .._lazy import attach

if TYPE_CHECKING:
    from .classifiers import DPLinearSVC, DPLogisticRegression
    from .glm_regressors import DPLinearSVR, DPPoissonRegressor
    from .regressors import (
        DPElasticNet,
        DPHuberRegressor,
        DPLasso,
        DPLinearRegression,
        DPQuantileRegressor,
        DPRidge,
    )
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "DPLinearSVC": "classifiers",
            "DPLogisticRegression": "classifiers",
            "DPLinearSVR": "glm_regressors",
            "DPPoissonRegressor": "glm_regressors",
            "DPLinearRegression": "regressors",
            "DPRidge": "regressors",
            "DPHuberRegressor": "regressors",
            "DPQuantileRegressor": "regressors",
            "DPElasticNet": "regressors",
            "DPLasso": "regressors",
        },
    )

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
