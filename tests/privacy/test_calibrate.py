"""Calibration: the smallest scale, on the private side, by whatever theorem covers the script."""

import math

import pytest
from event_samples import SAMPLES, name
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import erfinv

from skdp.exceptions import NotSupported
from skdp.privacy import NEIGHBORS, Spec, accountants, calibrate, epsilon_spent, noise_multiplier
from skdp.privacy._calibrate import calibrate_scale
from skdp.privacy._gaussian import gaussian_mu
from skdp.privacy.events import Gaussian, PoissonGaussian, PureDP, scaled

SPEC = Spec(1.0, 1e-6)


def _works(event, neighbors):
    try:
        accountants.epsilon(((event, 1),), 1e-6, neighbors)
    except NotSupported:
        return False
    return True


CASES = [
    pytest.param(event, neighbors, id=f"{name(event)}-{neighbors}")
    for event in SAMPLES
    for neighbors in NEIGHBORS
    if event.scalable and _works(event, neighbors)
]


@pytest.mark.parametrize(("event", "neighbors"), CASES)
def test_every_event_is_calibrated_tightly_and_privately(event, neighbors):
    spec = Spec(0.7, 1e-6, neighbors)
    scale, script = calibrate(lambda s: ((event.scaled(s), 3),), spec)
    assert script == ((event.scaled(scale), 3),)
    spent, looser = (
        accountants.epsilon(((event.scaled(s), 3),), 1e-6, neighbors)
        for s in (scale, scale * 0.999)
    )
    assert spent <= 0.7 < looser
    assert spent == pytest.approx(0.7, rel=1e-4)


@given(st.floats(1e-3, 50), st.floats(-15, -3), st.integers(1, 10**6))
def test_gaussian_scale_is_closed_form(epsilon, log_delta, steps):
    spec = Spec(epsilon, 10**log_delta)
    scale, _ = calibrate(lambda s: ((Gaussian(s), steps),), spec)
    exact = math.sqrt(steps) / gaussian_mu(epsilon, 10**log_delta)
    assert scale == pytest.approx(exact, rel=1e-11) and scale >= exact
    assert accountants.epsilon(((Gaussian(scale), steps),), spec.delta) <= epsilon


def test_a_gaussian_never_reaches_a_search():
    """The closed route asks for one price, the verification; a search would ask for dozens."""
    asked = []

    def price(script, delta, neighbors, accountant):
        asked.append(script)
        return accountants.epsilon(script, delta, neighbors, accountant)

    calibrate_scale(lambda s: ((Gaussian(s), 123),), SPEC, "auto", price)
    assert len(asked) == 1


def test_a_repeat_is_free():
    asked = []

    def price(script, delta, neighbors, accountant):
        asked.append(script)
        return accountants.epsilon(script, delta, neighbors, accountant)

    def script_at(scale):
        return ((PoissonGaussian(scale, 0.02), 30),)

    first = calibrate_scale(script_at, SPEC, "rdp", price)
    searched = len(asked)
    assert calibrate_scale(script_at, SPEC, "rdp", price) == first
    assert len(asked) == searched + 1 and searched > 3  # only the (cached) verification again


def test_a_script_that_does_not_scale_as_a_whole_is_searched():
    """One step of fixed noise beside steps that scale: the rest must make room for it."""

    def script_at(scale):
        return ((Gaussian(10.0), 1), (Gaussian(scale), 9))

    scale, _ = calibrate(script_at, SPEC)
    mu = math.sqrt(0.01 + 9 / scale**2)
    assert mu == pytest.approx(gaussian_mu(1.0, 1e-6), rel=1e-6)
    assert accountants.epsilon(script_at(scale), 1e-6) <= 1.0


def test_what_no_noise_can_reach_is_said():
    with pytest.raises(NotSupported, match="give a positive delta"):
        calibrate(lambda s: ((Gaussian(s), 1),), Spec(1.0, 0.0))
    with pytest.raises(NotSupported, match="No noise scale brings"):
        calibrate(lambda s: ((PureDP(3.0), 1), (Gaussian(s), 1)), SPEC)


def test_no_promise_needs_no_noise():
    assert calibrate(lambda s: ((Gaussian(s), 1),), Spec(math.inf, 1e-6)) == (
        0.0,
        ((Gaussian(0.0), 1),),
    )
    assert calibrate(lambda s: (), SPEC) == (0.0, ())


def test_pure_scripts_at_delta_zero():
    scale, _ = calibrate(lambda s: ((PureDP(0.5 / s), 8),), Spec(1.0, 0.0))
    assert scale == pytest.approx(4.0, rel=1e-6) and scale >= 4.0


@pytest.mark.parametrize("accountant", ["gdp", "rdp", "zcdp", "auto"])
def test_a_looser_accountant_asks_for_more_noise(accountant):
    exact, _ = calibrate(lambda s: ((Gaussian(s), 10),), SPEC)
    scale, _ = calibrate(lambda s: ((Gaussian(s), 10),), SPEC, accountant)
    assert scale >= exact * (1 - 1e-12)
    assert (scale > 1.05 * exact) == (accountant in ("rdp", "zcdp"))


