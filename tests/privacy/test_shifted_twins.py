"""What a book of shifted Gaussians can get wrong: each planted fault breaks a truth that ours keeps."""

import copy
import math
from fractions import Fraction
from functools import cached_property

import pytest
from test_shifted_truth import PERTURBED, SPEC, TILTED, _worst_excess

from skdp.exceptions import BudgetExceeded
from skdp.privacy import Ledger, Spec, epsilon
from skdp.privacy._domination import covering_mu, profile_down_to
from skdp.privacy._exact import amount, down, exact, meant, plus, up
from skdp.privacy._gaussian import gaussian_delta, gaussian_epsilon, gaussian_mu
from skdp.privacy._shifted import ShiftedBook, Triple
from skdp.privacy.events import Laplace, ObjectivePerturbation, PoissonGaussian

SLACK = 1 + 1e-9


# Triples.


@pytest.mark.parametrize("part, left", [(0, 0.9), (1, 0.97), (2, 0.0)])
def test_a_triple_of_which_a_part_is_smaller_is_exceeded(part, left):
    """The shift rounded down, a smaller mu, no delta for what no Gaussian covers."""
    triple = list(ShiftedBook(SPEC, 150).ways(PERTURBED)[0])
    assert all(triple) and _worst_excess(PERTURBED, "replace_one", triple) <= SLACK
    triple[part] = int(triple[part] * left)
    assert _worst_excess(PERTURBED, "replace_one", triple) > SLACK


def on_nodes_only(known):
    """A profile that is held against its Gaussian where it was asked for, and nowhere between."""
    twin = copy.copy(known)
    twin.points, twin.highest = known.nodes[[0, *range(len(known.nodes) - 1)]], known.deltas[:-1]
    return twin


@pytest.mark.parametrize("script", [PERTURBED, TILTED], ids=["perturbed", "tilted"])
def test_a_mu_that_was_found_on_nodes_only_is_exceeded_between_them(script):
    miss, known = 1e-10, profile_down_to(script, "replace_one", 1e-10)
    shift = 0.2 * float(known.nodes[-1])

    def excess(profile):
        mu = covering_mu(profile, shift, miss)
        triple = up(exact(shift), exact(mu * mu), exact(miss))
        return _worst_excess(script, "replace_one", triple)

    assert excess(known) <= SLACK < excess(on_nodes_only(known))


# Caps and readings.


class MissesNothing(ShiftedBook):
    """Forgets that delta has to hold what no Gaussian covers, too."""

    @cached_property
    def _limits(self):
        shift, _, miss = super()._limits
        mu = gaussian_mu(float(meant(self.spec.epsilon) - shift), self.spec.delta)
        return Triple(shift, exact(mu * mu), miss)

    def reading(self, total, delta):
        """Without the deltas that were taken."""
        return float(amount(total[0])) + gaussian_epsilon(math.sqrt(amount(total[1])), delta)


class ShiftsForNothing(ShiftedBook):
    """Leaves all of epsilon to Gaussians beside the shifts."""

    @cached_property
    def _limits(self):
        shift, _, miss = super()._limits
        mu = gaussian_mu(self.spec.epsilon, self.spec.delta * 0.95)
        return Triple(shift, exact(mu * mu), miss)

    def reading(self, total, delta):
        """Without the shifts that were taken."""
        left = delta - float(amount(total[2]))
        return gaussian_epsilon(math.sqrt(amount(total[1])), left)


def proved(total, epsilon):
    """Delta of all that a total stands for: Theorem S."""
    shift, square, miss = map(float, map(amount, total))
    return miss + float(gaussian_delta(epsilon - shift, math.sqrt(square)))


SPECS = [Spec(1.0, 1e-6), Spec(0.1, 1e-9), Spec(8.0, 1e-5, "add_remove")]


