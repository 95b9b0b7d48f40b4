"""A budget that several fits share: what it admits, what it says, and what it refuses."""

import math
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from event_samples import gaussian_fit
from hypothesis import given
from hypothesis import strategies as st

from skdp.exceptions import BudgetExceeded, NotSupported
from skdp.privacy import NEIGHBORS, Filter, Ledger, Spec, accountants, calibrate
from skdp.privacy._currencies import CURRENCIES
from skdp.privacy._filter import Book
from skdp.privacy._gaussian import gaussian_delta, gaussian_mu
from skdp.privacy.events import (
    ZCDP,
    BestOf,
    BoundedRange,
    Gaussian,
    ObjectivePerturbation,
    PoissonGaussian,
    PureDP,
    RandomPosition,
    RenyiDP,
)

SPEC = Spec(1.0, 1e-6)


def test_what_is_asked_and_what_is_left_are_in_one_currency():
    ledger = Ledger(3.0, 1e-5, accountant="rdp")
    script = ((PoissonGaussian(1.0, 0.01), 400),)
    with pytest.raises(BudgetExceeded) as refusal:
        while True:
            ledger.reserve(script)
    said = str(refusal.value)
    asked = float(re.search(r"Asked for epsilon=([0-9.]+)", said)[1])
    left = float(re.search(r"left ([0-9.]+)", said)[1])
    assert asked > left > 0.0 and len(ledger.scripts) > 1


def test_a_choice_opens_books_that_hold_most_choices():
    script = ((BoundedRange(0.1), 20),)
    ledger = Ledger(2.0, 1e-6)
    ledger.reserve(script)
    assert ledger.renyi_order is not None


def test_ten_gaussian_fits_cost_their_composition_not_a_sum_of_epsilons():
    ledger = Ledger(1.0, 1e-6)
    fit = gaussian_fit(0.25)
    for _ in range(10):
        ledger.reserve(fit)
    composed = accountants.epsilon(((fit[0][0], 10),), 1e-6)
    assert ledger.spent == pytest.approx(composed, rel=1e-9)
    assert composed < 0.9 < 10 * 0.25


def test_a_ledger_of_gaussians_holds_exactly_what_composition_allows():
    ledger = Ledger(1.0, 1e-6, accountant="gdp")
    tenth = gaussian_fit(1.0, steps=10)[0][0]
    for _ in range(10):
        ledger.reserve(((tenth, 1),))
    assert ledger.spent == pytest.approx(1.0, rel=1e-9) and ledger.spent <= 1.0
    assert ledger.remaining < 1e-4
    with pytest.raises(BudgetExceeded):
        ledger.reserve(((tenth, 1),))


def test_a_refusal_changes_nothing_and_says_what_is_left():
    ledger = Ledger(1.0, 1e-6)
    ledger.reserve(gaussian_fit(0.9))
    state = (ledger.spent, ledger.remaining, ledger.scripts)
    with pytest.raises(
        BudgetExceeded, match=r"Asked for epsilon=0.9, spent epsilon=0.9 of 1, left"
    ):
        ledger.reserve(gaussian_fit(0.9))
    assert (ledger.spent, ledger.remaining, ledger.scripts) == state
    ledger.reserve(gaussian_fit(ledger.remaining * (1 - 1e-9)))
    assert ledger.spent <= 1.0


def test_a_refused_first_fit_leaves_the_ledger_open():
    ledger = Ledger(1.0, 1e-6)
    with pytest.raises(BudgetExceeded):
        ledger.reserve(gaussian_fit(2.0))
    assert ledger.spent == 0 and ledger.remaining == 1.0 and ledger.scripts == ()
    ledger.reserve(gaussian_fit(1.0))


def test_ten_equal_gaussian_fits_cost_at_most_two_percent_more_than_exact():
    """The price of staying open to other solvers: ten fits of epsilon 0.98 / 10 of the whole."""
    whole = gaussian_mu(1.0, 1e-6) ** 2
    ledger = Ledger(1.0, 1e-6)
    for _ in range(10):
        ledger.reserve(((Gaussian((0.97 * whole / 10) ** -0.5), 1),))
    assert len(ledger.scripts) == 10 and ledger.spent >= 0.98


