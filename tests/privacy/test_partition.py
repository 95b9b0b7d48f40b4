"""Disjoint data, charged apart: each record pays for what read its part, and for no more."""

import itertools
import math

import pytest
from event_samples import gaussian_fit
from hypothesis import given
from hypothesis import strategies as st

from skdp.exceptions import BudgetExceeded
from skdp.privacy import Ledger, Partition, Spec, calibrate, epsilon
from skdp.privacy.events import Gaussian, PoissonGaussian, PureDP
from skdp.privacy.ledger import _store

TENTH = ((PureDP(0.1), 1),)
PROMISE = (1.0, 1e-6, "add_remove")
CRUMB = ((Gaussian(1e9), 1),)


@given(st.lists(st.sets(st.integers(0, 3), min_size=1), max_size=25))
def test_what_is_admitted_is_what_the_fullest_part_allows(charges):
    parts = Ledger(0.5, 0.0).partition(4)
    spent = [0, 0, 0, 0]
    for touched in charges:
        fits = all(spent[part] < 5 for part in touched)
        try:
            parts.only(*touched).reserve(TENTH)
            assert fits
            for part in touched:
                spent[part] += 1
        except BudgetExceeded:
            assert not fits
    assert [parts[part].spent for part in parts] == [count / 10 for count in spent]
    assert parts.ledger.spent == max(spent) / 10


@pytest.mark.parametrize("folds", [2, 3, 5])
def test_a_record_trains_all_models_but_one_and_is_tested_once(folds):
    train, test = gaussian_fit(0.3), gaussian_fit(0.2)
    parts = Ledger(3.0, 1e-6, accountant="gdp").partition(folds)
    for fold in parts:
        parts.without(fold).reserve(train)
        parts[fold].reserve(test)
    expected = epsilon((*train * (folds - 1), *test), 1e-6)
    assert parts.ledger.spent == pytest.approx(expected, rel=1e-9)
    assert len(parts.ledger) == 2 * folds


def test_releases_on_parts_are_as_private_as_the_worst_part():
    """Randomised response on two parts: over all outcomes no ratio exceeds that of one of them."""
    yes = [math.exp(e) / (1 + math.exp(e)) for e in (0.3, 0.7)]

    def law(bits):
        out = {}
        for answers in itertools.product((0, 1), repeat=2):
            chances = (p if a == b else 1 - p for p, a, b in zip(yes, answers, bits))
            out[answers] = math.prod(chances)
        return out

    parts = Ledger(1.0, 0.0).partition(["a", "b"])
    for name, price in zip("ab", (0.3, 0.7)):
        parts[name].reserve(((PureDP(price), 1),))
    worst = 0.0
    for bits in itertools.product((0, 1), repeat=2):
        for changed in (0, 1):
            other = tuple(1 - b if i == changed else b for i, b in enumerate(bits))
            p, q = law(bits), law(other)
            worst = max(worst, *(math.log(p[a] / q[a]) for a in p))
    assert worst == pytest.approx(parts.ledger.spent) and parts.ledger.spent == 0.7


def test_what_was_charged_before_weighs_on_every_part():
    ledger = Ledger(1.0, 0.0)
    ledger.reserve(((PureDP(0.6), 1),))
    parts = ledger.partition(["a", "b"])
    parts["a"].reserve(((PureDP(0.4), 1),))
    with pytest.raises(BudgetExceeded, match="on the part 'a'"):
        ledger.reserve(TENTH)
    parts["b"].reserve(((PureDP(0.4), 1),))
    assert ledger.remaining == 0.0


def test_a_ledger_is_divided_once():
    ledger = Ledger(1.0, 0.0)
    parts = ledger.partition(3)
    assert ledger.partition([0, 1, 2]).names == parts.names == ("0", "1", "2")
    with pytest.raises(ValueError, match="records of one division lie in several parts of another"):
        ledger.partition(5)
    with pytest.raises(ValueError, match="divide the whole ledger"):
        parts[0].partition(2)
    for wrong in (0, ["a", "a"], [""]):
        with pytest.raises(ValueError, match="must be a number of parts"):
            Partition(Ledger(1.0, 0.0), wrong)
    with pytest.raises(ValueError, match="are unknown"):
        parts["7"]
    with pytest.raises(ValueError, match="name one or more"):
        parts.without(*parts)


