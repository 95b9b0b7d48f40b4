"""What is around a private estimator: which steps of a pipeline learn from the data, and which have a receipt."""

from ._surroundings import surroundings
from .checks import Finding, Findings, check

__all__ = ["Finding", "Findings", "check", "surroundings"]
