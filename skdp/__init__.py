"""Differentially private estimators that drop into scikit-learn."""
__version__ = "0.1.0.dev0"
