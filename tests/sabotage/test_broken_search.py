"""Choices with one thing wrong that the law of sensitivity rejects, pilots of one noise, a seed that is not told."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from laws.sensitivity_laws import check_never_exceeded, pair_of
from laws.test_seeds import receipts_of, seeds_of, unseeded

from skdp.mechanisms import BestColumn
from skdp.model_selection import DPGridSearchCV
from skdp.model_selection._frame import Frame


@dataclass(frozen=True, eq=False, kw_only=True)
class ForgetsTheOtherSide(BestColumn):
    """Forgets that a replaced record takes its losses along and brings others."""

    def spread(self, public):
        return 1.0


@dataclass(frozen=True, eq=False, kw_only=True)
class CutsNothing(BestColumn):
    """Takes the losses as they come."""

    def measure(self, records):
        return -(records.rows.to_dense() * self.unit).sum(axis=0)


@pytest.mark.parametrize(
    "broken", [ForgetsTheOtherSide(epsilon=1.0, unit=2.0), CutsNothing(epsilon=1.0, unit=8.0)]
)
def test_a_choice_with_one_thing_wrong_is_rejected_for_BestColumn(broken):
    question, *pair, _ = pair_of(BestColumn).worst_pair("replace_one")
    check_never_exceeded(question, [pair])
    with pytest.raises(AssertionError):
        check_never_exceeded(broken, [pair])


class OneSeed:
    """The same for all."""

    def next(self):
        return 7


def test_pilots_that_share_their_noise_are_found(monkeypatch):
    """Common random numbers compare models better, and the differences of their answers have no noise at all."""
    act = unseeded()["DPGridSearchCV: declared | replace_one"]
    assert {*seeds_of(act)} == {None}
    fitted = Frame.fitted

    def alike(self, index, mu, records, seeds, accountant=None):
        return fitted(self, index, mu, records, OneSeed(), accountant)

    monkeypatch.setattr(Frame, "fitted", alike)
    assert seeds_of(act).count(7) > 1


def test_a_seed_that_a_receipt_does_not_tell_is_found(monkeypatch):
    """A seed is more than an int."""
    store = DPGridSearchCV._store

    def told(self, strategy, best, receipt):
        store(self, strategy, best, replace(receipt, seeded=isinstance(self.random_state, int)))

    monkeypatch.setattr(DPGridSearchCV, "_store", told)
    for seed, said in ((5, True), (np.random.RandomState(5), False)):
        found = receipts_of(seed, "DPGridSearchCV")["DPGridSearchCV"]
        assert found and all(receipt.seeded is said for receipt in found)