def test_the_currency_is_settled_by_the_first_fit_and_kept():
    ledger = Ledger(1.0, 1e-6, accountant="gdp")
    ledger.reserve(gaussian_fit(0.2))
    with pytest.raises(
        NotSupported, match=r"PoissonGaussian.*in gdp permanently.*accountant='rdp'"
    ):
        ledger.reserve(((PoissonGaussian(5.0, 0.01), 10),))
    sampled = Ledger(1.0, 1e-6)
    sampled.reserve(((PoissonGaussian(5.0, 0.01), 10),))
    sampled.reserve(gaussian_fit(0.2))
    sampled.reserve(((BoundedRange(0.05), 3),))
    assert 0.2 < sampled.spent < 1.0 and "'shifted or rdp'" in repr(sampled)


FITS = {
    "gd": ((Gaussian(60.0), 20),),
    "sgd": ((PoissonGaussian(4.0, 0.02), 100),),
    "objective-perturbation": ((ObjectivePerturbation(0.02, 0.01, "logistic"), 1),),
    "agd": ((ZCDP(0.002), 1),),
    "auto": ((ObjectivePerturbation(0.02, 0.01), 1), (Gaussian(100.0), 1)),
    "frank-wolfe": ((BoundedRange(0.01), 30),),
    "output-perturbation": ((PureDP(0.05), 1),),
}


def _fit(name, ledger):
    """A common fit as the estimators charge it: blgd asks for the ledger's own order."""
    if name != "blgd":
        return FITS[name]
    spec = Spec(0.2, ledger.delta, ledger.neighbors)
    try:
        own = Filter(spec, "rdp", ledger.renyi_order)
    except ValueError:  # that order proves nothing for so small a fit
        own = Filter(spec, "rdp")
    return ((RenyiDP(own.order, own.total), 1),)


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("first", [*FITS, "blgd"])
def test_no_first_fit_shuts_another_solver_out(first, neighbors):
    for second in [*FITS, "blgd"]:
        ledger = Ledger(4.0, 1e-6, neighbors)
        ledger.reserve(_fit(first, ledger))
        before = ledger.spent
        ledger.reserve(_fit(second, ledger))
        ledger.reserve(FITS["gd"])
        assert len(ledger.scripts) == 3 and before < ledger.spent < 4.0 and ledger.remaining > 1.0


def _adaptive_delta(books, first):
    """True delta of a Gaussian and then, by its answer, what is worse: one more, or a pure step."""
    epsilon, (gdp, rdp) = books[0].spec.epsilon, books
    mu = math.sqrt(gdp.budget - first**2)
    left = rdp.budget - rdp.order * first**2 / 2

    def fits(pure):
        return float(rdp.price(PureDP(pure))) <= left

    low, high = 0.0, 5.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    y = np.linspace(-9, 9, 40_001) + first
    rest = epsilon - first * (y - first / 2)
    yes = 1 / (1 + math.exp(-low))
    pure = yes * -np.expm1(np.minimum(rest - low, 0))
    pure += (1 - yes) * -np.expm1(np.minimum(rest + low, 0))
    density = np.exp(-((y - first) ** 2) / 2) / math.sqrt(2 * math.pi)
    worse = np.maximum(gaussian_delta(rest, mu), pure)
    return float((density * worse).sum() * (y[1] - y[0]))


@pytest.mark.parametrize("part", [0.3, 0.6, 0.9])
def test_choosing_the_book_by_the_answers_keeps_the_promise(part):
    """Two books of all of delta each break it; with shares of delta they do not."""
    delta = 1e-6
    ledger = Ledger(1.0, delta)
    ledger.reserve(((Gaussian(1e3), 1),))
    shares = [book.spec.delta for book in ledger._state.books]
    assert math.fsum(shares) <= delta
    books = Book(Spec(1.0, shares[0]), "gdp"), Book(Spec(1.0, shares[1] + shares[2]), "rdp")
    assert _adaptive_delta(books, part * math.sqrt(books[0].budget)) <= delta
    greedy = (Book(Spec(1.0, delta), "gdp"), Book(Spec(1.0, delta), "rdp"))
    whole = _adaptive_delta(greedy, part * math.sqrt(greedy[0].budget))
    assert (whole > 1.02 * delta) == (part == 0.6)


