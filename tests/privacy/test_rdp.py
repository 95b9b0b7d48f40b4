"""Renyi costs against binomial sums, integrals and exact profiles; the conversion at real orders."""

import math
import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad, trapezoid
from scipy.special import gammaln, logsumexp
from scipy.stats import laplace, norm

from skdp.privacy import accountants
from skdp.privacy._conversion import budget_at, renyi_delta, renyi_epsilon
from skdp.privacy._costs import laplace_renyi, pure_mu, pure_renyi
from skdp.privacy._gaussian import gaussian_delta, gaussian_epsilon
from skdp.privacy.curves import cost
from skdp.privacy.events import (
    BoundedRange,
    Gaussian,
    Laplace,
    PoissonBundle,
    PoissonGaussian,
    PureDP,
    RandomPosition,
    WithoutReplacementGaussian,
)


def renyi(event, orders, neighbors="replace_one"):
    orders = np.atleast_1d(np.asarray(orders, float))
    return cost(event, "rdp", neighbors)(event, orders, neighbors)


def binomial_sum(z, q, a):
    """Mironov, Talwar and Zhang at a whole order."""
    k = np.arange(a + 1)
    log_binomial = gammaln(a + 1) - gammaln(k + 1) - gammaln(a - k + 1)
    terms = log_binomial + (a - k) * math.log1p(-q) + k * math.log(q) + k * (k - 1) / (2 * z * z)
    return logsumexp(terms) / (a - 1)


@pytest.mark.parametrize("z", [0.4, 1.0, 5.0, 40.0])
@pytest.mark.parametrize("q", [1e-3, 0.05, 0.7])
def test_poisson_quadrature_equals_the_binomial_sum(z, q):
    for a in (2, 3, 7, 20):
        # the sum itself loses digits when (a - 1) R is tiny: compare on its own round-off
        tolerance = 1e-11 + 1e-14 / renyi(PoissonGaussian(z, q), a, "add_remove")[0]
        assert renyi(PoissonGaussian(z, q), a, "add_remove")[0] == pytest.approx(
            binomial_sum(z, q, a), rel=tolerance
        )


def test_tiny_divergences_keep_their_digits():
    """q^2 / z^2 ~ 1e-12 is far below the round-off of one minus one: the leading term shows it."""
    for neighbors, factor in (("add_remove", 1), ("replace_one", 4)):
        divergence = renyi(PoissonGaussian(100.0, 1e-4), 2.0, neighbors)[0]
        leading = factor * 1e-8 * math.expm1(1e-4)
        assert divergence == pytest.approx(leading, rel=1e-3)


@pytest.mark.parametrize(("z", "q", "a"), [(1.0, 0.1, 3.5), (3.0, 0.3, 10.0), (0.7, 0.02, 1.7)])
def test_poisson_replace_equals_a_direct_integral(z, q, a):
    def integrand(x):
        middle = math.log1p(-q) + norm.logpdf(x, 0, z)
        left, right = (math.log(q) + norm.logpdf(x, m, z) for m in (-1, 1))
        return math.exp(a * np.logaddexp(middle, left) + (1 - a) * np.logaddexp(middle, right))

    stops = np.linspace(-2 * a - 12 * z, 1 + 12 * z, 40)
    moment = sum(quad(integrand, *pair, epsrel=1e-13)[0] for pair in pairwise(stops))
    assert renyi(PoissonGaussian(z, q), a)[0] == pytest.approx(math.log(moment) / (a - 1), rel=1e-9)


def test_sampling_everybody_is_the_gaussian():
    for a in (1.5, 4.0, 30.0):
        assert renyi(PoissonGaussian(2.0, 1 - 1e-12), a)[0] == pytest.approx(a / 2, rel=1e-6)
        assert renyi(WithoutReplacementGaussian(2.0, 1 - 1e-12), a)[0] == pytest.approx(
            a / 2, rel=1e-6
        )


def test_the_antipodal_pair_is_integrated_as_far_as_its_last_bump():
    """With q near one the bump of P^a Q^(1-a) sits at 2a - 1, twice as far as under add/remove."""
    for z, a in ((2.0, 20.0), (10.0, 500.0), (10.0, 1100.0)):
        divergence = renyi(PoissonGaussian(z, 1 - 2.0**-52), a)[0]
        assert divergence == pytest.approx(2 * a / z**2, rel=1e-6)


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize(
    ("z", "q", "a"), [(0.1, 1e-4, 36.0), (0.05, 1e-3, 1.002), (0.04, 0.9, 4.0), (0.025, 0.9, 1.7)]
)
def test_little_noise_is_not_cheaper_than_its_integral(z, q, a, neighbors):
    # Losses beyond 700, and a bump of the tangent at -1, had fallen outside.
    x = np.arange(-2 * a - 1, 2 * a + 1, z * z / 4)
    weight = math.log(z * z / 4) - math.log(z * math.sqrt(2 * math.pi))
    upper, lower = (
        weight
        + np.logaddexp(math.log1p(-q) - (x / z) ** 2 / 2, math.log(q) - ((x - m) / z) ** 2 / 2)
        for m in (1, -1)
    )
    if neighbors == "add_remove":
        lower = weight - (x / z) ** 2 / 2
    exact = logsumexp(a * upper + (1 - a) * lower) / (a - 1)
    event = PoissonGaussian(z, q)
    got = cost(event, "rdp", neighbors)(event, np.array([a]), neighbors)[0]
    assert got >= exact * (1 - 1e-9)


