"""Pure steps on Poisson samples: their worst pairs, and what many of them cost, against enumeration."""

import itertools
import math
import random

import mpmath as mp
import numpy as np
import pytest

from skdp.privacy import NEIGHBORS, Filter, Spec, accountants
from skdp.privacy import _sampled_pure as costs
from skdp.privacy.curves import cost
from skdp.privacy.events import Gaussian, PoissonGaussian, PoissonPure, PureDP

ROUNDING = 1e-9


def laws(event, neighbors):
    """The laws of one answer on two neighbouring data sets, from the mechanism: a sampled response."""
    if isinstance(event, PureDP):
        event = PoissonPure(event.epsilon, 1.0)
    yes = 1 / (1 + math.exp(-event.epsilon))
    no = 1 / (1 + math.exp(event.epsilon))
    if neighbors == "replace_one":
        absent, there, other = (no, yes - no, no), (yes, 0.0, no), (no, 0.0, yes)
    else:
        absent, there, other = (no, yes), (yes, no), ()
    absent, there, other = map(np.array, (absent, there, other))
    with_record = (1 - event.rate) * absent + event.rate * there
    if neighbors == "add_remove":
        return with_record, absent
    return with_record, (1 - event.rate) * absent + event.rate * other


def stick(p, q, eps):
    return float(np.maximum(p - math.exp(eps) * q, 0.0).sum())


def enumerated(script, eps, neighbors):
    """Delta by the laws of all sequences of answers: the larger of both orders of the laws."""
    p = q = np.ones(1)
    for event, count in script:
        for _ in range(count):
            a, b = laws(event, neighbors)
            p, q = np.multiply.outer(p, a).ravel(), np.multiply.outer(q, b).ravel()
    return max(stick(p, q, eps), stick(q, p, eps))


def random_script(rng):
    """Few enough steps to write down every sequence of their answers."""
    script, left = [], rng.randint(1, 9)
    while left:
        count = rng.randint(1, left)
        epsilon = 10 ** rng.uniform(-2, 0.9)
        if rng.random() < 0.75:
            rate = rng.choice((10 ** rng.uniform(-4, 0), 1 - 10 ** rng.uniform(-6, -1)))
            script.append((PoissonPure(epsilon, rate), count))
        else:
            script.append((PureDP(epsilon), count))
        left -= count
    return tuple(script)


def settings(seed, number):
    rng = random.Random(seed)
    for _ in range(number):
        yield random_script(rng), 10 ** rng.uniform(-12, -1), rng.choice(NEIGHBORS)


def violations(price, seed, number):
    """Scripts whose epsilon is below the truth, and the largest share of delta that is used."""
    wrong, used = [], 0.0
    for script, delta, neighbors in settings(seed, number):
        found = price(script, delta, neighbors)
        truth = enumerated(script, found, neighbors)
        # differences of probabilities near 1 have lost 1e-16
        if truth > delta * (1 + ROUNDING) + 1e-15:
            wrong.append((script, delta, neighbors, found))
        used = max(used, truth / delta if found > 0 and delta > 1e-8 else 0.0)
    return wrong, used


@pytest.mark.parametrize("accountant", ["auto", "profile", "pld", "rdp", "zcdp", "gdp", "pure"])
def test_no_random_script_costs_more_than_it_is_told(accountant):
    def price(script, delta, neighbors):
        return accountants.epsilon(script, delta, neighbors, accountant)

    wrong, used = violations(price, 5, 300)
    assert wrong == []
    assert accountant not in ("auto", "profile") or used > 1 - 1e-6  # and not a millionth less


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_delta_is_that_of_all_sequences(neighbors):
    for script, _, _ in settings(6, 60):
        for eps in (0.0, 0.01, 0.3, 2.0):
            truth = enumerated(script, eps, neighbors)
            found = accountants.delta(script, eps, neighbors)
            assert truth * (1 - ROUNDING) - 1e-15 <= found <= truth * (1 + 1e-8) + 1e-14


def _twin_masses(event, neighbors):
    """Sampling without what removal and replacement differ in."""
    return ORIGINAL(event, "add_remove")