def test_parts_survive_in_a_file(tmp_path):
    path = tmp_path / "budget.db"
    parts = Ledger(1.0, 0.0, path=path).partition(["a", "b"])
    parts["a"].reserve(((PureDP(0.6), 1),))
    _store._OPEN.clear()
    again = Ledger(1.0, 0.0, path=path)
    with pytest.raises(ValueError, match="divided into"):
        again.partition(2)
    again = again.partition(["a", "b"])
    assert (again["a"].spent, again["b"].spent, again["b"].remaining) == (0.6, 0.0, 1.0)


def test_a_part_that_forgets_another_charge_is_caught(monkeypatch):
    """The planted bug: a charge on several parts that is written down for the first alone."""
    from skdp.privacy.ledger._rules import Rules

    def forgetful(self, state, entry):
        return added(self, state, entry._replace(parts=entry.parts[:1]))

    added = Rules._added
    monkeypatch.setattr(Rules, "_added", forgetful)
    parts = Ledger(1.0, 0.0).partition(3)
    for fold in parts:
        parts.without(fold).reserve(((PureDP(0.3), 1),))
    assert parts["2"].spent != 0.6


# A fit that takes the budget of one part as a whole.


@pytest.fixture(scope="module")
def tight():
    """A fit that is calibrated to the promise by its own accountant: no filter has room for it."""
    return calibrate(lambda noise: ((PoissonGaussian(noise, 0.01), 100),), Spec(*PROMISE))[1]


@pytest.fixture
def parts(tmp_path):
    return Ledger(*PROMISE, path=tmp_path / "parts.db").partition(["north", "south", "west"])


def again(parts):
    """As another process finds them."""
    _store._OPEN.clear()
    return Ledger(*PROMISE, path=parts.ledger._store._file.path).partition(parts.names)


def test_a_tight_fit_closes_its_own_part_alone(parts, tight):
    for name in ("north", "south"):
        parts[name].reserve(tight, name)
        assert parts[name].spent == pytest.approx(1.0) and parts[name].remaining == 0
    for found in (parts, again(parts)):
        for name in ("north", "south"):
            with pytest.raises(BudgetExceeded, match=f"on the part '{name}': the first fit took"):
                found[name].reserve(CRUMB)
        assert found["west"].remaining > 0.9 and found["west"].spent == 0
    again(parts)["west"].reserve(CRUMB)
    assert [row.share for row in parts.ledger.report().rows[:2]] == [1.0, 1.0]
    with pytest.raises(BudgetExceeded):
        parts.only("west", "north").reserve(CRUMB)


def test_one_fit_may_close_parts_and_leave_books_to_others(parts, tight):
    """Each part is looked at by itself: where something was charged before, only a book may hold it."""
    parts["north"].reserve(CRUMB)
    with pytest.raises(BudgetExceeded, match="on the part 'north'"):
        parts.only("north", "south").reserve(tight)
    assert len(parts.ledger) == 1
    parts.only("south", "west").reserve(tight)
    assert again(parts).ledger._state.closed == {"south", "west"}
    parts["north"].reserve(CRUMB)


def test_a_part_is_closed_where_the_data_were_closed_before_they_were_divided(tight):
    ledger = Ledger(*PROMISE)
    ledger.reserve(tight)
    parts = ledger.partition(2)
    for name in parts:
        with pytest.raises(BudgetExceeded, match="took the budget as a whole"):
            parts[name].reserve(CRUMB)
        assert parts[name].spent == pytest.approx(1.0)


def test_a_second_fit_that_is_admitted_alone_is_caught(parts, tight, monkeypatch):
    """The planted bug: nobody looks whether it is the first on its part."""
    from skdp.privacy.ledger._rules import Rules

    parts["north"].reserve(CRUMB)
    with pytest.raises(BudgetExceeded):
        parts["north"].reserve(tight)
    monkeypatch.setattr(
        Rules,
        "_is_first_and_fits_alone",
        lambda self, state, part, entry: self._fits_alone(entry.script),
    )
    parts["north"].reserve(tight)