def test_a_tight_first_fit_is_admitted_alone_and_closes_the_ledger():
    """A fit calibrated by its exact profile takes all the budget, though no filter admits it."""
    position = RandomPosition((0.5, 0.5), (4.2, 6.0))
    epsilon = accountants.epsilon(((position, 1),), 1e-6)
    ledger = Ledger(epsilon * (1 + 1e-9), 1e-6)
    ledger.reserve(((position, 1),))
    assert ledger.spent == pytest.approx(epsilon) and ledger.remaining == 0
    with pytest.raises(BudgetExceeded, match="the first fit took the budget as a whole"):
        ledger.reserve(((Gaussian(1e9), 1),))
    strict = Ledger(epsilon * (1 + 1e-9), 1e-6, accountant="gdp")
    with pytest.raises(BudgetExceeded):
        strict.reserve(((position, 1),))


def test_only_filters_guard_a_ledger():
    with pytest.raises(NotSupported, match=r"accountant='pld' cannot guard fits"):
        Ledger(1.0, 1e-6, accountant="pld")


def test_pure_privacy_needs_no_delta():
    ledger = Ledger(1.0, 0.0)
    ledger.reserve(((PureDP(0.4), 1),))
    ledger.reserve(((PureDP(0.4), 1),))
    assert ledger.spent == pytest.approx(0.8) and ledger.remaining == pytest.approx(0.2)
    with pytest.raises(BudgetExceeded):
        ledger.reserve(((PureDP(0.4), 1),))
    with pytest.raises(NotSupported, match="Gaussian"):
        ledger.reserve(((Gaussian(5.0), 1),))


def test_no_promise_keeps_the_books_open_and_says_what_was_spent():
    ledger = Ledger(math.inf, 1e-6)
    ledger.reserve(gaussian_fit(1.0))
    assert ledger.spent == pytest.approx(1.0)
    for _ in range(3):
        ledger.reserve(((Gaussian(0.0), 1),))
    assert ledger.remaining == ledger.spent == math.inf and len(ledger.scripts) == 4


@pytest.mark.parametrize(
    ("price", "whole", "times"),
    [(0.1, 1.0, 10), (0.1, 0.3, 3), (0.7, 2.1, 3), (0.01, 1.0, 100), (1e-3, 0.007, 7)],
)
@pytest.mark.parametrize("at", [0.0, 1e-6])
def test_pure_prices_add_as_the_numbers_that_were_written(price, whole, times, at):
    ledger = Ledger(whole, at, accountant="pure")
    for _ in range(times):
        ledger.reserve(((PureDP(price), 1),))
    assert ledger.spent == whole and ledger.remaining == 0.0
    with pytest.raises(BudgetExceeded):
        ledger.reserve(((PureDP(1e-17), 1),))
    budget = Filter(Spec(whole, at), "pure")
    budget.charge(PureDP(price), count=times)
    assert not budget.affords(PureDP(1e-17)) and budget.spent == whole


@given(st.lists(st.decimals("1e-9", "3", places=9), min_size=1, max_size=30))
def test_a_pure_ledger_is_full_exactly_when_the_decimals_say_so(prices):
    budget = Filter(Spec(4.0, 0.0), "pure")
    spent = Decimal(0)
    for price in prices:
        fits = spent + price <= 4
        assert budget.affords(PureDP(float(price))) == fits
        if fits:
            budget.charge(PureDP(float(price)))
            spent += price
    budget.affords(PureDP(budget.unspent)) and budget.charge(PureDP(budget.unspent))
    assert budget.unspent == 0.0


def test_calibrated_pure_fits_lie_below_what_is_charged_for_them():
    """Reading a double as a decimal gives away half an ulp: calibration leaves more than that."""
    for epsilon in (0.1, 0.3, 0.7, 1e-3):
        scale, _ = calibrate(lambda s: ((PureDP(1 / s), 1),), Spec(epsilon, 0.0))
        assert Fraction(1) / Fraction(scale) <= Fraction(str(epsilon)) * (1 - Fraction(1, 2**49))


