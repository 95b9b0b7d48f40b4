"""Differentially private estimators that drop into scikit-learn."""

from typing import TYPE_CHECKING

from ._lazy import attach
from .privacy._receipts._admission import declare_admission

if TYPE_CHECKING:
    from ._simulate import simulate
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
    from .naive_bayes import DPGaussianNB
    from .preprocessing import make_pipeline
    from .privacy import budget
    from .tabular import DPTableClassifier, DPTableRegressor
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "simulate": "_simulate",
            "total": "_total",
            "BudgetExceeded": "exceptions",
            "NotSupported": "exceptions",
            "OffScript": "exceptions",
            "PrivacyWarning": "exceptions",
            "check": "inspection",
            "DPElasticNet": "linear_model",
            "DPHuberRegressor": "linear_model",
            "DPLasso": "linear_model",
            "DPLinearRegression": "linear_model",
            "DPLinearSVC": "linear_model",
            "DPLinearSVR": "linear_model",
            "DPLogisticRegression": "linear_model",
            "DPPoissonRegressor": "linear_model",
            "DPQuantileRegressor": "linear_model",
            "DPRidge": "linear_model",
            "DPGaussianNB": "naive_bayes",
            "DPTableClassifier": "tabular",
            "DPTableRegressor": "tabular",
            "make_pipeline": "preprocessing",
            "budget": "privacy",
        },
    )

__version__ = "0.1.0.dev0"

__all__ = [
    "BudgetExceeded",
    "DPElasticNet",
    "DPGaussianNB",
    "DPHuberRegressor",
    "DPLasso",
    "DPLinearRegression",
    "DPLinearSVC",
    "DPLinearSVR",
    "DPLogisticRegression",
    "DPPoissonRegressor",
    "DPQuantileRegressor",
    "DPRidge",
    "DPTableClassifier",
    "DPTableRegressor",
    "NotSupported",
    "OffScript",
    "PrivacyWarning",
    "__version__",
    "budget",
    "check",
    "make_pipeline",
    "show_versions",
    "simulate",
    "total",
]


def show_versions() -> None:
    """Print the versions that a bug report should hold."""
    from ._show_versions import show_versions as show

    show()


def _filters_of(solver: str) -> list[str | None]:
    """Name the filters that the solvers of this class name run under."""
    from .solvers import LIST_SOLVERS, SOLVERS

    kinds = [*SOLVERS.called(solver), *LIST_SOLVERS.called(solver)]
    return [kind.filter if kind.adaptive else None for kind in kinds]


declare_admission(_filters_of)  # here, since receipts are checked where no solver has been imported