@pytest.mark.parametrize("order", [0, 100, 400, 900])
@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_caps_keep_the_promise_and_waste_nothing(spec, order):
    assert 1 - 1e-6 < proved(ShiftedBook(spec, order).caps, spec.epsilon) / spec.delta <= 1
    assert proved(MissesNothing(spec, order).caps, spec.epsilon) > 1.04 * spec.delta
    if order:
        assert proved(ShiftsForNothing(spec, order).caps, spec.epsilon) > 1.04 * spec.delta


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_a_reading_is_proved_by_its_total(spec):
    total = down(*(exact(float(amount(cap)) / 3.0) for cap in ShiftedBook(spec, 150).caps))
    ours = ShiftedBook(spec, 150).reading(total, spec.delta)
    assert 1 - 1e-6 < proved(total, ours) / spec.delta <= 1
    for twin in (MissesNothing, ShiftsForNothing):
        assert proved(total, twin(spec, 150).reading(total, spec.delta)) > 1.01 * spec.delta


def test_every_part_is_added_up_and_the_least_of_what_is_left_decides():
    """Fits that take hardly any Gaussian go in until delta is used up, and no more of them at one price."""
    book = ShiftedBook(SPEC, 150)
    price = (1, 1, book.ways(PERTURBED)[0][2])
    total, fits = (0, 0, 0), 0
    while (after := plus(total, [price], book.caps)) is not None:
        total, fits = after, fits + 1
        assert total == tuple(fits * part for part in price)
        assert fits <= 1000
    assert fits == book.caps[2] // price[2] == 500


# What is missed.


def missed(book, level):
    """The delta that a fit takes at a level, counted."""
    return book.ways(PERTURBED, level)[0][2]


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_there_is_always_another_part_of_delta_to_miss(spec):
    """Whatever has been taken, the next part leaves more than nothing, and no level is passed over."""
    book = ShiftedBook(spec)
    cap, total, fits = book.caps[2], 0, []
    for level in range(40):
        assert book.level((0, 0, total)) == level
        each = -(-cap // (500 * 4**level))
        left = cap - total - (cap >> (level + 1))  # until half of what was left is taken
        fits.append(-(-left // each))
        total += fits[-1] * each
        assert total < cap and book.level((0, 0, total)) == level + 1
    assert all(249 <= count / 2**level <= 251 for level, count in enumerate(fits))


def test_what_is_missed_falls_by_levels_and_is_still_covered():
    book = ShiftedBook(SPEC, 150)
    for level in (0, 1, 3, 6):
        assert missed(book, level) == pytest.approx(book.caps[2] / 500 / 4**level, rel=1e-9)
        assert _worst_excess(PERTURBED, "replace_one", book.ways(PERTURBED, level)[0]) <= SLACK


SMALL = {
    "perturbed": ((ObjectivePerturbation(1e-4, 1e-4), 1),),
    "sampled": ((PoissonGaussian(100.0, 0.01), 1),),
    "laplace": ((Laplace(1e5), 1),),
}


@pytest.mark.parametrize("name", SMALL)
def test_a_ledger_is_not_deaf_after_many_small_fits(name):
    """Two thousand fits of any kind, and what they are said to have used is near what they cost as one script."""
    ledger, script = Ledger(1.0, 1e-6, "add_remove"), SMALL[name]
    for _ in range(2000):
        ledger.reserve(script)
    whole = epsilon(tuple((event, 2000 * count) for event, count in script), 1e-6, "add_remove")
    assert ledger.spent < 1.5 * whole and ledger.remaining > 0.9


@pytest.mark.parametrize("name", SMALL)
def test_a_book_of_equal_parts_is_caught(name, monkeypatch):
    """The twin that gives every fit the same part of delta runs out of it."""
    monkeypatch.setattr(ShiftedBook, "level", lambda self, total: 0)
    ledger = Ledger(1.0, 1e-6, "add_remove", accountant="shifted")
    try:
        for _ in range(600):
            ledger.reserve(SMALL[name])
    except BudgetExceeded:
        assert len(ledger) == 500
    else:
        assert name == "laplace"  # pure fits are covered as a whole and miss nothing


def test_prices_are_counted_up_and_budgets_down():
    third, fine = Fraction(1, 3), Fraction(1, 10**60)
    for value in (third, third * 10**-9, exact(0.1), Fraction(7, 10**61)):
        (price,), (budget,) = up(value), down(value)
        assert amount(price) - fine < value <= amount(price)
        assert amount(budget) <= value < amount(budget) + fine
    assert up(Fraction(1, 10)) == down(Fraction(1, 10)) == (10**59,)
    assert up(third, math.inf) is None and amount(down(math.inf)[0]) > 10**300