def _twin_rate(event, neighbors):
    return ORIGINAL(PoissonPure(event.epsilon, event.rate * 0.999), neighbors)


ORIGINAL = costs.atoms


@pytest.mark.parametrize("twin", [_twin_masses, _twin_rate])
def test_the_law_sees_a_pair_that_does_not_dominate(twin, monkeypatch):
    from skdp.privacy import _sampled_pure

    accountants._best.cache_clear()
    _sampled_pure.mixtures.cache_clear()
    monkeypatch.setattr(_sampled_pure, "atoms", twin)
    try:
        wrong, _ = violations(
            lambda s, d, n: accountants.epsilon(s, d, n, "profile"), seed=5, number=100
        )
        assert len(wrong) > 10
    finally:
        accountants._best.cache_clear()
        _sampled_pure.mixtures.cache_clear()


def pure_laws(rng, epsilon, answers, number):
    """Laws of which every two are within e^epsilon of each other: corners of the set and mixtures."""
    base = rng.dirichlet(np.ones(answers))
    out = []
    for _ in range(number):
        mass = base * np.exp(epsilon * (rng.random(answers) < 0.5))
        if rng.random() < 0.3:
            mass = base * np.exp(epsilon * rng.random(answers))
        out.append(mass)
    low = np.array(out)
    normal = low / low.sum(axis=1, keepdims=True)
    spread = np.log(normal.max(axis=0) / normal.min(axis=0)).max()
    return normal, float(spread)


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_no_sampled_mechanism_exceeds_the_pair(neighbors):
    """Theorem P on mechanisms drawn at random, whose epsilon is what their laws show."""
    rng = np.random.default_rng(3)
    for _ in range(400):
        (absent, there, other), epsilon = pure_laws(rng, rng.uniform(0.1, 4), rng.integers(2, 7), 3)
        rate = float(rng.uniform(0.001, 0.999))
        first = (1 - rate) * absent + rate * there
        second = absent if neighbors == "add_remove" else (1 - rate) * absent + rate * other
        event = PoissonPure(epsilon, rate)
        for eps in (0.0, 0.02, 0.2, 1.0):
            bound = accountants.delta(((event, 1),), eps, neighbors)
            assert max(stick(first, second, eps), stick(second, first, eps)) <= bound + 1e-14