def test_without_replacement_lies_above_the_fixed_pair_and_above_poisson():
    """Correction 1: the antipodal Poisson pair does not dominate sampling without replacement."""
    event, poisson = WithoutReplacementGaussian(1.0, 0.01), PoissonGaussian(1.0, 0.01)
    for a in (2, 5, 9):
        fixed_pair = binomial_sum(0.5, 0.01, a)
        assert fixed_pair <= renyi(event, a)[0] * (1 + 1e-9)
        assert renyi(poisson, a)[0] < fixed_pair
    spent = [accountants.epsilon(((e, 1000),), 1e-5, accountant="rdp") for e in (event, poisson)]
    assert spent[0] >= 13.36 > 4 * spent[1]


@given(st.floats(0.5, 20), st.floats(0.001, 0.5), st.floats(0.05, 2))
def test_a_bundle_costs_at_least_its_parts_and_at_most_no_sampling(z, q, eps):
    orders = np.array([1.7, 2.0, 3.3, 8.0, 64.0])
    joint = renyi(PoissonBundle(z, (eps,), q), orders, "add_remove")
    gaussian = renyi(PoissonGaussian(z, q), orders, "add_remove")
    batch = orders / (2 * z * z) + pure_renyi(eps, orders)
    assert (joint >= gaussian * (1 - 1e-9)).all() and (joint <= batch * (1 + 1e-9)).all()


def test_a_bundle_is_dearer_than_amplifying_its_parts_apart():
    joint = renyi(PoissonBundle(2.0, (1.0,), 0.05), 16, "add_remove")[0]
    apart = renyi(PoissonGaussian(2.0, 0.05), 16, "add_remove")[0]
    apart += renyi(PoissonBundle(math.inf, (1.0,), 0.05), 16, "add_remove")[0]
    assert apart == pytest.approx(0.0317869691, rel=1e-8)
    assert joint > 3 * apart


@pytest.mark.parametrize("epsilon", [1e-4, 0.3, 2.0, 20.0])
def test_laplace_and_pure_against_their_integrals(epsilon):
    for a in (1.3, 2.0, 9.0):

        def integrand(x, a=a):
            p, q = laplace.logpdf(x, 1, 1 / epsilon), laplace.logpdf(x, 0, 1 / epsilon)
            return math.exp(a * p + (1 - a) * q)

        span = 40 / epsilon
        moment = sum(
            quad(integrand, *ends, epsrel=1e-13, limit=400)[0]
            for ends in ((-span, 0), (0, 1), (1, 1 + span))
        )
        ours = laplace_renyi(epsilon, np.array([a]))[0]
        assert ours == pytest.approx(math.log(moment) / (a - 1), rel=1e-6, abs=1e-12)
        assert ours <= pure_renyi(epsilon, np.array([a]))[0] * (1 + 1e-9)


def test_bounded_range_is_the_maximum_over_its_family():
    for b in (0.01, 0.5, 3.0, 20.0):
        t = np.linspace(1e-9, b - 1e-9, 200001)
        p = (1 - np.exp(t - b)) / (np.exp(t) - np.exp(t - b))
        for a in (1.5, 2.0, 12.0):
            family = np.logaddexp(np.log(p) + a * t, np.log1p(-p) + a * (t - b)) / (a - 1)
            ours = renyi(BoundedRange(b), a)[0]
            assert family.max() <= ours * (1 + 1e-9) and ours == pytest.approx(
                family.max(), rel=1e-6
            )


def test_a_bundle_without_noise_costs_everything():
    event = PoissonBundle(0.0, (0.5,), 0.05)
    orders = np.array([1.0001, 2.0, 512.0])
    assert np.isinf(cost(event, "rdp", "add_remove")(event, orders, "add_remove")).all()


def test_bounded_range_beats_the_pure_bound_four_times():
    small = renyi(BoundedRange(0.01), 2.0)[0]
    assert small == pytest.approx(pure_renyi(0.01, np.array([2.0]))[0] / 4, rel=1e-3)


