"""What every currency of a filter owes its users: laws that take a currency, good or sabotaged."""

import math
from fractions import Fraction
from itertools import pairwise

import mpmath as mp
from event_samples import SAMPLES

from skdp.privacy import NEIGHBORS, Spec, accountants
from skdp.privacy.events import Gaussian, PureDP

PROMISES = tuple(
    Spec(epsilon, delta, neighbors)
    for epsilon, delta in ((0.01, 1e-8), (1.0, 1e-6), (4.0, 1e-3), (20.0, 1e-12))
    for neighbors in NEIGHBORS
)
SCALES = (0.0, 0.1, 0.5, 1.0, 1.01, 3.0, 100.0, math.inf)
SHAVED = 1.1e-12  # what may be offered less, so that round-off is no overspending


def promises(currency):
    """The promises that a currency can keep, each with the order that its filter would have."""
    kept = [s if currency.needs_delta else Spec(s.epsilon, 0.0, s.neighbors) for s in PROMISES]
    return [(spec, currency.order(spec, None)) for spec in kept]


def price_falls_with_noise(currency):
    """More noise never costs more; without noise nothing is affordable, and endless noise is free."""
    covered = 0
    for spec, order in promises(currency):
        for event in SAMPLES:
            if event.scalable and currency.covers(((event, 1),), spec.neighbors):
                prices = [currency.price(event.scaled(s), spec.neighbors, order) for s in SCALES]
                assert all(costly >= cheap for costly, cheap in pairwise(prices)), (event, prices)
                assert prices[0] == math.inf and prices[-1] == 0 and prices[3] > prices[5]
                covered += 1
    assert covered >= 2 * len(PROMISES)


def all_that_is_offered_proves_the_promise(currency):
    """What may be spent, and what is let pass, prove no more epsilon than was promised, and no less."""
    for spec, order in promises(currency):
        budget = currency.budget(spec, order)
        limit, offered = currency.limit(budget), currency.offered(budget)
        assert (1 - SHAVED) * float(limit) <= offered <= float(limit)
        assert currency.epsilon(limit, spec.delta, order) <= spec.epsilon
        least = min(Fraction(offered), limit)  # a double may lie above the decimal that it means
        assert spec.epsilon * (1 - 1e-9) <= currency.epsilon(least, spec.delta, order)
        assert currency.left(budget, limit) == 0.0
        assert currency.left(budget, 0 * limit) == offered


def allowance_is_all_that_a_filter_lets_pass(currency):
    """A shared ledger is charged the whole filter, which costs what was promised and no more."""
    for spec, order in promises(currency):
        budget = currency.budget(spec, order)
        offered, limit = currency.offered(budget), currency.limit(budget)
        script = currency.allowance(offered, order)
        charged = sum(count * currency.price(e, spec.neighbors, order) for e, count in script)
        assert limit * (1 - SHAVED) <= charged <= limit
        assert currency.epsilon(charged, spec.delta, order) <= spec.epsilon
        if order is None:  # at one order, the accountant's search over real ones stops beside it
            priced = accountants.epsilon(script, spec.delta, spec.neighbors, currency.name)
            assert priced <= spec.epsilon


def nobody_who_pays_breaks_the_promise(currency):
    """Mechanisms whose delta is known exactly, with the least noise that is affordable."""
    told = 0
    for spec, order in promises(currency):
        for event, true_delta in ((Gaussian(1.0), gaussian_delta), (PureDP(1.0), response_delta)):
            if currency.covers(((event, 1),), spec.neighbors):
                spent = event.scaled(_least_scale(event, currency, spec, order))
                assert true_delta(spent, spec.epsilon) <= spec.delta
                told += 1
    assert told >= len(PROMISES)


LAWS = (
    price_falls_with_noise,
    all_that_is_offered_proves_the_promise,
    allowance_is_all_that_a_filter_lets_pass,
    nobody_who_pays_breaks_the_promise,
)


def _least_scale(event, currency, spec, order):
    """The least noise with which the event is affordable, from above."""
    limit = currency.limit(currency.budget(spec, order))
    low, high = 1e-9, 1e9
    while high / low > 1 + 1e-13:
        middle = math.sqrt(low * high)
        affordable = currency.price(event.scaled(middle), spec.neighbors, order) <= limit
        low, high = (low, middle) if affordable else (middle, high)
    return high


def gaussian_delta(event, epsilon):
    """Balle and Wang 2018, Theorem 8, to 60 digits: P(loss > epsilon) - e^epsilon Q(loss > epsilon)."""
    with mp.workdps(60):
        mu, eps = 1 / mp.mpf(event.multiplier), mp.mpf(epsilon)
        return mp.ncdf(mu / 2 - eps / mu) - mp.exp(eps) * mp.ncdf(-mu / 2 - eps / mu)


def response_delta(event, epsilon):
    """p - e^epsilon (1 - p) of randomised response, the worst pure release, with odds e^own."""
    with mp.workdps(60):
        own = mp.mpf(event.epsilon)
        return max(mp.mpf(0), -mp.expm1(epsilon - own) / (1 + mp.exp(-own)))
