"""Events with listed answers, and pairs that their users prove: against enumeration and closed forms."""

import itertools
import math

import mpmath as mp
import numpy as np
import pytest

from skdp.exceptions import NotSupported
from skdp.privacy import delta, epsilon, from_dp_event, to_dp_event
from skdp.privacy._gaussian import gaussian_delta
from skdp.privacy._pld import delta as pld_delta
from skdp.privacy.events import (
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    PoissonGaussian,
    PureDP,
    RandomizedResponse,
    WorstPair,
)

ADD, REPLACE = "add_remove", "replace_one"
EPSILONS = (0.0, 0.1, 0.4, 1.0)


def stick(p, q, eps):
    return float(np.maximum(np.asarray(p) - math.exp(eps) * np.asarray(q), 0.0).sum())


def power(law, count):
    out = np.ones(1)
    for _ in range(count):
        out = np.multiply.outer(out, law).ravel()
    return out


def shifted(mass, shift, eps):
    """Hockey stick of integer noise around `shift` and around 0, summed to 40 digits."""
    with mp.workdps(40):
        whole = mp.fsum(mass(k) for k in range(-400, 401))
        terms = (mass(k - shift) - mp.e ** mp.mpf(eps) * mass(k) for k in range(-400, 401 + shift))
        return float(mp.fsum(max(t, 0) for t in terms) / whole)


def gaussian(sd):
    return lambda k: mp.exp(-(mp.mpf(k) ** 2) / (2 * mp.mpf(sd) ** 2))


def laplace(scale):
    return lambda k: mp.exp(-abs(mp.mpf(k)) / mp.mpf(scale))


@pytest.mark.parametrize("neighbors", [ADD, REPLACE])
@pytest.mark.parametrize(
    ("event", "mass"),
    [
        (DiscreteGaussian(2.0), gaussian(2.0)),
        (DiscreteGaussian(0.7, 2), gaussian(0.7)),
        (DiscreteGaussian(15.0, 4), gaussian(15.0)),
        (DiscreteLaplace(3.0), laplace(3.0)),
        (DiscreteLaplace(8.0, 5), laplace(8.0)),
    ],
    ids=lambda given: "" if callable(given) else repr(given),
)
def test_integer_noise_costs_what_its_sums_say(event, mass, neighbors):
    for eps in EPSILONS:
        true = shifted(mass, event.shift, eps)
        found = pld_delta(((event, 1),), eps, neighbors)
        assert true * (1 - 1e-12) <= found <= true * (1 + 2e-3) + 1e-13


@pytest.mark.parametrize("shift", [1, 2, 3])
def test_a_smaller_shift_never_tells_more(shift):
    """What `shift` promises of all smaller ones, of either sign."""
    for mass in (gaussian(2.0), laplace(2.0)):
        for eps in EPSILONS:
            told = [shifted(mass, s, eps) for s in range(-shift, shift + 1)]
            assert max(told) <= told[-1] * (1 + 1e-12)


def power_of(one, other):
    return np.multiply.outer(one, other).ravel()


@pytest.mark.parametrize("categories", [2, 3, 10])
def test_categories_by_enumeration(categories):
    event = RandomizedResponse(1.2, categories)
    odds = math.exp(-1.2)
    p = np.full(categories, odds)
    p[0] = 1.0
    p /= p.sum()
    q = np.roll(p, 1)
    for count, eps in itertools.product((1, 2, 3), EPSILONS):
        true = stick(power(p, count), power(q, count), eps)
        found = delta(((event, count),), eps, REPLACE)
        assert true * (1 - 1e-12) <= found <= true * (1 + 2e-3) + 1e-13
    if categories > 2:
        assert epsilon(((event, 30),), 1e-6) < 0.97 * epsilon(((PureDP(1.2), 30),), 1e-6)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_any_pair_is_composed_as_enumeration_says(count):
    rng = np.random.default_rng(count)
    for _ in range(6):
        p, q = (rng.dirichlet(np.full(4, 0.8)) for _ in range(2))
        event = WorstPair(tuple(p), tuple(q))
        for eps in EPSILONS:
            p_n, q_n = power(p, count), power(q, count)
            removing, adding = stick(p_n, q_n, eps), stick(q_n, p_n, eps)
            found = delta(((event, count),), eps, ADD)
            assert max(removing, adding) * (1 - 1e-12) <= found
            assert found <= max(removing, adding) * (1 + 5e-3) + 1e-12
            both = delta(((event, count),), eps, REPLACE)
            assert both >= found * (1 - 1e-9)


def test_under_replace_one_steps_may_point_either_way():
    """One step where P comes first and one where Q does: no direction alone covers both."""
    p, q = np.array([0.75, 0.03, 0.22]), np.array([0.78, 0.04, 0.18])
    event = WorstPair(tuple(p), tuple(q))
    mixed = [stick(power_of(p, q), power_of(q, p), eps) for eps in EPSILONS]
    both = [delta(((event, 2),), eps, REPLACE) for eps in EPSILONS]
    apart = [delta(((event, 2),), eps, ADD) for eps in EPSILONS]
    assert all(m <= b for m, b in zip(mixed, both))
    assert any(m > a * (1 + 1e-6) for m, a in zip(mixed, apart))


