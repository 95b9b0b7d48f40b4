"""Laws that every event obeys in every currency it is priced in, over the registry."""

import math
import re
from itertools import pairwise
from pathlib import Path

import mpmath
import numpy as np
import pytest
from event_samples import SAMPLES, kinds, name, sample
from hypothesis import given
from hypothesis import strategies as st

from skdp.exceptions import BudgetExceeded, NotSupported
from skdp.privacy import NEIGHBORS, Ledger, accountants, curves, events
from skdp.privacy._compose import reduced
from skdp.privacy._engines import ENGINES
from skdp.privacy.curves import cost, currencies, register
from skdp.privacy.events import (
    Gaussian,
    GaussianAboveThreshold,
    ObjectivePerturbation,
    PoissonGaussian,
    PureDP,
    PureObjectivePerturbation,
    RandomPosition,
    ShuffledEpoch,
    WithoutReplacementGaussian,
    run_lengths,
    tally,
)

DELTA = 1e-6
FAST = tuple(n for n in ENGINES if n != "pld")  # the loss distribution has its own tests


def _supported(event, neighbors):
    counts = reduced(((event, 1),), neighbors)
    return [n for n in FAST if ENGINES[n].supports(counts, neighbors)]


CASES = [
    pytest.param(event, neighbors, accountant, id=f"{name(event)}-{neighbors}-{accountant}")
    for event in SAMPLES
    for neighbors in NEIGHBORS
    for accountant in _supported(event, neighbors)
]


# a profile prices one event beside Gaussians and does not compose with itself
REPEATABLE = [
    case
    for case in CASES
    if case.values[2] != "profile" or isinstance(case.values[0], (Gaussian, ShuffledEpoch))
]


def _plain(event, neighbors):
    return next(iter(reduced(((event, 1),), neighbors)))


RENYI = [
    pytest.param(event, neighbors, id=f"{name(event)}-{neighbors}")
    for event in SAMPLES
    for neighbors in NEIGHBORS
    if "rdp" in currencies(_plain(event, neighbors), neighbors)
]


def test_every_event_of_the_module_has_a_sample():
    declared = {
        getattr(events, n)
        for n in events.__all__
        if isinstance(getattr(events, n), type) and getattr(events, n) is not events.Event
    }
    assert declared <= {type(event) for event in SAMPLES}


def test_every_file_that_registers_costs_is_named_by_the_accountants():
    """A file of costs that nobody imports would leave its events without a price."""
    room = Path(accountants.__file__).parent
    named = {Path(file.__file__) for file in curves.COST_FILES}
    registering = {
        p for p in room.rglob("*.py") if re.search(r"^@?register\(", p.read_text("utf-8"), re.M)
    }
    assert named == registering and len(named) > 3


def test_every_registered_event_of_the_module_is_covered():
    assert set(kinds()) <= {type(event) for event in SAMPLES} and len(kinds()) > 10


def test_a_sample_follows_from_how_numbers_are_declared():
    assert sample(PoissonGaussian) == PoissonGaussian(3.0, 0.1)
    assert sample(PureDP) == PureDP(0.3)
    with pytest.raises(AssertionError, match=r"RenyiDP\.order says nothing of itself"):
        sample(events.RenyiDP)


@pytest.mark.parametrize(("event", "neighbors", "accountant"), REPEATABLE)
def test_k_repetitions_cost_k_compositions(event, neighbors, accountant):
    once = ((event, 1),)
    coded = accountants.epsilon(((event, 5),), DELTA, neighbors, accountant)
    spelled = accountants.epsilon(once * 5, DELTA, neighbors, accountant)
    mixed = accountants.epsilon(((event, 2), *once, (event, 2)), DELTA, neighbors, accountant)
    assert coded == spelled == mixed
    assert coded > accountants.epsilon(once, DELTA, neighbors, accountant)


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_repeated_pure_minimisers_compose_as_pure_steps(neighbors):
    """They once added their epsilons, which is optimal at delta 0 and nowhere else."""
    event = PureObjectivePerturbation(0.1, 0.05)
    alone = accountants.epsilon(((event, 1),), 0.0, neighbors)
    assert accountants.epsilon(((event, 100),), 0.0, neighbors) == pytest.approx(100 * alone)
    together = accountants.epsilon(((event, 100),), 1e-5, neighbors)
    steps = accountants.epsilon(((PureDP(alone), 100),), 1e-5, neighbors)
    assert together == pytest.approx(steps, rel=1e-12)
    assert together < 0.52 * 100 * alone


