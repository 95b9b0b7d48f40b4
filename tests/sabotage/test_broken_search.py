"""A choice among models with one thing wrong: the law of sensitivity rejects it."""

from dataclasses import dataclass

import pytest
from laws.sensitivity_laws import check_never_exceeded, pair_of

from skdp.mechanisms import BestColumn


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
