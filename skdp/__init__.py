"""Differentially private estimators that drop into scikit-learn."""

from . import linear_model
from ._simulate import simulate
from ._total import total
from .exceptions import BudgetExceeded, NotSupported, OffScript, PrivacyWarning
from .inspection import check
from .linear_model import *  # noqa: F403
from .preprocessing import make_pipeline
from .privacy import budget

__version__ = "0.1.0.dev0"

__all__ = [
    "BudgetExceeded",
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
__all__ += linear_model.__all__


def show_versions() -> None:
    """Print the versions that a bug report should hold."""
    from ._show_versions import show_versions as show

    show()