SCALABLE = [case for case in CASES if case.values[0].scalable]


@pytest.mark.parametrize(("event", "neighbors", "accountant"), SCALABLE)
def test_more_noise_never_costs_more_and_infinite_noise_is_free(event, neighbors, accountant):
    def price(scale):
        return accountants.epsilon(((event.scaled(scale), 1),), DELTA, neighbors, accountant)

    prices = [price(scale) for scale in (0.0, 0.1, 0.5, 1.0, 1.01, 3.0, 100.0, math.inf)]
    assert prices == sorted(prices, reverse=True)
    assert prices[0] == math.inf and prices[-1] == 0.0
    assert prices[3] > prices[5]


@pytest.mark.parametrize(("event", "neighbors", "accountant"), CASES)
def test_delta_inverts_epsilon(event, neighbors, accountant):
    script = ((event, 1),)
    epsilon = accountants.epsilon(script, DELTA, neighbors, accountant)
    assert epsilon > 0
    assert accountants.delta(script, epsilon, neighbors, accountant) == pytest.approx(
        DELTA, rel=1e-6
    )


# its bound adds the branches of a proof, whose logarithm over order - 1 is endless near order one
COUNTED = (ObjectivePerturbation,)


@pytest.mark.parametrize(("event", "neighbors"), RENYI)
def test_divergence_grows_with_the_order_and_stays_below_zcdp_and_pure(event, neighbors):
    orders = np.concatenate([1 + np.logspace(-4, 0, 9), np.arange(3.0, 40.0), [100.0, 1000.0]])
    plain = _plain(event, neighbors)
    divergence = cost(plain, "rdp", neighbors)(plain, orders, neighbors)
    grows = (np.diff(divergence) >= -1e-9 * divergence[1:]).all()
    assert grows != isinstance(event, COUNTED) and (divergence >= 0).all()
    for currency, bound in (("zcdp", orders), ("pure", np.ones(len(orders)))):
        if currency in currencies(plain, neighbors):
            limit = cost(plain, currency, neighbors)(plain, neighbors) * bound
            assert (divergence <= limit * (1 + 1e-9)).all()


def test_refusals_name_the_event_and_what_would_work():
    wor = ((WithoutReplacementGaussian(2.0, 0.1), 3),)
    with pytest.raises(NotSupported, match=r"WithoutReplacementGaussian.*other neighbour relation"):
        accountants.epsilon(wor, DELTA, "add_remove")
    with pytest.raises(NotSupported, match=r"PoissonBundle.*under replace_one"):
        accountants.epsilon(((SAMPLES[9], 1),), DELTA, "replace_one", "rdp")
    with pytest.raises(NotSupported, match=r"RandomPosition"):
        accountants.epsilon(((SAMPLES[11], 1),), DELTA, "add_remove")
    with pytest.raises(NotSupported, match=r"PoissonGaussian has no gdp cost.*rdp"):
        cost(PoissonGaussian(1.0, 0.1), "gdp", "add_remove")
    with pytest.raises(NotSupported, match=r"'gdp' cannot price ZCDP.*'rdp', 'zcdp'"):
        accountants.epsilon(((events.ZCDP(0.1), 1),), DELTA, accountant="gdp")
    with pytest.raises(ValueError, match="accountant='moments' is unknown"):
        accountants.epsilon(((Gaussian(1.0), 1),), DELTA, accountant="moments")


