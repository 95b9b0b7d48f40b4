"""Private naive Bayes with scikit-learn's interface: one release of class sums, and no solver."""

from typing import TYPE_CHECKING

from .._lazy import attach

if TYPE_CHECKING:
    from .gaussian import DPGaussianNB
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "DPGaussianNB": "gaussian",
        },
    )

__all__ = [
    "DPGaussianNB",
]
