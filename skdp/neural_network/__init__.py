"""Private networks of dense layers with scikit-learn's faces."""

from .perceptrons import DPMLPClassifier, DPMLPRegressor

__all__ = ["DPMLPClassifier", "DPMLPRegressor"]