def test_a_cost_is_registered_once():
    with pytest.raises(ValueError, match="already has a gdp cost"):
        register(Gaussian, "gdp")(lambda event, neighbors: 0.0)
    with pytest.raises(ValueError, match="currency='euro' is unknown"):
        register(Gaussian, "euro")


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Gaussian(-1.0), "multiplier=-1.0; it must be 0 or more"),
        (lambda: Gaussian("40"), "multiplier='40'; it must be a number, 0 or more"),
        (lambda: Gaussian((40.0,)), "it must be a number, 0 or more"),
        (
            lambda: ObjectivePerturbation(0.1, 0.01, rounds=math.nan),
            "rounds=nan; it must be a whole",
        ),
        (
            lambda: ObjectivePerturbation(0.1, 0.01, rounds=10**400),
            "it must be a whole number, 1 or",
        ),
        (lambda: ObjectivePerturbation(0.1, 0.01, classes=1.5), "classes=1.5; it must be a whole"),
        (lambda: Gaussian(math.nan), "multiplier=nan"),
        (lambda: PoissonGaussian(1.0, 1.5), "rate=1.5; it must be between 0 and 1"),
        (lambda: PureDP(-0.1), "epsilon=-0.1"),
        (lambda: events.RenyiDP(1.0, 0.1), "order=1.0; it must be above 1"),
        (lambda: events.RenyiDP(2.0, -0.1), "divergence=-0.1"),
        (
            lambda: GaussianAboveThreshold(1.0, 1.0, 0),
            "max_queries=0; it must be a whole number, 1 or more",
        ),
        (lambda: GaussianAboveThreshold(1.0, 1.0, 2.5), "must be a whole number"),
        (lambda: RandomPosition((0.5,), (1.0, 2.0)), "1 weights and 2 multipliers"),
        (lambda: RandomPosition((0.5, 0.4), (1.0, 2.0)), "must sum to 1"),
        (lambda: tally(((Gaussian(1.0), -1),)), "repeated -1 times"),
    ],
)
def test_impossible_events_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_next_to_no_noise_costs_more_than_any_budget():
    with pytest.raises(BudgetExceeded):
        Ledger(1.0, 1e-6).reserve(((Gaussian(1e-50), 1),))


def test_an_event_without_a_scale_says_so():
    with pytest.raises(NotSupported, match="RenyiDP has no single noise scale"):
        events.RenyiDP(8.0, 0.1).scaled(2.0)


@pytest.mark.parametrize("event", [Gaussian(2.0), PureDP(0.7), PoissonGaussian(1.0, 0.1)])
def test_a_bound_at_one_order_is_never_below_what_it_bounds(event):
    orders = np.concatenate([np.linspace(1.01, 8.0, 40), [9.0, 30.0, 500.0]])
    exact = cost(event, "rdp", "add_remove")
    bound = events.RenyiDP(8.0, float(exact(event, np.array([8.0]), "add_remove")[0]))
    known = cost(bound, "rdp", "add_remove")(bound, orders, "add_remove")
    assert (known >= exact(event, orders, "add_remove")).all()
    assert np.isinf(known[orders > 8.0]).all() and np.isfinite(known[orders <= 8.0]).all()
    price = accountants.epsilon(((bound, 1),), DELTA, "add_remove")
    assert price >= accountants.epsilon(((event, 1),), DELTA, "add_remove")


def test_scaling_multiplies_the_noise():
    assert Gaussian(2.0).scaled(3.0) == Gaussian(6.0)
    assert PureDP(0.6).scaled(3.0).epsilon == pytest.approx(0.2)
    assert events.ZCDP(0.9).scaled(3.0).rho == pytest.approx(0.1)
    assert events.PoissonBundle(1.0, (0.4, 0.2), 0.1).scaled(2.0) == events.PoissonBundle(
        2.0, (0.2, 0.1), 0.1
    )


