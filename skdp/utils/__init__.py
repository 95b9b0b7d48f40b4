"""Tools for testing and extending skdp."""

from typing import TYPE_CHECKING

from .._lazy import attach

if TYPE_CHECKING:
    from ._discovery import all_estimators, expected_failed_checks
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "all_estimators": "_discovery",
            "expected_failed_checks": "_discovery",
        },
    )

__all__ = ["all_estimators", "expected_failed_checks"]