def _mp_pair(event, neighbors):
    """The two laws in forty digits."""
    yes = 1 / (1 + mp.exp(-mp.mpf(event.epsilon)))
    no, rate = 1 - yes, mp.mpf(event.rate)
    if neighbors == "replace_one":
        top = no + rate * (yes - no)
        middle = (1 - rate) * (yes - no)
        return (top, middle, no), (no, middle, top)
    return (no + rate * (yes - no), yes - rate * (yes - no)), (no, yes)


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("epsilon", [1e-8, 0.01, 0.5, 3.0, 12.0, 200.0])
@pytest.mark.parametrize("rate", [1e-9, 0.001, 0.1, 0.7, 1 - 1e-9])
def test_renyi_divergence_is_that_of_the_pair(epsilon, rate, neighbors):
    event = PoissonPure(epsilon, rate)
    largest = math.log1p(rate * math.expm1(epsilon))
    orders = np.array([1.001, 1.5, 2.0, 7.3, 64.0, 1e4])
    found = cost(event, "rdp", neighbors)(event, orders, neighbors)
    with mp.workdps(150):
        p, q = _mp_pair(event, neighbors)
        for order, value in zip(orders.tolist(), found.tolist()):
            a = mp.mpf(order)
            both = [
                mp.log(mp.fsum(x**a * y ** (1 - a) for x, y in zip(*pair))) / (a - 1)
                for pair in ((p, q), (q, p))
            ]
            truth = max(both)
            assert both[0] >= both[1] * (1 - mp.mpf(10) ** -40)  # removing costs more
            # conversions round divergences up by 1e-14 more
            assert truth * (1 - 1e-12) - 1e-15 * epsilon <= value
            assert value <= truth * (1 + 1e-8) + 1e-14 * largest


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("epsilon", [301.0, 1000.0])
@pytest.mark.parametrize("rate", [1e-6, 0.3, 1.0])
def test_renyi_divergence_where_moments_leave_the_doubles(epsilon, rate, neighbors):
    """A bound: no less than that of the pair, and no more than the largest loss."""
    event = PoissonPure(epsilon, rate)
    orders = np.array([1.5, 2.0, 64.0, 1e4])
    found = cost(event, "rdp", neighbors)(event, orders, neighbors)
    with mp.workdps(1000):
        p, q = _mp_pair(event, neighbors)
        for order, value in zip(orders.tolist(), found.tolist()):
            a = mp.mpf(order)
            moment = mp.fsum(x**a * y ** (1 - a) for x, y in zip(p, q) if x)
            assert mp.log(moment) / (a - 1) * (1 - mp.mpf("1e-14")) <= value
        largest = float(mp.log1p(mp.mpf(rate) * mp.expm1(epsilon)))
    assert np.all(found <= largest * (1 + 1e-14))


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("accountant", ["auto", "pld", "rdp", "zcdp", "gdp", "pure"])
def test_a_sample_never_costs_more_than_its_largest_loss_alone(accountant, neighbors):
    rng = random.Random(8)
    for _ in range(40):
        event = PoissonPure(10 ** rng.uniform(-2, 1), 10 ** rng.uniform(-4, 0))
        count, delta = rng.choice((1, 3, 40, 1000, 70_000)), 10 ** rng.uniform(-10, -2)
        whole = PureDP(cost(event, "pure", neighbors)(event, neighbors))
        found, before = (
            accountants.epsilon(((e, count),), delta, neighbors, accountant) for e in (event, whole)
        )
        assert found <= before * (1 + 1e-4 * (accountant in ("auto", "pld")) + 1e-12)


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_the_ends_of_the_range(neighbors):
    def price(event, count=1, delta=1e-6):
        return accountants.epsilon(((event, count),), delta, neighbors)

    event = PoissonPure(2.0, 0.1)
    largest = math.log1p(0.1 * math.expm1(2.0))
    assert price(event, 5, 0.0) == pytest.approx(5 * largest, rel=1e-14)
    assert accountants.delta(((event, 5),), 5 * largest * (1 + 1e-13), neighbors) == 0.0
    assert price(PoissonPure(2.0, 0.0), 10**10) == 0.0
    assert price(PoissonPure(2.0, 1.0), 7) == price(PureDP(2.0), 7)
    assert price(PoissonPure(math.inf, 0.1)) == math.inf
    assert price(PoissonPure(5000.0, 0.25)) == pytest.approx(5000 + math.log(0.25), rel=1e-9)
    assert 0.0 < price(PoissonPure(701.0, 1e-305), 1, 1e-320) <= 0.2434925833612


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_ten_billion_steps_are_nearly_a_gaussian(neighbors):
    """Many faint steps: mu squared is the count times the variance of the loss."""
    epsilon, rate, count = 0.01, 1e-3, 10**10
    with mp.workdps(40):
        p, q = _mp_pair(PoissonPure(epsilon, rate), neighbors)
        mu = float(mp.sqrt(count * mp.fsum(x * mp.log(x / y) ** 2 for x, y in zip(p, q))))
    found = accountants.epsilon(((PoissonPure(epsilon, rate), count),), 1e-6, neighbors)
    near = accountants.epsilon(((Gaussian(1 / mu), 1),), 1e-6, neighbors)
    assert near * (1 - 1e-3) <= found <= 1.05 * near  # the grid is no finer than a loss


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("other", [Gaussian(3.0), PoissonGaussian(1.2, 0.05)])
def test_beside_gaussians_by_enumeration_and_quadrature(neighbors, other):
    """Three sampled answers, written down, beside a Gaussian on a fine grid of its answers."""
    pure = (PoissonPure(1.5, 0.2), 3)
    grid = np.linspace(-12.0, 13.0, 200_001)

    def density(mean, sd):
        at = np.exp(-0.5 * ((grid - mean) / sd) ** 2)
        return at / at.sum()

    if isinstance(other, Gaussian):
        sides = (density(1 / 3, 1.0), density(0.0, 1.0))
    else:
        z, q, noise = other.multiplier, other.rate, density(0.0, other.multiplier)
        away = noise if neighbors == "add_remove" else (1 - q) * noise + q * density(-1.0, z)
        sides = ((1 - q) * noise + q * density(1.0, z), away)
    one, two = laws(pure[0], neighbors)
    answers = list(itertools.product(range(len(one)), repeat=3))
    for eps in (0.1, 0.8, 1.5):
        truth = 0.0
        for p, q, up, down in ((one, two, *sides), (two, one, *sides[::-1])):
            sums = [
                stick(math.prod(p[i] for i in y) * up, math.prod(q[i] for i in y) * down, eps)
                for y in answers
            ]
            truth = max(truth, math.fsum(sums))
        found = accountants.delta((pure, (other, 1)), eps, neighbors)
        assert truth * (1 - 1e-8) <= found <= truth * (1 + 2e-3)


