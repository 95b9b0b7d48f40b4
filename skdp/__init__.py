"""Differentially private estimators that drop into scikit-learn."""

from ._total import total
from .exceptions import BudgetExceeded, NotSupported, OffScript, PrivacyWarning
from .inspection import check
from .linear_model import (
    DPElasticNet,
    DPHuberRegressor,
    DPLasso,
    DPLinearRegression,
    DPLinearSVC,
    DPLinearSVR,
    DPLogisticRegression,
    DPPoissonRegressor,
    DPQuantileRegressor,
    DPRidge,
)
from .preprocessing import make_pipeline
from .privacy import budget

__version__ = "0.1.0.dev0"

__all__ = [
    "BudgetExceeded",
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
    "NotSupported",
    "OffScript",
    "PrivacyWarning",
    "__version__",
    "budget",
    "check",
    "make_pipeline",
    "show_versions",
    "total",
]


def show_versions() -> None:
    """Print the versions that a bug report should hold."""
    from ._show_versions import show_versions as show

    show()
