"""Ledgers and receipts that cover less than what was asked of a record: the law over all promises finds each."""

from dataclasses import replace

import pytest
from laws.paid import all_is_paid
from laws.promises import acts

from skdp.fitting.program import Program
from skdp.model_selection import _folds

FIT = "DPLogisticRegression: data_norm=None"


def found(name, relation="replace_one"):
    """What the law says of the first act of a name."""
    act = next(act for act in acts(name) if act.relation == relation)
    return list(all_is_paid(act))


@pytest.mark.parametrize(
    "name",
    [
        FIT,
        "DPStandardScaler",
        "dp_score: accuracy",
        "dp_cross_val_score: accuracy, PositionFold",
        "make_pipeline(DPPCA)",
    ],
)
def test_a_ledger_that_pays_for_less_is_found(monkeypatch, name):
    assert not found(name)
    monkeypatch.setattr(
        Program, "_owed", property(lambda self: (self.charged or self.statement.script)[:-1])
    )
    assert found(name)


def test_a_receipt_that_leaves_a_stage_out_is_found(monkeypatch):
    sound = Program.run

    def short(self, *given, **more):
        result, receipt = sound(self, *given, **more)
        return result, replace(receipt, script=receipt.script[1:])

    monkeypatch.setattr(Program, "run", short)
    assert any("receipts tell" in said for said in found(FIT))


@pytest.mark.parametrize(
    "folds, relation", [("PositionFold", "replace_one"), ("KeyFold", "add_remove")]
)
def test_a_price_of_the_first_part_alone_is_found(monkeypatch, folds, relation):
    """As many fits as a record is in are paid: not those of a part that nobody fits on."""
    monkeypatch.setattr(_folds, "_but_one", lambda fits, part: fits[0].script)
    assert found(f"dp_cross_val_score: accuracy, {folds}", relation)


@pytest.mark.parametrize(
    "other", [{"proofs": ()}, {"seeded": False}, {"neighbors": "add_remove"}, {"epsilon": 0.1}]
)
def test_a_receipt_that_says_what_is_not_so_is_found(monkeypatch, other):
    sound = Program.quote
    monkeypatch.setattr(Program, "quote", lambda *given: replace(sound(*given), **other))
    assert found(FIT)
