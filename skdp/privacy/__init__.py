"""Trusted arithmetic: what a release costs and what has been spent. No records, no noise.

Start with `epsilon_spent` and `noise_multiplier`; `epsilon`, `delta`, `profile` and `tradeoff` price
any script of events, `calibrate` goes back from a promise to a noise scale, and a `Ledger` is a
budget that several fits share.
"""

from typing import TYPE_CHECKING

from .._lazy import attach

if TYPE_CHECKING:
    from ._accountant import Accountant
    from ._certificate import certificate
    from ._enclose import Enclosure, enclose
    from ._risk import Risk, Share, breakdown, risk
    from .accountants import (
        ACCOUNTANTS,
        calibrate,
        choose,
        delta,
        epsilon,
        epsilon_spent,
        noise_multiplier,
        profile,
        tradeoff,
    )
    from .dp_event import from_dp_event, to_dp_event
    from .groups import for_rows
    from .ledger import Filter, Ledger, Partition, budget
    from .receipt import Receipt, proof_page
    from .selection import selection_delta, selection_epsilon
    from .spec import NEIGHBORS, Spec
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "Accountant": "_accountant",
            "Share": "_risk",
            "breakdown": "_risk",
            "certificate": "_certificate",
            "epsilon_spent": "accountants",
            "noise_multiplier": "accountants",
            "Enclosure": "_enclose",
            "enclose": "_enclose",
            "ACCOUNTANTS": "accountants",
            "calibrate": "accountants",
            "choose": "accountants",
            "delta": "accountants",
            "epsilon": "accountants",
            "profile": "accountants",
            "tradeoff": "accountants",
            "from_dp_event": "dp_event",
            "to_dp_event": "dp_event",
            "for_rows": "groups",
            "Filter": "ledger",
            "Ledger": "ledger",
            "Partition": "ledger",
            "budget": "ledger",
            "Receipt": "receipt",
            "proof_page": "receipt",
            "Risk": "_risk",
            "risk": "_risk",
            "selection_delta": "selection",
            "selection_epsilon": "selection",
            "NEIGHBORS": "spec",
            "Spec": "spec",
        },
    )

__all__ = [
    "ACCOUNTANTS",
    "NEIGHBORS",
    "Accountant",
    "Enclosure",
    "Filter",
    "Ledger",
    "Partition",
    "Receipt",
    "Risk",
    "Share",
    "Spec",
    "breakdown",
    "budget",
    "calibrate",
    "certificate",
    "choose",
    "delta",
    "enclose",
    "epsilon",
    "epsilon_spent",
    "for_rows",
    "from_dp_event",
    "noise_multiplier",
    "profile",
    "proof_page",
    "risk",
    "selection_delta",
    "selection_epsilon",
    "to_dp_event",
    "tradeoff",
]
