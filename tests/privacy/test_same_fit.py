"""Two receipts are of one fit if they differ by what a person states, and by nothing else: an audit rests on that.

A line of a ledger pays for one receipt. Another one that names it is forged, unless it is the same once more. Receipts
of figures name no model, so a model alone does not tell fits apart.
"""

import math
from dataclasses import fields, replace

import numpy as np
import pytest
from privacy.receipt_samples import receipt_number

import skdp
from skdp.metrics import dp_score
from skdp.privacy import Ledger, Receipt
from skdp.privacy.events import PureDP
from skdp.privacy.ledger import Audit

STATED = {"tuning", "releases", "unit"}
CHANGED = {
    "epsilon": 0.123,
    "delta": 1e-3,
    "accountant": "another",
    "script": ((PureDP(0.123), 7),),
    "solver": "Another()",
    "proofs": ("threshold",),
    "declared": {"n": 7},
    "unspent": 0.123,
    "notes": ("another",),
    "order": 77,
    "rows": 77,
    "version": "77",
    "date": "1977-07-07",
    "ledger": {"identity": "another"},
    "model": {"class": "sha256/2:77"},
    "tuning": "another",
    "releases": "another",
    "unit": "another",
    "around": ("Another",),
    "standard_error": {"score": 7.0},
    "certificate": {"claim": {}},
}
SWITCHED = {  # between two
    "neighbors": lambda value: "add_remove" if value == "replace_one" else "replace_one",
    "seeded": lambda value: not value,
}


def changed(receipt, name):
    """The receipt with one field changed."""
    switch = SWITCHED.get(name)
    value = switch(getattr(receipt, name)) if switch else CHANGED[name]
    return replace(receipt, **{name: value})


def confused(same_fit):
    """Fields by which fits are told apart wrongly, or not told apart."""
    for number in range(4):
        receipt = replace(receipt_number(number), model={} if number % 2 else {"class": "7"})
        for field in fields(Receipt):
            other = changed(receipt, field.name)
            if same_fit(receipt, other) != (field.name in STATED):
                yield field.name


def test_what_a_person_states_is_no_other_fit_and_all_else_is():
    assert list(confused(Receipt.same_fit)) == []


@pytest.mark.parametrize(
    ("same_fit", "missed"),
    [
        (lambda one, other: one.model == other.model, "script"),
        (lambda one, other: one.ledger == other.ledger, "epsilon"),
        (lambda one, other: one == other, "tuning"),
    ],
    ids=["by the model", "by the line", "by all"],
)
def test_receipts_that_are_told_apart_by_less_are_found(same_fit, missed):
    assert missed in list(confused(same_fit))


def test_a_line_pays_for_one_figure(tmp_path):
    """Of two figures on one line, the dearer is forged; neither names a model."""
    paid = figure(Ledger(5.0, 1e-5, path=tmp_path / "kept.db"), 0.5)
    dearer = replace(figure(None, 4.0), ledger=paid.ledger)
    line = paid.ledger
    digests = [""] * line["position"] + [line["head"]]
    found = Audit.of(line["identity"], digests, 1, [paid, dearer])
    assert paid.model == dearer.model == {} and math.isclose(dearer.epsilon, 4.0, rel_tol=1e-3)
    assert (found.matched, found.doubled, found.sound) == ((0,), (1,), False)
    assert Audit.of(line["identity"], digests, 1, [paid, paid.stating(tuning="none")]).sound


def figure(ledger, epsilon):
    """The receipt of an accuracy."""
    X = np.random.default_rng(0).uniform(-0.5, 0.5, (60, 2))
    y = (X[:, 0] > 0).astype(int)
    model = skdp.DPLogisticRegression(data_norm=1.0, classes=[0, 1], ledger=Ledger(1.0, 1e-5))
    return dp_score(model.fit(X, y), X, y, epsilon=epsilon, ledger=ledger).privacy
