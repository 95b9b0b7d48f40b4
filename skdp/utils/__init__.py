"""Tools for whoever tests or extends skdp."""

from ._discovery import all_estimators
from ._expected_failures import expected_failed_checks

__all__ = ["all_estimators", "expected_failed_checks"]
