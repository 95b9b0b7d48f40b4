"""Tools for whoever tests or extends the library."""

from ._discovery import all_estimators

__all__ = ["all_estimators"]
