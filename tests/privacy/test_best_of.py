"""The price of the best of K runs against enumeration, an attack, and prices that forget something."""

import math

import numpy as np
import pytest
from best_of_truth import attack, generating_function, hockey_stick, random_pair, winner

from skdp.privacy import delta, epsilon, selection_epsilon
from skdp.privacy._gaussian import gaussian_delta, gaussian_mu
from skdp.privacy._runs import geometric_odds
from skdp.privacy.events import BestOf, Gaussian, PureDP
from skdp.privacy.selection import (
    CappedGeometricRuns,
    TruncatedNegativeBinomialRuns,
    base_curves,
)

LAWS = [(2, 1), (2, 5), (3, 8), (10, 30), (5, 15), (40, 12)]
EPSILONS = (0.0, 0.1, 0.3, 0.7, 1.5)


def best_of(script, mean, cap):
    return ((BestOf((script,), (1.0,), mean, cap), 1),)


@pytest.mark.parametrize(("mean", "cap"), LAWS)
@pytest.mark.parametrize("own", [0.05, 0.4, 1.5])
def test_no_discrete_run_beats_the_price(mean, cap, own):
    rng = np.random.default_rng(0)
    phi = generating_function(geometric_odds(mean, cap))
    said = {e: delta(best_of(((PureDP(own), 1),), mean, cap), e) for e in EPSILONS}
    closest = 0.0
    for _ in range(400):
        pair = [winner(phi, law) for law in random_pair(rng, own)]
        for e in EPSILONS:
            truth = hockey_stick(*pair, e)
            assert truth <= said[e] + 1e-12
            closest = max(closest, truth / said[e] if said[e] > 1e-9 else 0.0)
    assert closest > 0.05  # a twentieth of the price would be refuted by chance alone


CUTS = np.arange(-2.5, 1.0, 0.25)


@pytest.mark.parametrize(("mean", "cap"), LAWS)
@pytest.mark.parametrize("own", [0.1, 1.0])
def test_an_attack_on_gaussian_runs_stays_below_and_refutes_a_price_of_a_little_less(
    mean, cap, own
):
    mu = gaussian_mu(own, 1e-6)
    phi = generating_function(geometric_odds(mean, cap))
    script = best_of(((Gaussian(1 / mu), 1),), mean, cap)
    pairs = [attack(phi, mu, cut) for cut in CUTS]
    for target in (1e-4, 1e-6):
        e = epsilon(script, target)
        assert max(hockey_stick(*pair, e) for pair in pairs) <= delta(script, e)
        assert max(hockey_stick(*pair, 0.95 * e) for pair in pairs) > target


@pytest.mark.parametrize(
    "forgetful",
    [
        lambda run, e: delta(run, e),  # best of all, paid as one
        lambda run, e: delta(best_of(run, 10, 3), e),  # the cap is really thirty
        lambda run, e: delta(best_of(run, 3, 30), e),  # and the mean ten
    ],
)
def test_prices_that_forget_something_are_beaten(forgetful):
    mu = gaussian_mu(1.0, 1e-6)
    phi = generating_function(geometric_odds(10, 30))
    run = ((Gaussian(1 / mu), 1),)
    pair = attack(phi, mu, -1.0)
    assert all(hockey_stick(*pair, e) <= delta(best_of(run, 10, 30), e) for e in (0.5, 1.0))
    assert any(hockey_stick(*pair, e) > forgetful(run, e) for e in (0.5, 1.0))


def test_a_run_that_draws_its_script():
    """Two settings of unlike cost, of which the dearer is rare and scores best."""
    rng = np.random.default_rng(1)
    phi = generating_function(geometric_odds(5, 15))
    event = BestOf((((PureDP(0.2), 1),), ((PureDP(1.0), 1),)), (0.9, 0.1), 5, 15)
    closest = 0.0
    for _ in range(300):
        (p0, q0), (p1, q1) = random_pair(rng, 0.2), random_pair(rng, 1.0)
        pair = [winner(phi, np.concatenate([0.9 * a, 0.1 * b])) for a, b in ((p0, p1), (q0, q1))]
        for e in EPSILONS:
            truth, said = hockey_stick(*pair, e), delta(((event, 1),), e)
            assert truth <= said + 1e-12
            closest = max(closest, truth / said if said > 1e-6 else 0.0)
    assert closest > 0.5


