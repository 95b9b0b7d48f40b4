"""The Gaussian profile against 60 digits, and its inverse, over the whole range."""

import math
import warnings

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import erfcx, ndtr

from skdp.privacy._gaussian import (
    gaussian_delta,
    gaussian_epsilon,
    gaussian_log_delta,
    gaussian_mu,
)

EPSILONS = (1e-4, 1e-3, 0.1, 1.0, 5.0, 30.0, 100.0)
MUS = (1e-4, 1e-2, 0.3, 1.0, 5.0, 13.0, 100.0)
DELTAS = (1e-3, 1e-6, 1e-12, 1e-15)


def exact_log_delta(epsilon, mu):
    with mp.workdps(60):
        e, m = mp.mpf(epsilon), mp.mpf(mu)
        value = mp.ncdf(m / 2 - e / m) - mp.exp(e) * mp.ncdf(-m / 2 - e / m)
        return float(mp.log(value)) if value > 0 else -math.inf


@pytest.mark.parametrize("mu", MUS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_profile_to_sixty_digits(epsilon, mu):
    if (epsilon / mu) > 38:  # delta below 1e-300: sixty digits of cancellation are not enough
        assert gaussian_log_delta(epsilon, mu) < -690
        return
    exact = exact_log_delta(epsilon, mu)
    # an absolute error of log delta is a relative error of delta; the exponent itself is rounded
    assert gaussian_log_delta(epsilon, mu) == pytest.approx(exact, rel=1e-15, abs=5e-13)


def test_profile_is_accurate_where_it_is_used():
    """Relative error of delta below 1e-13 wherever 1e-15 <= delta."""
    rng = np.random.default_rng(0)
    for delta, epsilon in zip(10 ** rng.uniform(-15, -1, 60), 10 ** rng.uniform(-4, 2, 60)):
        mu = gaussian_mu(epsilon, delta)
        error = gaussian_log_delta(epsilon, mu) - exact_log_delta(epsilon, mu)
        assert abs(error) < 1e-13


def test_the_textbook_difference_would_fail():
    """The check above can fail: the two-term formula has lost half its digits by (1, .15)."""
    epsilon, mu = 1.0, 0.13
    naive = ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)
    assert abs(math.log(naive) - exact_log_delta(epsilon, mu)) > 1e-13
    assert abs(gaussian_log_delta(epsilon, mu) - exact_log_delta(epsilon, mu)) < 1e-13


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_inverse_errs_on_the_private_side(epsilon, delta):
    mu = gaussian_mu(epsilon, delta)
    assert exact_log_delta(epsilon, mu) <= math.log(delta)
    assert exact_log_delta(epsilon, mu * (1 + 1e-11)) > math.log(delta)
    assert gaussian_epsilon(mu, delta) == pytest.approx(epsilon, rel=1e-11)


@given(st.floats(1e-4, 100), st.floats(1e-2, 1e2), st.floats(1.001, 3))
def test_more_noise_never_costs_more(epsilon, mu, factor):
    assert gaussian_delta(epsilon, mu / factor) <= gaussian_delta(epsilon, mu) * (1 + 1e-12)
    assert gaussian_delta(epsilon * factor, mu) <= gaussian_delta(epsilon, mu) * (1 + 1e-12)


@given(st.floats(1e-3, 20), st.floats(1e-2, 10))
def test_negative_epsilon_is_the_mirror(epsilon, mu):
    mirrored = 1 - math.exp(-epsilon) + math.exp(-epsilon) * gaussian_delta(epsilon, mu)
    assert gaussian_delta(-epsilon, mu) == pytest.approx(mirrored, rel=1e-12)


@pytest.mark.parametrize("lost", [1e-15, 1e-12, 1e-9, 1e-3, 0.3])
@pytest.mark.parametrize("epsilon", [1e-15, 1e-12, 1e-6, 1e-2])
def test_a_delta_near_one_beside_a_tiny_epsilon(epsilon, lost):
    """There delta is erf(mu / 2^1.5) but for epsilon, and only its distance from one has digits."""
    delta = 1.0 - lost
    mu = gaussian_mu(epsilon, delta)
    with mp.workdps(60):
        closed = 2 ** mp.mpf(1.5) * mp.erfinv(mp.mpf(delta))
        assert mu == pytest.approx(float(closed), rel=3e-12 + epsilon)
    assert gaussian_epsilon(mu, delta) <= epsilon
    assert exact_log_delta(epsilon, mu) <= mp.log(mp.mpf(delta))
    assert exact_log_delta(gaussian_epsilon(mu * 1.5, delta), mu * 1.5) <= mp.log(mp.mpf(delta))


def test_the_complement_of_delta_keeps_its_digits():
    """The formula of Mills ratios alone has none left of 1 - delta where delta is near one."""
    with mp.workdps(60):
        for mu in (3.0, 8.0, 14.0):
            lost = float(-mp.log(mp.erf(mu / mp.mpf(2) ** 1.5)))
            assert -gaussian_log_delta(0.0, mu) == pytest.approx(lost, rel=1e-13)
            naive = math.log(math.sqrt(math.pi / 2) * (erfcx(-mu / 8**0.5) - erfcx(mu / 8**0.5)))
            naive -= mu * mu / 8 + 0.5 * math.log(2 * math.pi)
            assert mu == 3.0 or abs(naive + lost) > 1e-12 * lost


def test_ends_of_the_range():
    assert gaussian_delta(1.0, 0.0) == 0 and gaussian_delta(1.0, math.inf) == 1
    assert gaussian_delta(math.inf, math.inf) == 0
    assert gaussian_epsilon(0.0, 1e-6) == 0 and gaussian_epsilon(1.0, 0.0) == math.inf
    assert gaussian_epsilon(1e-9, 1e-3) == 0
    assert gaussian_mu(1.0, 0.0) == 0 and gaussian_mu(math.inf, 1e-6) == math.inf


def test_a_million_steps_and_the_corners_are_finite_and_ordered():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for delta in DELTAS:
            previous = 0.0
            for mu in np.logspace(-7, 5, 37):
                epsilon = gaussian_epsilon(mu, delta)
                assert previous <= epsilon < math.inf
                previous = epsilon


def test_arrays_broadcast():
    epsilons, mus = np.array([[-1.0], [0.5], [3.0]]), np.array([0.1, 1.0, 20.0, 0.0])
    table = gaussian_delta(epsilons, mus)
    assert table.shape == (3, 4)
    for i, epsilon in enumerate(epsilons.ravel()):
        for j, mu in enumerate(mus):
            assert table[i, j] == gaussian_delta(epsilon, mu)
