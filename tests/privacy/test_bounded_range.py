"""Selections of bounded range, one after the other in view of answers, against the best that an adversary can do."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from skdp.privacy import NEIGHBORS, Spec, _pld_other_pairs, calibrate, delta, epsilon
from skdp.privacy._pld_other_pairs import RangePair, range_pairs
from skdp.privacy.events import BoundedRange, Gaussian, PureDP


def once(b, eps):
    """One selection: the best of the pairs with losses t and t - b, over a fine grid of t; any real eps."""
    t = np.linspace(0.0, b, 4001)
    p = np.expm1(t - b) / math.expm1(-b)
    eps = np.asarray(eps, float)[..., None]
    sums = p * np.maximum(-np.expm1(eps - t), 0) + (1 - p) * np.maximum(-np.expm1(eps - t + b), 0)
    return sums.max(axis=-1)


def known_once(b, eps):
    """The same in closed form, for all real eps: the maximum of a parabola in e^(t/2)."""
    eps = np.asarray(eps, float)
    inside = np.expm1((np.clip(eps, -b, b) - b) / 2) ** 2 / -math.expm1(-b)
    return np.where(eps < -b, -np.expm1(np.minimum(eps, 0)), inside)


def again(b, curve, eps, points=801):
    """One selection in front of others: the adversary picks t now, and the rest in view of the answer."""
    t = np.linspace(0.0, b, points)
    p = np.expm1(t - b) / math.expm1(-b)
    eps = np.asarray(eps, float)[..., None]
    return (p * curve(eps - t) + (1 - p) * curve(eps - t + b)).max(axis=-1)


def equal_pairs(b, count, eps):
    """The best of equal pairs, all chosen beforehand: a binomial sum."""
    j, best = np.arange(count + 1), 0.0
    for t in b * np.linspace(0.01, 0.99, 197):
        p = np.expm1(t - b) / math.expm1(-b)
        losses = j * t + (count - j) * (t - b)
        best = max(best, float(binom.pmf(j, count, p) @ np.maximum(-np.expm1(eps - losses), 0)))
    return best


@pytest.mark.parametrize("b", [0.05, 1.0, 6.0])
def test_one_selection_costs_what_the_worst_pair_does(b):
    at = b * np.array([0.0, 0.1, 0.5, 0.9])
    true = once(b, at)
    assert known_once(b, at) == pytest.approx(true, rel=1e-5)
    assert RangePair(b, 1).profile(at) == pytest.approx(true, rel=1e-5)
    assert (RangePair(b, 1).profile(at) >= true).all()
    found = [delta(((BoundedRange(b), 1),), float(e), accountant="pld") for e in at]
    assert found == pytest.approx(true, rel=1e-3) and (found >= true * (1 - 1e-12)).all()


@pytest.mark.parametrize("b", [0.1, 1.0, 5.0])
def test_two_and_three_selections_cost_what_an_adversary_makes_of_them(b):
    def two(eps):
        return again(b, lambda e: known_once(b, e), eps)

    for count, true_at in ((2, two), (3, lambda e: again(b, two, e, 301))):
        at = b * np.array([0.0, 0.3 * count, 0.8 * count])
        true, found = true_at(at), RangePair(b, count).profile(at)
        assert (found >= true * (1 - 1e-12)).all()
        assert found == pytest.approx(true, rel=2e-4)


def test_an_adversary_who_sees_answers_exceeds_the_worst_equal_pairs():
    """A twin that composes equal pairs chosen beforehand: each t of the others follows the answers so far."""
    b, at = 1.0, np.array([0.6])
    two = lambda e: again(b, lambda f: known_once(b, f), e)  # noqa: E731
    best = float(again(b, two, at, 301)[0])
    assert best > 1.03 * equal_pairs(b, 3, 0.6)
    assert delta(((BoundedRange(b), 3),), 0.6) >= best


def test_a_coarse_grid_is_on_the_private_side_and_its_points_alone_are_not(monkeypatch):
    b, at = 1.0, np.array([0.33])
    true = again(b, lambda e: known_once(b, e), at, 4001)
    points = again(b, lambda e: known_once(b, e), at, 6)
    monkeypatch.setattr(_pld_other_pairs, "_WORK", 1e-9)
    _pld_other_pairs._profile.cache_clear()
    coarse = RangePair(b, 2).profile(at)
    _pld_other_pairs._profile.cache_clear()
    assert points < true * (1 - 1e-4) and true < coarse < 1.05 * true


@pytest.mark.parametrize(("b", "count"), [(0.5, 20), (0.1, 100), (0.05, 300)])
def test_many_cost_little_more_than_equal_pairs_and_less_than_divergences(b, count):
    script = ((BoundedRange(b), count),)
    price = epsilon(script, 1e-6)
    assert equal_pairs(b, count, price) <= 1e-6 < equal_pairs(b, count, 0.99 * price)
    assert price < 0.97 * min(epsilon(script, 1e-6, accountant=name) for name in ("rdp", "gdp"))
    for neighbors in NEIGHBORS:
        assert epsilon(script, 1e-6, neighbors) == price


def test_random_selections_that_look_at_answers_cost_no_more():
    """Exponential mechanisms over four candidates, the second with scores that depend on the first answer."""
    rng, b = np.random.default_rng(5), 0.8

    def laws():
        start, move = rng.normal(size=4), rng.choice([0.0, b], size=4)
        p, q = (np.exp(scores) / np.exp(scores).sum() for scores in (start + move, start))
        return p, q

    told = {e: delta(((BoundedRange(b), 2),), e) for e in (0.0, 0.5, 1.2)}
    for _ in range(200):
        first, second = laws(), [laws() for _ in range(4)]
        p, q = (
            np.concatenate([first[side][i] * second[i][side] for i in range(4)]) for side in (0, 1)
        )
        for e, most in told.items():
            assert np.maximum(p - math.exp(e) * q, 0).sum() <= most


def test_what_is_released_beside_them_is_composed():
    """A Gaussian first, whose loss the adversary knows: a mean of the curve of two over that loss."""
    b, mu, eps = 0.7, 0.5, 1.0
    x = np.linspace(-9, 9, 4001)
    loss = mu * x + mu**2 / 2
    weights = np.exp(-(x**2) / 2) / np.exp(-(x**2) / 2).sum()
    rest = again(b, lambda e: known_once(b, e), eps - loss)
    true = float(weights @ rest)
    found = delta(((Gaussian(1 / mu), 1), (BoundedRange(b), 2)), eps)
    assert true * (1 - 1e-6) <= found <= true * (1 + 1e-3)


def test_counts_are_split_into_pairs_of_all_of_them():
    for count in (1, 127, 128, 129, 1000, 10**6):
        parts = range_pairs(0.1, count)
        assert sum(pair.count * times for pair, times in parts) == count
        assert all(pair.count <= 128 for pair, _ in parts) and len(parts) <= 2


def test_ends_have_prices():
    assert epsilon(((BoundedRange(0.0), 5),), 1e-6) == 0
    assert epsilon(((BoundedRange(math.inf), 5),), 1e-6) == math.inf
    for b in (1e-12, 1e-8, 39.0, 41.0, 600.0):
        price = epsilon(((BoundedRange(b), 3),), 1e-9)
        assert 0.0 <= price <= 3 * b * (1 + 1e-12)
    assert epsilon(((BoundedRange(0.3), 7),), 0.0) == 2.1
    scale, script = calibrate(lambda s: ((BoundedRange(1 / s), 30),), Spec(1.0, 1e-6))
    assert 0.9999 < epsilon(script, 1e-6) <= 1.0 and scale < 20
    beside = ((BoundedRange(0.3), 7), (PureDP(0.1), 3))
    assert epsilon(beside, 1e-6) > epsilon(beside[:1], 1e-6)
