"""Private networks with scikit-learn's faces: of dense layers, and any module of PyTorch (``skdp[torch]``)."""

from .perceptrons import DPMLPClassifier, DPMLPRegressor
from .torch_networks import DPTorchClassifier, DPTorchRegressor

__all__ = ["DPMLPClassifier", "DPMLPRegressor", "DPTorchClassifier", "DPTorchRegressor"]
