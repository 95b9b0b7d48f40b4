"""Private selection: bounds against exact best-of-K distributions, and against a broken twin."""

import math

import numpy as np
import pytest
from scipy.stats import binom, poisson

from skdp.exceptions import NotSupported
from skdp.privacy import selection_delta, selection_epsilon
from skdp.privacy._gaussian import gaussian_delta, gaussian_mu
from skdp.privacy.events import Gaussian, PoissonGaussian, WithoutReplacementGaussian
from skdp.privacy.selection import (
    BinomialRuns,
    PoissonRuns,
    TruncatedNegativeBinomialRuns,
    base_curves,
)

LAWS = [
    TruncatedNegativeBinomialRuns.with_mean(0, 4),
    TruncatedNegativeBinomialRuns.with_mean(1, 4),
    TruncatedNegativeBinomialRuns.with_mean(2.5, 4),
    PoissonRuns(4.0),
    PoissonRuns(0.5),
    BinomialRuns(8, 0.4),
]


def generating_function(law, x):
    """E[x^K], by which the best of K has distribution G(F(y))."""
    if isinstance(law, PoissonRuns):
        return np.exp(law.mean * (x - 1))
    if isinstance(law, BinomialRuns):
        return (1 - law.probability + law.probability * x) ** law.trials
    y = 1 - (1 - law.gamma) * x
    if law.eta == 0:
        return np.log(y) / math.log(law.gamma)
    return (y**-law.eta - 1) / (law.gamma**-law.eta - 1)


def best_of(law, masses):
    """Law of the best score, scores ordered; K = 0 releases a default outcome of its own."""
    cumulative = np.concatenate([[0.0], np.cumsum(masses)])
    values = generating_function(law, np.minimum(cumulative, 1.0))
    return np.concatenate([[values[0]], np.diff(values)])


def hockey_stick(p, q, epsilon):
    return max(np.maximum(a - math.exp(epsilon) * b, 0).sum() for a, b in ((p, q), (q, p)))


def random_pair(rng, outcomes):
    p = rng.dirichlet(np.full(outcomes, 0.7))
    q = p * np.exp(rng.normal(0, 0.4, outcomes))
    return p, q / q.sum()


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_exact_best_of_k_stays_below_the_bound(law):
    rng = np.random.default_rng(3)
    closest = 0.0
    for _ in range(60):
        p, q = random_pair(rng, int(rng.integers(2, 6)))
        best_p, best_q = best_of(law, p), best_of(law, q)
        for epsilon in rng.uniform(0.05, 3, 4):
            bound = selection_delta(lambda e, p=p, q=q: hockey_stick(p, q, e), epsilon, law)
            exact = hockey_stick(best_p, best_q, epsilon)
            assert exact <= bound + 1e-12
            closest = max(closest, exact / bound if bound > 1e-9 else 0)
    assert closest > 0.15  # a bound a seventh as large would be refuted


@pytest.mark.parametrize("law", LAWS[:4], ids=repr)
def test_forgetting_the_shift_is_caught(law):
    """The broken twin E[K] delta_Q(eps), without the shift, is exceeded by real pairs."""
    rng = np.random.default_rng(5)
    caught = 0
    for _ in range(200):
        p, q = random_pair(rng, 3)
        epsilon = rng.uniform(0.05, 2)
        exact = hockey_stick(best_of(law, p), best_of(law, q), epsilon)
        caught += exact > law.mean * hockey_stick(p, q, epsilon) + 1e-12
    assert caught > 0


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_means_and_generating_functions_agree(law):
    x = 1 - 1e-6
    assert (1 - generating_function(law, x)) / 1e-6 == pytest.approx(law.mean, rel=1e-4)


def test_the_laws_of_k_are_the_textbook_ones():
    ks = np.arange(200)
    for x in (0.2, 0.9):
        assert generating_function(PoissonRuns(4.0), x) == pytest.approx(
            (poisson.pmf(ks, 4.0) * x**ks).sum()
        )
        assert generating_function(BinomialRuns(8, 0.4), x) == pytest.approx(
            (binom.pmf(ks, 8, 0.4) * x**ks).sum()
        )


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_delta_inverts_epsilon(law):
    mu = gaussian_mu(0.5, 1e-6)

    def profile(e):
        return float(gaussian_delta(e, mu))

    epsilon = selection_epsilon(profile, None, 1e-6, law)
    assert selection_delta(profile, epsilon, law) == pytest.approx(1e-6, rel=1e-6)
    assert selection_delta(profile, 0.0, law) <= 1.0


@pytest.mark.parametrize(
    "law", [PoissonRuns(30), TruncatedNegativeBinomialRuns.with_mean(0, 30)], ids=repr
)
def test_the_smaller_theorem_is_reported(law):
    """A profile that knows everything wins over the Renyi theorem; one that knows half as much loses to it."""
    mu = gaussian_mu(1.0, 1e-6)
    profile, renyi = base_curves(((Gaussian(1 / mu), 1),))
    by_profile = selection_epsilon(profile, None, 1e-6, law)
    assert selection_epsilon(profile, renyi, 1e-6, law) == by_profile

    def rough(epsilon):
        return profile(epsilon / 2)

    by_rough = selection_epsilon(rough, None, 1e-6, law)
    assert by_profile < selection_epsilon(rough, renyi, 1e-6, law) < 0.9 * by_rough


def test_best_of_many_is_cheaper_than_running_them_all():
    mu = gaussian_mu(1.0, 1e-6)
    profile, renyi = base_curves(((Gaussian(1 / mu), 1),))
    law = TruncatedNegativeBinomialRuns.with_mean(0, 10)
    assert selection_epsilon(profile, renyi, 1e-6, law) < 1.65 < 3.52


def test_base_curves_mind_the_relation():
    with pytest.raises(NotSupported):
        base_curves(((WithoutReplacementGaussian(2.0, 0.1), 1),), "add_remove")[0](1.0)
    profile, renyi = base_curves(((PoissonGaussian(2.0, 1.0), 1),), "replace_one")
    assert profile(1.0) == pytest.approx(gaussian_delta(1.0, 1.0))
    assert renyi(np.array([3.0]))[0] == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: TruncatedNegativeBinomialRuns(-0.5, 0.5), "eta=-0.5"),
        (lambda: TruncatedNegativeBinomialRuns(0, 1.0), r"gamma=1.0 must lie in \(0, 1\)"),
        (lambda: TruncatedNegativeBinomialRuns.with_mean(0, 1.0), "mean=1.0 must be more than one"),
        (lambda: PoissonRuns(0.0), "mean=0.0"),
        (lambda: TruncatedNegativeBinomialRuns(math.inf, 0.5), "eta=inf must be finite"),
        (lambda: TruncatedNegativeBinomialRuns(math.nan, 0.5), "eta=nan"),
        (lambda: BinomialRuns(0, 0.5), "trials=0"),
        (lambda: BinomialRuns(True, 0.5), "trials=True must be a whole number"),
        (lambda: BinomialRuns(2.5, 0.5), "trials=2.5"),
        (lambda: BinomialRuns(5, 1.0), "probability=1.0"),
    ],
)
def test_impossible_laws_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_delta_zero_is_refused():
    with pytest.raises(NotSupported, match="delta=0 is not priced"):
        selection_epsilon(lambda e: 0.0, None, 0.0, PoissonRuns(3.0))
