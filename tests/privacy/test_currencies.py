"""Every registered currency obeys its laws, each law catches a currency that breaks it, and one line registers."""

import math

import pytest
from currency_laws import (
    LAWS,
    all_that_is_offered_proves_the_promise,
    allowance_is_all_that_a_filter_lets_pass,
    nobody_who_pays_breaks_the_promise,
    price_falls_with_noise,
)

from skdp.exceptions import BudgetExceeded, NotSupported
from skdp.privacy import NEIGHBORS, Filter, Ledger, Spec
from skdp.privacy._currencies import (
    CURRENCIES,
    FILTERS,
    Currency,
    GaussianPrivacy,
    PurePrivacy,
    RenyiPrivacy,
    ZeroConcentrated,
)
from skdp.privacy.curves import COSTS
from skdp.privacy.events import Gaussian, PureDP


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("currency", CURRENCIES.values(), ids=CURRENCIES)
def test_every_registered_currency_obeys(law, currency):
    law(currency)


class HalfThePrice(GaussianPrivacy):
    def price(self, event, neighbors, order):
        return super().price(event, neighbors, order) / 2


class PriceUpsideDown(ZeroConcentrated):
    def price(self, event, neighbors, order):
        price = super().price(event, neighbors, order)
        return math.inf if price == 0 else 1 / price if price != math.inf else 0


class BudgetOfTheNextDelta(ZeroConcentrated):
    def budget(self, spec, order):
        return super().budget(Spec(spec.epsilon, spec.delta * 1.001), order)


class HalfTheBudget(RenyiPrivacy):
    def budget(self, spec, order):
        return super().budget(spec, order) / 2


class BudgetNotShaved(RenyiPrivacy):
    def offered(self, budget):
        return budget * (1 + 1e-12)


class LooseLimit(PurePrivacy):
    def limit(self, budget):
        return super().limit(budget * (1 + 1e-12))


class TwoLiesThatAgree(GaussianPrivacy):
    def budget(self, spec, order):
        return 1.01 * super().budget(spec, order)

    def _epsilon(self, amount, delta, order):
        return super()._epsilon(amount / 1.0101, delta, order)


class HalfTheAllowance(ZeroConcentrated):
    def allowance(self, amount, order):
        return super().allowance(amount / 2, order)


class AllowanceAsMuNotSquared(GaussianPrivacy):
    def allowance(self, amount, order):
        return ((Gaussian(1 / amount), 1),)


class AllowanceAtTheNextOrder(RenyiPrivacy):
    def allowance(self, amount, order):
        return super().allowance(amount, order - 1)


class RoundedPrices(PurePrivacy):
    def allowance(self, amount, order):
        return super().allowance(round(amount, 3) + 1e-3, order)


@pytest.mark.parametrize(
    ("broken", "law"),
    [
        (HalfThePrice(), nobody_who_pays_breaks_the_promise),
        (PriceUpsideDown(), price_falls_with_noise),
        (BudgetOfTheNextDelta(), all_that_is_offered_proves_the_promise),
        (HalfTheBudget(), all_that_is_offered_proves_the_promise),
        (BudgetNotShaved(), all_that_is_offered_proves_the_promise),
        (LooseLimit(), all_that_is_offered_proves_the_promise),
        (TwoLiesThatAgree(), nobody_who_pays_breaks_the_promise),
        (HalfTheAllowance(), allowance_is_all_that_a_filter_lets_pass),
        (AllowanceAsMuNotSquared(), allowance_is_all_that_a_filter_lets_pass),
        (AllowanceAtTheNextOrder(), allowance_is_all_that_a_filter_lets_pass),
        (RoundedPrices(), allowance_is_all_that_a_filter_lets_pass),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_a_broken_currency_is_caught(broken, law):
    with pytest.raises(AssertionError):
        law(broken)


def test_currencies_are_the_costs_that_add_up():
    """A profile prices one event beside Gaussians; all other costs add, and are filters."""
    assert set(CURRENCIES) == set(COSTS) - {"profile"} == set(FILTERS)
    assert all(currency.name == name for name, currency in CURRENCIES.items())


def test_a_filter_says_what_a_shared_ledger_is_charged_for_it():
    for kind in FILTERS:
        delta = 0.0 if kind == "pure" else 1e-6
        for neighbors in NEIGHBORS:
            budget = Filter(Spec(0.5, delta, neighbors), kind)
            before = budget.allowance
            budget.charge(PureDP(1e-4))
            assert budget.allowance == before  # all of it, whatever was spent
            ledger = Ledger(0.5, delta, neighbors, accountant=kind)
            ledger.reserve(budget.allowance)
            assert 0.4999 < ledger.spent <= 0.5
            with pytest.raises(BudgetExceeded):
                ledger.reserve(((PureDP(1e-4), 1),))


def test_a_filter_that_promises_nothing_allows_everything():
    for kind in FILTERS:
        ledger = Ledger(math.inf, 1e-6)
        ledger.reserve(Filter(Spec(math.inf, 1e-6), kind).allowance)
        assert ledger.spent == math.inf


class WholeEpsilons(Currency):
    """A toy: pure releases, each of which costs the next whole number."""

    name, unit, needs_delta = "whole", "whole epsilons", False

    def budget(self, spec, order):
        return float(math.floor(spec.epsilon))

    def covers(self, script, neighbors):
        return CURRENCIES["pure"].covers(script, neighbors)

    def price(self, event, neighbors, order):
        return math.ceil(CURRENCIES["pure"].price(event, neighbors, order))

    def _epsilon(self, amount, delta, order):
        return float(amount)

    def allowance(self, amount, order):
        return ((PureDP(amount), 1),)


def test_a_currency_is_one_class_and_one_line_of_the_registry(monkeypatch):
    with pytest.raises(NotSupported, match="kind='whole' is unknown"):
        Filter(Spec(3.0, 0.0), "whole")
    monkeypatch.setitem(CURRENCIES, "whole", WholeEpsilons())
    budget = Filter(Spec(3.5, 0.0), "whole")
    budget.charge(PureDP(0.2), 2)
    with pytest.raises(BudgetExceeded, match=r"left (1|0\.999999) \(whole epsilons\)"):
        budget.charge(PureDP(1.5))
    ledger = Ledger(3.5, 0.0, accountant="whole")
    ledger.reserve(((PureDP(0.1), 1),))
    ledger.reserve(((PureDP(0.9), 1),))
    assert ledger.spent == 2 and "'whole'" in repr(ledger)
    with pytest.raises(BudgetExceeded, match="in whole"):
        ledger.reserve(((PureDP(1.1), 1),))
    gaussians = Ledger(3.5, 0.0, accountant="whole")
    with pytest.raises(NotSupported, match=r"accountant='zcdp'"):
        gaussians.reserve(((Gaussian(9.0), 1),))
