"""A choice among models with one thing wrong, which the law of sensitivity rejects, and pilots of one noise."""

from dataclasses import dataclass

import pytest
from laws.sensitivity_laws import check_never_exceeded, pair_of
from laws.test_seeds import seeds_of, unseeded

from skdp.mechanisms import BestColumn
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
