"""What is around a private estimator, and pictures of what it costs.

`check` says which steps of a pipeline learn from the data, and which have a receipt; the displays, after those of
scikit-learn, draw receipts and ledgers, and need matplotlib (``skdp[plot]``).
"""

from ._ledger import LedgerDisplay
from ._privacy import PrivacyDisplay
from ._tradeoff import TradeoffDisplay
from ._units import Coefficients, original_units
from .checks import Finding, Findings, check

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