def test_filters_take_the_pure_reading():
    """A reading that holds for prices that depend on answers: the sum of largest losses."""
    event = PoissonPure(1.0, 0.1)
    budget = Filter(Spec(1.0, 0.0, "add_remove"), "pure")
    budget.charge(event, 5)
    assert budget.spent == pytest.approx(5 * math.log1p(0.1 * math.expm1(1.0)), rel=1e-14)


def beside_a_gaussian(event, eps, neighbors, mu):
    """Delta of one answer and a Gaussian of that mu, on a fine grid of the Gaussian's answers: the larger order."""
    p, q = laws(event, neighbors)
    up = down = np.ones(1)
    if mu:
        grid = np.linspace(-12.0, 12.0 + mu, 100_001)
        up, down = (np.exp(-0.5 * (grid - mean) ** 2) for mean in (mu, 0.0))
        up, down = up / up.sum(), down / down.sum()
    pairs = ((p, q, up, down), (q, p, up, down))
    return max(math.fsum(stick(x * a, y * b, eps) for x, y in zip(r, s)) for r, s, a, b in pairs)


@pytest.mark.parametrize("mu", [0.0, 0.4, 3.0])
@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_the_registered_curve_is_that_of_the_laws(neighbors, mu):
    """What `curves.cost` hands out for one event, beside a Gaussian or alone, at all epsilons at once."""
    at = np.array([-1.0, 0.0, 0.03, 0.4, 1.5])
    for epsilon, rate in itertools.product((0.0, 0.05, 1.0, 6.0), (0.0, 1e-3, 0.3, 0.9, 1.0)):
        event = PoissonPure(epsilon, rate)
        curve = cost(event, "profile", neighbors)
        truth = np.array([beside_a_gaussian(event, eps, neighbors, mu) for eps in at])
        found = curve(event, at, neighbors, extra_mu=mu)
        assert np.all(found <= truth * (1 + 1e-7) + 1e-13)
        assert np.all(found >= truth * (1 - (1e-7 if mu else 1e-14)) - 1e-15)
        assert [curve(event, float(eps), neighbors, mu) for eps in at] == found.tolist()


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_an_answer_without_noise_costs_nothing_to_nobody_and_everything_else(neighbors):
    """Where epsilon is infinite and the rate 0, their product is no number."""
    prices = {0.0: 0.0, 0.1: math.inf, 1.0: math.inf}
    for rate, price in prices.items():
        event = PoissonPure(math.inf, rate)
        assert {
            cost(event, name, neighbors)(event, neighbors) for name in ("pure", "gdp", "zcdp")
        } == {price}
        for delta in (0.0, 1e-6):
            assert accountants.epsilon(((event, 3),), delta, neighbors) == price
        curve = cost(event, "profile", neighbors)(event, np.array([0.0, 2.0]), neighbors)
        assert curve.tolist() == ([1.0, 1.0] if rate else [0.0, 0.0])
    silent = Filter(Spec(1.0, 0.0, neighbors), "pure")
    silent.charge(PoissonPure(math.inf, 0.0), 7)
    assert silent.spent == 0.0