@pytest.mark.parametrize("mu", [0.1, 0.5, 2.0])
def test_beside_a_gaussian(mu):
    rng = np.random.default_rng(2)
    phi = generating_function(geometric_odds(3, 8))
    script = (*best_of(((PureDP(0.4), 1),), 3, 8), (Gaussian(1 / mu), 1))
    said = {e: delta(script, e) for e in EPSILONS}
    closest = 0.0
    for _ in range(60):
        p, q = (winner(phi, law) for law in random_pair(rng, 0.4))
        for e in EPSILONS:
            truth = max(
                float(a @ gaussian_delta(e - np.log(a / b), mu)) for a, b in ((p, q), (q, p))
            )
            assert truth <= said[e] + 1e-12
            closest = max(closest, truth / said[e] if said[e] > 1e-9 else 0.0)
    assert closest > 0.3


@pytest.mark.parametrize(
    ("own", "mean", "eta", "here", "before"),
    [
        (1.0, 3, 0, 1.2023, 1.2332),
        (1.0, 10, 0, 1.3924, 1.4410),
        (1.0, 30, 0, 1.5480, 1.6048),
        (0.1, 10, 0, 0.14666, 0.15271),
        (1.0, 3, 1, 1.2238, 1.2622),
        (1.0, 10, 1, 1.4700, 1.5406),
        (1.0, 30, 1, 1.6908, 1.7826),
        (0.1, 10, 1, 0.15494, 0.16433),
    ],
)
def test_the_figures_of_the_theory(own, mean, eta, here, before):
    """Worked out apart from this code; `before` is Koskela, Redberg and Wang (2024)."""
    runs = TruncatedNegativeBinomialRuns.with_mean(eta, mean)
    profile, renyi = base_curves(((Gaussian(1 / gaussian_mu(own, 1e-6)), 1),))
    found = selection_epsilon(profile, renyi, 1e-6, runs)
    assert found == pytest.approx(here, rel=7e-3) and found < before


def test_the_law_of_k_is_the_geometric_one_below_the_cap():
    odds = np.array(geometric_odds(10, 30), float)
    chances = 0.1 * 0.9 ** np.arange(30)
    assert odds / odds.sum() == pytest.approx(chances / chances.sum(), rel=1e-12)
    runs = CappedGeometricRuns(10, 30)
    assert runs.mean == pytest.approx(8.67, abs=5e-3)
    x = np.linspace(0.0, 1.0, 7)
    phi = generating_function(runs.odds)
    slope = (phi(x + 1e-7) - phi(x - 1e-7)) / 2e-7
    assert runs.slope(x)[1:] == pytest.approx(slope[1:], rel=1e-6)


def test_share_kept_of_a_promise():
    """A run of a search of epsilon 1 has .693 of the mu of one fit of epsilon 1."""
    mu = 0.6933 * gaussian_mu(1.0, 1e-6)
    assert epsilon(best_of(((Gaussian(1 / mu), 1),), 10, 30), 1e-6) == pytest.approx(1.0, abs=5e-3)


def test_far_ends():
    assert epsilon(best_of(((Gaussian(math.inf), 1),), 10, 30), 1e-6) == 0.0
    assert epsilon(best_of(((PureDP(0.0), 1),), 2, 1), 1e-6) == 0.0
    once = best_of(((PureDP(1.0), 1),), 2, 1)  # one run for certain
    assert epsilon(once, 1e-9) == pytest.approx(1.0, rel=1e-3)
    assert delta(best_of(((Gaussian(0.05), 1),), 10, 30), 1.0) <= 1.0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"mean": 1}, "mean=1"),
        ({"cap": 0}, "cap=0"),
        ({"cap": 2.0}, "cap=2.0"),
        ({"weights": (0.5,)}, "sum to 1"),
        ({"weights": (0.5, 0.5)}, "1 scripts"),
        ({"scripts": (((1, 2),),)}, "sequence of"),
    ],
)
def test_what_is_no_search_is_refused(given, said):
    whole = {"scripts": (((Gaussian(1.0), 1),),), "weights": (1.0,), **given}
    with pytest.raises(ValueError, match=said):
        BestOf(**whole)