def test_kink_of_pure_privacy_touches_the_gaussian_curve():
    for epsilon in (0.01, 1.0, 5.0, 50.0):
        error = 1 / (1 + math.exp(epsilon))
        assert norm.cdf(-pure_mu(epsilon) / 2) == pytest.approx(error, rel=1e-9)
    assert pure_mu(0.01) == pytest.approx(0.01 * math.sqrt(math.pi / 2), rel=1e-3)


def test_profile_of_pure_privacy_next_to_a_gaussian():
    """Brute force over the four kinds of outcome mass of randomised response x Gaussian."""
    script = ((PureDP(0.7), 1), (Gaussian(2.0), 1))
    x = np.linspace(-12, 14, 400001)
    for epsilon in (0.1, 0.8, 1.5):
        yes = 1 / (1 + math.exp(-0.7))
        mass = 0.0
        for p, q in ((yes, 1 - yes), (1 - yes, yes)):
            gap = p * norm.pdf(x, 0.5) - math.exp(epsilon) * q * norm.pdf(x)
            mass += trapezoid(np.maximum(gap, 0), x)
        assert accountants.delta(script, epsilon, accountant="profile") == pytest.approx(
            mass, rel=1e-6
        )


def test_laplace_profile():
    assert accountants.delta(((Laplace(1.0), 1),), 0.4, accountant="profile") == pytest.approx(
        -math.expm1(-0.3)
    )
    assert accountants.delta(((Laplace(1.0), 1),), 1.0, accountant="profile") == 0


def test_random_position_averages():
    event = RandomPosition((0.2, 0.8), (1.0, 4.0))
    average = 0.2 * gaussian_delta(1.5, 1.0) + 0.8 * gaussian_delta(1.5, 0.25)
    assert accountants.delta(((event, 1),), 1.5) == pytest.approx(average, rel=1e-12)
    assert accountants.choose(((event, 1),)) == "profile"
    joined = ((event, 1), (Gaussian(2.0), 1))
    average = 0.2 * gaussian_delta(1.5, math.sqrt(1.25)) + 0.8 * gaussian_delta(
        1.5, math.sqrt(0.0625 + 0.25)
    )
    assert accountants.delta(joined, 1.5) == pytest.approx(average, rel=1e-12)
    exact = accountants.epsilon(((event, 1),), 1e-6)
    assert accountants.epsilon(((event, 1),), 0.0, accountant="profile") == math.inf
    assert exact < accountants.epsilon(((event, 1),), 1e-6, accountant="rdp")
    assert exact < accountants.epsilon(((event, 1),), 1e-6, accountant="gdp")


@given(st.floats(1e-3, 5), st.floats(-15, -2))
def test_conversion_is_above_the_exact_cost_and_inverts(mu, log_delta):
    delta = 10**log_delta
    proved = renyi_epsilon(lambda a: a * mu * mu / 2, delta)
    exact = gaussian_epsilon(mu, delta)
    assert exact <= proved * (1 + 1e-9) + 1e-12
    if proved > 0:
        assert renyi_delta(lambda a: a * mu * mu / 2, proved) == pytest.approx(delta, rel=1e-6)


def test_real_orders_beat_whole_ones_at_small_epsilon():
    """Scanning orders 2..500 alone loses where the best order is far above."""
    orders = np.arange(2, 501.0)
    rho_whole = (budget_at(0.01, 1e-8, orders) / orders).max()
    from skdp.privacy import Filter, Spec

    assert Filter(Spec(0.01, 1e-8), "zcdp").total > 1.01 * rho_whole


def test_the_older_conversion_is_caught_as_looser():
    """Mironov's conversion R + log(1/delta)/(a-1) gives the printed 5.2985 where ours gives 4.728."""
    older = min(0.5 * a + math.log(1e5) / (a - 1) for a in np.linspace(1.1, 40, 4000))
    ours = renyi_epsilon(lambda a: 0.5 * a, 1e-5)
    assert older == pytest.approx(5.29852591219, rel=1e-6) and ours < 0.9 * older


EXTREMES = (
    lambda z: PoissonGaussian(z, 0.01),
    lambda z: PoissonGaussian(z, 1e-4),
    lambda z: WithoutReplacementGaussian(z, 0.01),
    lambda z: BoundedRange(1 / z),
    lambda z: Laplace(z),
    lambda z: Gaussian(z),
)


@pytest.mark.parametrize("build", EXTREMES)
def test_corners_are_finite_ordered_and_silent(build):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for delta, steps in ((1e-3, 1), (1e-15, 10**6)):
            prices = [
                accountants.epsilon(((build(z), steps),), delta, "replace_one", "rdp")
                for z in (1e-2, 0.3, 10.0, 1e4)
            ]
            assert all(math.isfinite(p) for p in prices)
            assert prices == sorted(prices, reverse=True)