def test_what_is_missing_is_seen_for_certain():
    event = WorstPair((0.5, 0.4), (0.5, 0.5))
    assert delta(((event, 1),), 5.0, ADD) == pytest.approx(0.1)
    assert epsilon(((event, 1),), 0.0, ADD) == math.inf


class TestWaysToGiveOne:
    def test_by_densities_on_a_lattice(self):
        k = np.arange(-80, 82)
        given = WorstPair.from_log_densities(-((k - 1) ** 2) / 18.0, -(k**2) / 18.0)
        for eps in EPSILONS:
            direct = delta(((DiscreteGaussian(3.0), 2),), eps, ADD)
            assert delta(((given, 2),), eps, ADD) == pytest.approx(direct, rel=2e-3, abs=1e-12)

    def test_by_a_profile(self):
        at = np.linspace(0.0, 4.0, 200)
        given = WorstPair.from_profile(at, gaussian_delta(at, 0.5))
        for eps in EPSILONS:
            one = delta(((given, 1),), eps, REPLACE)
            assert one >= gaussian_delta(eps, 0.5) and one == pytest.approx(
                gaussian_delta(eps, 0.5), rel=1e-2
            )
            assert delta(((given, 4),), eps, REPLACE) >= gaussian_delta(eps, 1.0)

    def test_by_a_tradeoff_curve(self):
        tanh = math.tanh(0.5)
        corner = 1 / (1 + math.e)
        given = WorstPair.from_tradeoff((0.0, corner, 1.0), (1.0, corner, 0.0))
        for eps in EPSILONS:
            assert delta(((given, 3),), eps) == pytest.approx(
                delta(((PureDP(1.0), 3),), eps), rel=1e-3, abs=1e-12
            )
        assert delta(((given, 1),), 0.0) == pytest.approx(tanh)

    @pytest.mark.parametrize(
        "bad",
        [
            lambda: WorstPair((0.5, 0.5), (1.0,)),
            lambda: WorstPair((), ()),
            lambda: WorstPair((0.9, 0.9), (0.5, 0.5)),
            lambda: WorstPair.from_profile([0.0, 1.0, 2.0], [0.1, 0.4, 0.0]),
            lambda: WorstPair.from_profile([0.5, 1.0], [0.1, 0.0]),
            lambda: WorstPair.from_profile([0.0, 0.01], [0.9, 0.0]),
            lambda: WorstPair.from_tradeoff([0.0, 0.5, 1.0], [1.0, 0.9, 0.0]),
            lambda: WorstPair.from_tradeoff([0.1, 1.0], [1.0, 0.0]),
            lambda: DiscreteGaussian(2.0, 0),
            lambda: RandomizedResponse(1.0, 1),
        ],
    )
    def test_what_is_no_pair_is_refused(self, bad):
        with pytest.raises(ValueError, match=r"must|give one|No pair|at most 1"):
            bad()


def test_it_composes_with_all_else():
    script = (
        (DiscreteGaussian(8.0), 10),
        (PoissonGaussian(1.5, 0.02), 50),
        (RandomizedResponse(0.1, 4), 3),
        (Gaussian(20.0), 1),
    )
    whole = epsilon(script, 1e-6, ADD)
    alone = [epsilon((run,), 1e-6, ADD) for run in script]
    assert max(alone) < whole < sum(alone)


def test_wide_integer_noise_costs_about_what_continuous_noise_does():
    for event, twin in (
        (DiscreteGaussian(40.0), Gaussian(40.0)),
        (DiscreteLaplace(60.0, 3), Laplace(20.0)),
    ):
        one, other = (epsilon(((e, 50),), 1e-6, ADD) for e in (event, twin))
        assert one == pytest.approx(other, rel=2e-3)
    assert epsilon(((DiscreteGaussian(1e9, 10**8), 50),), 1e-6) > 0  # by divergences
    assert epsilon(((DiscreteGaussian(math.inf), 50), (DiscreteLaplace(math.inf), 1)), 1e-6) == 0
    assert epsilon(((DiscreteGaussian(0.0), 1),), 1e-6) == math.inf


def test_events_that_dp_accounting_has_are_read_and_written():
    dpa = pytest.importorskip("dp_accounting")
    from dp_accounting.pld import PLDAccountant

    relations = dpa.NeighboringRelation
    pairs = (
        (((DiscreteLaplace(4.0, 2), 5),), ADD, relations.ADD_OR_REMOVE_ONE),
        (((RandomizedResponse(0.7, 6), 9),), REPLACE, relations.REPLACE_ONE),
    )
    for script, neighbors, told in pairs:
        event = to_dp_event(script, neighbors)
        ((back, count),) = from_dp_event(event, neighbors)  # listed or repeated
        assert count == script[0][1] and back.noise == pytest.approx(script[0][0].noise, rel=1e-12)
        theirs = PLDAccountant(told).compose(event).get_epsilon(1e-6)
        assert epsilon(script, 1e-6, neighbors) == pytest.approx(theirs, rel=1e-3)
        with pytest.raises(NotSupported):
            to_dp_event(script, REPLACE if neighbors == ADD else ADD)