@pytest.mark.parametrize("accountant", ["auto", "shifted", "gdp", "zcdp", "rdp"])
@pytest.mark.parametrize("event", [Gaussian(5.0), PureDP(0.1)])
@pytest.mark.parametrize("count", [2**53 + 1, 1e30, 10**400, math.inf, math.nan, -1, 0.5, True])
def test_repetitions_that_nobody_can_count_are_one_clear_sentence(accountant, event, count):
    ledger = Ledger(1.0, 1e-6, accountant=accountant)
    with pytest.raises(ValueError, match=r"is repeated .* times.*; (give a whole|ask less)"):
        ledger.reserve(((event, count),))
    assert len(ledger) == 0


@pytest.mark.parametrize("accountant", ["auto", "shifted", "gdp", "zcdp", "rdp"])
def test_the_most_repetitions_have_a_price(accountant):
    with pytest.raises(BudgetExceeded, match="nothing was charged"):
        Ledger(1.0, 1e-6, accountant=accountant).reserve(((Gaussian(5.0), 2**53),))


@pytest.mark.parametrize("count", [1e30, 10**100, math.inf, math.nan, -1, 2.5, "7", None])
def test_announced_fits_that_nobody_can_count_are_refused(count):
    with pytest.raises(ValueError, match="must be a whole number of fits"):
        Ledger(math.inf, 0.0).announce([(((PureDP(0.1), 1),), count)])
    if count is not None:
        with pytest.raises(ValueError, match=r"fits=.* must be a whole number of fits from 1"):
            Ledger(1.0, 1e-6, fits=count)


# First scripts that settle the books in different ways.
FIRSTS = {
    "gaussian": ((Gaussian(40.0), 1),),
    "pure": ((PureDP(0.05), 1),),
    "mixed": ((Gaussian(60.0), 2), (PureDP(0.01), 1)),
    "sampled": ((PoissonGaussian(3.0, 0.01), 50),),
    "many sampled": ((PoissonGaussian(1.5, 0.001), 5000),),
    "objective": ((ObjectivePerturbation(0.05, 0.01), 1),),
    "renyi": ((RenyiDP(8, 0.01), 1),),
    "best": ((BestOf((((Gaussian(60.0), 1),),), (1.0,), 5, 10), 1),),
}
WAYS_IN = ({}, {"fits": 3}, {"plan": [FIRSTS["gaussian"], FIRSTS["pure"]]})


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("promise", [(1.0, 1e-6), (8.0, 1e-5), (0.7, 1e-10)], ids=str)
def test_the_books_together_promise_no_more_delta_than_the_ledger(promise, neighbors):
    """A charge goes in while any one book has room, so their deltas add up; as whole numbers, not as doubles."""
    met = set()
    for first in FIRSTS.values():
        for told in WAYS_IN:
            for accountant in ("auto", "shifted", *CURRENCIES):
                rules = Ledger(*promise, neighbors, accountant, **told)._rules
                try:
                    books = rules._settled(first)
                except (NotSupported, ValueError):
                    continue  # this currency knows nothing of it
                met.add((len(books), books[0].kind))
                assert {(book.spec.epsilon, book.spec.neighbors) for book in books} == {
                    (promise[0], neighbors)
                }
                assert sum(Fraction(book.spec.delta) for book in books) <= Fraction(promise[1])
    assert {(1, "rdp"), (2, "rdp"), (2, "shifted"), (3, "shifted")} <= met


@given(
    st.sampled_from([None, 1, 2, 3, 5]),
    st.integers(0, 6),
    st.lists(st.tuples(st.sampled_from([0.1, 0.2, 0.3]), st.integers(0, 5)), max_size=3),
)
def test_what_is_announced_goes_in_or_is_refused_before_the_first(fits, before, coming):
    """Against one charge after the other; only while the first charge will itself ask for all is nothing refused."""
    first = ((PureDP(0.1), 1),)
    asked = [(((PureDP(size), 1),), count) for size, count in coming]

    def charged():
        ledger = Ledger(1.0, 0.0, fits=fits)
        for _ in range(before):
            ledger.reserve(first)
        return ledger

    ledger, trial, goes_in = charged(), charged(), True
    try:
        for script, count in asked:
            for _ in range(count):
                trial.reserve(script)
    except BudgetExceeded:
        goes_in = False
    if goes_in or (fits is not None and not before):
        ledger.announce(asked)
    else:
        with pytest.raises(BudgetExceeded, match="nothing was charged"):
            ledger.announce(asked)
    assert len(ledger) == before
