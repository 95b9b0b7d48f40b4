"""Private networks with scikit-learn's faces: of dense layers, and any module of PyTorch (``skdp[torch]``)."""

from typing import TYPE_CHECKING

from .._lazy import attach

if TYPE_CHECKING:
    from .perceptrons import DPMLPClassifier, DPMLPRegressor
    from .torch_networks import DPTorchClassifier, DPTorchRegressor
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "DPMLPClassifier": "perceptrons",
            "DPMLPRegressor": "perceptrons",
            "DPTorchClassifier": "torch_networks",
            "DPTorchRegressor": "torch_networks",
        },
    )

__all__ = ["DPMLPClassifier", "DPMLPRegressor", "DPTorchClassifier", "DPTorchRegressor"]
