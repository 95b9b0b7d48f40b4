"""Several searches under one script, searches of searches and long ones, against enumerated laws of winners."""

import math

import numpy as np
import pytest
from best_of_truth import attack, generating_function, hockey_stick, random_pair, winner

from skdp.privacy import _pld_curve_pairs as pairs
from skdp.privacy import choose, delta, epsilon
from skdp.privacy._gaussian import gaussian_delta
from skdp.privacy._runs import CappedGeometricRuns, geometric_odds
from skdp.privacy.events import BestOf, Gaussian, PoissonGaussian, PureDP


def search(own, mean, cap):
    return BestOf((((own, 1),),), (1.0,), mean=mean, cap=cap)


def together(*laws):
    out = np.ones(1)
    for law in laws:
        out = np.multiply.outer(out, law).ravel()
    return out


def most_told(own, law, count, tries=60):
    """The pair of winners' laws of discrete runs that `count` searches tell most by, at a few epsilons."""
    phi, rng, worst = generating_function(geometric_odds(*law)), np.random.default_rng(3), {}
    for _ in range(tries):
        p, q = (winner(phi, run) for run in random_pair(rng, own))
        product = together(*[p] * count), together(*[q] * count)
        for eps in (0.0, 0.1, 0.3, 0.6):
            worst[eps] = max(worst.get(eps, 0.0), hockey_stick(*product, eps))
    return worst


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("law", [(3, 6), (10, 30)])
def test_no_discrete_runs_of_several_searches_beat_the_price(count, law):
    script = ((search(PureDP(0.2), *law), count),)
    for eps, told in most_told(0.2, law, count).items():
        assert told <= delta(script, eps) * (1 + 1e-9)


def test_a_twin_whose_curve_is_that_of_one_run_is_beaten(monkeypatch):
    """As if the search cost nothing: each winner priced like one run."""

    class OneRun:
        nodes = np.linspace(0.0, 0.2, 50)

        def at(self, epsilons):
            return np.maximum(-np.expm1(epsilons - 0.2), 0.0) / (1 + math.exp(-0.2))

    told = most_told(0.2, (10, 30), 2)
    monkeypatch.setattr(pairs, "composed_curve", lambda event, neighbors: OneRun())
    pairs._end.cache_clear()
    script = ((search(PureDP(0.2), 10, 30), 2),)
    assert any(value > delta(script, eps, accountant="pld") for eps, value in told.items())
    pairs._end.cache_clear()


def test_an_attack_on_two_searches_of_gaussian_runs_stays_below():
    phi = generating_function(geometric_odds(3, 6))
    script = ((search(Gaussian(4.0), 3, 6), 2),)
    for cut in (0.0, 1.0, 2.0):
        p, q = attack(phi, 0.25, cut, cells=300)
        for eps in (0.0, 0.2, 0.5, 1.0):
            told = hockey_stick(together(p, p), together(q, q), eps)
            assert told <= delta(script, eps) * (1 + 1e-2)  # cells of the attack are coarse


def test_two_searches_cost_less_than_their_sum_and_more_than_one():
    one = search(Gaussian(20.0), 10, 30)
    first, both = (epsilon(((one, k),), 1e-6) for k in (1, 2))
    assert choose(((one, 2),)) == "pld"
    assert 1.3 * first < both < 1.8 * first


def test_a_pair_of_chords_says_what_the_curve_says():
    event = search(Gaussian(10.0), 5, 20)
    for eps in (0.0, 0.1, 0.4):
        chords = delta(((event, 1),), eps, accountant="pld")
        assert delta(((event, 1),), eps, accountant="profile") == pytest.approx(chords, rel=0.01)


@pytest.mark.parametrize("beside", [Gaussian(9.0), PureDP(0.1), PoissonGaussian(2.0, 0.05)])
def test_a_search_beside_other_steps_costs_more_than_each_and_less_than_the_sum(beside):
    script = ((search(Gaussian(20.0), 10, 30), 2), (beside, 20))
    whole = epsilon(script, 1e-6)
    alone = [epsilon((run,), 1e-6) for run in script]
    assert max(alone) < whole < sum(alone)


def test_a_search_of_searches_is_priced_like_one():
    """Its curve was laid out to an epsilon of 600 since the inner curve never falls to nothing: 6.71."""
    inner = search(Gaussian(20.0), 10, 30)
    outer = search(inner, 3, 6)
    found = epsilon(((outer, 1),), 1e-6)
    assert epsilon(((inner, 1),), 1e-6) < found < 0.5
    phi_in, phi_out = (generating_function(geometric_odds(*law)) for law in ((10, 30), (3, 6)))
    p, q = (winner(phi_out, law) for law in attack(phi_in, 1 / 20, 1.0, cells=4000))
    assert hockey_stick(p, q, 0.1) <= delta(((outer, 1),), 0.1)


@pytest.mark.parametrize("law", [(2, 1025), (3000, 1500), (10_000, 10_000)])
def test_the_closed_form_of_a_long_search_is_its_sum(law):
    mean, cap = law
    runs = CappedGeometricRuns(mean, cap)
    for x in (1.0, 0.9999, 0.5, 0.0):
        chances = np.exp(np.arange(cap) * math.log1p(-1 / mean))
        terms = chances * np.arange(1, cap + 1) * float(x) ** np.arange(cap)
        true = math.fsum(terms) / math.fsum(chances)
        assert runs.slope(np.array([x]))[0] == pytest.approx(true, rel=1e-11)


def test_a_search_of_mean_ten_thousand_has_a_price():
    event = search(Gaussian(20.0), 10_000, 10_000)
    found = epsilon(((event, 1),), 1e-6)
    assert found == pytest.approx(0.5537899, rel=1e-4)
    assert gaussian_delta(found, 1 / 20) < 1e-6
