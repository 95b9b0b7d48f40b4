"""Trusted arithmetic: what a release costs and what has been spent. No records, no noise.

Start with `epsilon_spent` and `noise_multiplier`; `epsilon`, `delta`, `profile` and `tradeoff` price
any script of events, `calibrate` goes back from a promise to a noise scale, and a `Ledger` is a
budget that several fits share.
"""

from ._accountant import Accountant
from ._breakdown import Share, breakdown
from ._convenience import epsilon_spent, noise_multiplier
from .accountants import (
    ACCOUNTANTS,
    calibrate,
    choose,
    delta,
    epsilon,
    profile,
    tradeoff,
)
from .dp_event import from_dp_event, to_dp_event
from .groups import for_rows
from .ledger import Filter, Ledger, Partition, budget
from .receipt import Receipt, proof_page
from .risk import Risk, risk
from .selection import selection_delta, selection_epsilon
from .spec import NEIGHBORS, Spec

__all__ = [
    "ACCOUNTANTS",
    "NEIGHBORS",
    "Accountant",
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
    "choose",
    "delta",
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