def test_the_two_public_functions_are_inverse_and_mind_the_relation():
    for neighbors, factor in (("add_remove", 1), ("replace_one", 2)):
        z = noise_multiplier(1.0, 1e-5, neighbors=neighbors)
        assert z == pytest.approx(factor * 3.73063163481594, rel=1e-11)
        assert epsilon_spent(z, 1e-5, neighbors=neighbors) == pytest.approx(1.0, rel=1e-9)
        assert epsilon_spent(z, 1e-5, neighbors=neighbors) <= 1.0
    assert epsilon_spent(2.0, 1e-6, steps=50) == accountants.epsilon(((Gaussian(1.0), 50),), 1e-6)


@pytest.mark.parametrize(
    ("epsilon", "steps"), [(1e-12, 1), (1e-12, 46), (1e-6, 200), (1e-3, 10**6)]
)
def test_a_promise_of_nearly_nothing_has_its_closed_form(epsilon, steps):
    """At delta = 1 - 1e-9 the total variation, erf(mu / 2^1.5), decides alone."""
    delta = 0.999999999
    z = noise_multiplier(epsilon, delta, steps=steps, neighbors="add_remove")
    closed = math.sqrt(steps) / (2**1.5 * erfinv(delta))
    assert z == pytest.approx(closed, rel=1e-8 + 0.1 * epsilon)
    assert epsilon_spent(z, delta, steps=steps, neighbors="add_remove") <= epsilon


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_the_two_public_functions_with_sampling(neighbors):
    z = noise_multiplier(1.0, 1e-6, steps=100, sample_rate=0.05, neighbors=neighbors)
    spent = epsilon_spent(z, 1e-6, steps=100, sample_rate=0.05, neighbors=neighbors)
    assert spent <= 1.0 and spent == pytest.approx(1.0, rel=1e-4)
    assert z < noise_multiplier(1.0, 1e-6, steps=100, neighbors=neighbors) / 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(epsilon=0, delta=1e-6), r"epsilon=0 must be a positive number"),
        (dict(epsilon=1, delta=1.0), r"delta=1.0 must lie in \[0, 1\)"),
        (dict(epsilon=1, delta=1e-6, steps=0), "steps=0 must be a whole number"),
        (dict(epsilon=1, delta=1e-6, sample_rate=0.0), "sample_rate=0.0 must lie in"),
        (dict(epsilon=1, delta=1e-6, neighbors="swap"), "neighbors='swap' is not a relation"),
        (dict(epsilon=math.nan, delta=1e-6), "epsilon=nan"),
    ],
)
def test_senseless_promises_are_refused_with_value_and_remedy(arguments, message):
    with pytest.raises(ValueError, match=message):
        noise_multiplier(**arguments)


def test_profile_and_tradeoff_curves():
    script = ((Gaussian(2.0), 4),)
    deltas = accountants.profile(script, [0.0, 0.5, 2.0, 10.0])
    assert (deltas[:-1] > deltas[1:]).all()
    alphas = [0.0, 0.01, 0.5, 1.0]
    exact = accountants.tradeoff(script, alphas)
    envelope = accountants.tradeoff(script, alphas, accountant="rdp")
    assert (envelope <= exact + 1e-12).all() and exact[0] == 1 and exact[-1] == 0
    assert accountants.tradeoff(((PureDP(1.0), 1),), [1 / (1 + math.e)], accountant="profile")[
        0
    ] == pytest.approx(1 / (1 + math.e), rel=1e-3)


def test_scaling_a_script_scales_every_event():
    script = ((Gaussian(1.0), 2), (PureDP(0.5), 3))
    assert scaled(script, 2.0) == ((Gaussian(2.0), 2), (PureDP(0.25), 3))


def test_a_script_may_be_written_with_lists():
    script = [[Gaussian(20.0), 3], (PureDP(0.1), 2)]
    frozen = ((Gaussian(20.0), 3), (PureDP(0.1), 2))
    for price in (accountants.epsilon, accountants.delta):
        assert price(script, 1e-6) == price(frozen, 1e-6)
    assert accountants.choose(script) == accountants.choose(frozen)
    assert accountants.profile(script, [0.1]) == accountants.profile(frozen, [0.1])
    assert accountants.tradeoff(script, [0.1]) == accountants.tradeoff(frozen, [0.1])


@pytest.mark.parametrize("script", [Gaussian(1.0), [(1.0, 2)], ((Gaussian(1.0),),), 3, "ab"])
def test_what_is_no_script_is_refused_in_one_sentence(script):
    for price in (accountants.epsilon, accountants.delta, accountants.choose):
        with pytest.raises(ValueError, match=r"is not a sequence of \(event, repetitions\)"):
            price(script, *(() if price is accountants.choose else (1e-6,)))