@given(st.lists(st.sampled_from(SAMPLES), max_size=30))
def test_run_lengths_spell_the_same_script(sequence):
    coded = run_lengths(sequence)
    assert [event for event, count in coded for _ in range(count)] == sequence
    assert all(a != b for (a, _), (b, _) in pairwise(coded))


@given(st.floats(0.3, 30), st.floats(1e-3, 0.9), st.integers(1, 200))
def test_sampling_less_never_costs_more(z, rate, steps):
    for neighbors in NEIGHBORS:
        dense, sparse, never, all_ = (
            accountants.epsilon(((PoissonGaussian(z, q), steps),), DELTA, neighbors, "rdp")
            for q in (rate, rate / 2, 0.0, 1.0)
        )
        assert never == 0 and sparse <= dense * (1 + 1e-9) <= all_ * (1 + 2e-9)


@given(st.floats(0.3, 30), st.floats(1e-3, 1.0), st.integers(1, 200))
def test_replacing_costs_at_least_removing(z, rate, steps):
    script = ((PoissonGaussian(z, rate), steps),)
    remove, replace = (
        accountants.epsilon(script, DELTA, n, "rdp") for n in ("add_remove", "replace_one")
    )
    assert replace >= remove * (1 - 1e-9)


def test_exact_reductions():
    same = ((Gaussian(2.0), 1),)
    whole = {"replace_one": 4.0, "add_remove": 2.0}
    for neighbors, multiplier in whole.items():
        assert reduced(((PoissonGaussian(multiplier, 1.0), 1),), neighbors) == reduced(
            same, neighbors
        )
    assert reduced(((ShuffledEpoch(2.0), 1),), "replace_one") == reduced(same, "replace_one")
    assert reduced(((Gaussian(4.0), 4),), "replace_one") == reduced(same, "replace_one")
    assert reduced(((WithoutReplacementGaussian(4.0, 1.0), 1),), "replace_one") == reduced(
        same, "replace_one"
    )
    assert reduced(((RandomPosition((0.5, 0.5), (2.0, 2.0)), 1),), "replace_one") == reduced(
        same, "replace_one"
    )
    for rate in (0.0, 1.0):
        everybody = reduced(((events.PoissonPure(0.7, rate), 1),), "add_remove")
        assert everybody == reduced(((PureDP(0.7 * rate), 1),), "add_remove")


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_the_largest_loss_of_a_sampled_pure_step(neighbors):
    def largest(event):
        ((kept, count),) = reduced(((event, 2),), neighbors).items()
        assert count == 2 and kept == event  # it has a pair of its own
        return cost(event, "pure", neighbors)(event, neighbors)

    exact = math.log1p(0.1 * math.expm1(1.0))
    assert exact * (1 + 5e-16) <= largest(events.PoissonPure(1.0, 0.1)) <= exact * (1 + 5e-15)
    faint = largest(events.PoissonPure(701.0, 1e-305))
    with mpmath.workdps(40):
        truth = mpmath.log1p(mpmath.mpf(1e-305) * mpmath.expm1(701))
    assert truth <= faint <= truth * (1 + 1e-12)
    huge = largest(events.PoissonPure(5000.0, 0.5))
    assert huge == pytest.approx(5000 + math.log(0.5), rel=1e-12)


def test_a_shuffled_epoch_is_never_priced_as_a_poisson_sample():
    shuffled = accountants.epsilon(((ShuffledEpoch(1.0), 1),), DELTA, "add_remove")
    assert shuffled == accountants.epsilon(((Gaussian(1.0), 1),), DELTA, "add_remove")
    poisson = accountants.epsilon(((PoissonGaussian(1.0, 0.01), 100),), DELTA, "add_remove", "rdp")
    assert shuffled > 2 * poisson
