"""Receipts of all kinds, by number: scripts of every event, filters, ledgers, odd words."""

import math
from dataclasses import replace

import numpy as np
from privacy.event_samples import SAMPLES

from skdp.exceptions import BudgetExceeded, NotSupported
from skdp.privacy import Filter, Receipt, Spec, epsilon
from skdp.privacy.events import Gaussian, PureDP

RELATIONS = ("replace_one", "add_remove")
WORDS = ("GD()", "a 'quoted' \"text\"", "é ∞ <b>", "", "tab\tand\nline")
FAST = tuple(e for e in SAMPLES if type(e).__name__ != "GaussianAboveThreshold")


def receipt_number(i):
    """The same receipt for the same number."""
    rng = np.random.default_rng(i)
    made = _filtered(rng) if i % 4 == 3 else _scripted(rng)
    return replace(
        made,
        proofs=("sums", "count")[: rng.integers(1, 3)],
        declared={
            "n": int(rng.integers(1, 10**6)),
            "bound": float(rng.normal()),
            "classes": [0, "a"],
        },
        seeded=bool(rng.integers(2)),
        notes=tuple(rng.choice(WORDS, rng.integers(3))),
        rows=int(rng.integers(1, 4)),
        version="0.1.0",
        date="2026-11-19",
        ledger=None
        if i % 3
        else {"epsilon": math.inf, "delta": 1e-6, "spent_before": 0.1, "spent_after": 0.3},
        model={"coef_": f"{i:064x}"},
        tuning=str(rng.choice(WORDS)),
    )


def _scripted(rng):
    """Events of one kind, or Gaussians and pure ones, since not everything composes."""
    neighbors, delta = str(rng.choice(RELATIONS)), float(10.0 ** -rng.integers(3, 9))
    event = FAST[rng.integers(len(FAST))]
    mixed = ((Gaussian(float(rng.uniform(5, 50))), int(rng.integers(1, 99))), (PureDP(0.1), 1))
    for script in (((event, 1),), mixed):
        try:
            price = epsilon(script, delta, neighbors)
        except NotSupported:
            continue
        return Receipt(price, delta, neighbors, "auto", script, str(rng.choice(WORDS)))
    raise AssertionError("mixed scripts are priced under both relations")


def _filtered(rng):
    """What an adaptive fit leaves."""
    spec = Spec(float(rng.uniform(0.1, 5)), 1e-6, str(rng.choice(RELATIONS)))
    kind = str(rng.choice(["rdp", "zcdp", "gdp"]))
    budget = Filter(spec, kind)
    for _ in range(rng.integers(1, 30)):
        try:
            budget.charge(Gaussian(float(rng.uniform(20, 90))))
        except BudgetExceeded:
            break
    return Receipt(
        spec.epsilon,
        spec.delta,
        spec.neighbors,
        f"{kind} filter",
        budget.script,
        "Adaptive()",  # of nobody who has declared a filter
        unspent=budget.unspent,
        order=budget.order,
    )
