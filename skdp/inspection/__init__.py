"""Inspection of pipelines around a private estimator, and pictures of what it costs.

`check` says which steps of a pipeline learn from the data, and which have a receipt; the displays, after those of
scikit-learn, draw receipts and ledgers, and need matplotlib (``skdp[plot]``).
"""

from typing import TYPE_CHECKING

from .._lazy import attach

if TYPE_CHECKING:
    from ._drawing import LedgerDisplay, PrivacyDisplay, TradeoffDisplay
    from ._units import Coefficients, original_units
    from .checks import Finding, Findings, check
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "LedgerDisplay": "_drawing",
            "PrivacyDisplay": "_drawing",
            "TradeoffDisplay": "_drawing",
            "Coefficients": "_units",
            "original_units": "_units",
            "Finding": "checks",
            "Findings": "checks",
            "check": "checks",
        },
    )

__all__ = [
    "Coefficients",
    "Finding",
    "Findings",
    "LedgerDisplay",
    "PrivacyDisplay",
    "TradeoffDisplay",
    "check",
    "original_units",
]
