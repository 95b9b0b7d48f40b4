"""The accountants against closed forms and against each other, where two of them price one script."""

import math
from itertools import pairwise

import numpy as np
import pytest
from _truth import sampled_once
from scipy.stats import binom, norm

from skdp.exceptions import NotSupported
from skdp.privacy import Spec, accountants, calibrate
from skdp.privacy._gaussian import gaussian_delta
from skdp.privacy._pld_compose import compose
from skdp.privacy._pld_pairs import RemovePair
from skdp.privacy._pld_plan import plan_for_epsilon
from skdp.privacy.events import (
    AboveThreshold,
    Gaussian,
    PoissonGaussian,
    PureDP,
    RandomPosition,
    WithoutReplacementGaussian,
)
from skdp.privacy.ledger import Ledger

TIGHT = 1e-3  # relative: how far epsilon of a loss distribution may lie above the truth


def between(ours, exact):
    """Never below the truth, and not far above it."""
    assert exact * (1 - 1e-9) <= ours <= exact * (1 + TIGHT)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5])
def test_randomised_response_composes_to_a_binomial(epsilon):
    one, count = 0.1, 60
    yes = binom.pmf(np.arange(count + 1), count, 1 / (1 + math.exp(-one)))
    loss = (2 * np.arange(count + 1) - count) * one
    exact = (yes * np.maximum(-np.expm1(epsilon - loss), 0)).sum()
    assert accountants.delta(((PureDP(one), count),), epsilon, accountant="pld") >= exact
    between(accountants.epsilon(((PureDP(one), count),), exact, accountant="pld"), epsilon)


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize(("pure", "multiplier"), [(0.1, 1.0), (1.0, 5.0), (2.0, 0.7)])
def test_loss_distribution_of_a_pure_step_beside_a_gaussian(pure, multiplier, neighbors):
    script = ((PureDP(pure), 1), (Gaussian(multiplier), 1))
    exact = accountants.epsilon(script, 1e-6, neighbors, "profile")
    between(accountants.epsilon(script, 1e-6, neighbors, "pld"), exact)


@pytest.mark.parametrize(("z", "q"), [(0.6, 0.01), (1.0, 0.3), (3.0, 0.9)])
def test_one_poisson_step_in_closed_form(z, q):
    """Both directions under add/remove: solve for where the losses cross epsilon."""
    epsilon = 0.05

    x = (math.log((math.expm1(epsilon) + q) / q) + 1 / (2 * z * z)) * z * z
    remove = (
        (1 - q) * norm.sf(x / z) + q * norm.sf((x - 1) / z) - math.exp(epsilon) * norm.sf(x / z)
    )
    add = 0.0
    if math.exp(-epsilon) > 1 - q:
        y = (math.log((math.exp(-epsilon) - 1 + q) / q) + 1 / (2 * z * z)) * z * z
        mixed = (1 - q) * norm.cdf(y / z) + q * norm.cdf((y - 1) / z)
        add = norm.cdf(y / z) - math.exp(epsilon) * mixed
    script = ((PoissonGaussian(z, q), 1),)
    between(accountants.delta(script, epsilon, "add_remove"), max(remove, add))


def test_one_step_without_replacement_is_the_note_s_value():
    spent = accountants.delta(((WithoutReplacementGaussian(8.0, 0.1), 1),), 0.05)
    assert spent == pytest.approx(6.2242558551e-4, rel=TIGHT) and spent >= 6.22425585e-4


SCRIPTS = [
    ((PoissonGaussian(1.0, 0.01), 500),),
    ((PoissonGaussian(4.0, 0.2), 50),),
    ((PoissonGaussian(1.0, 0.01), 100), (Gaussian(6.0), 2)),
    ((PoissonGaussian(1.0, 0.01), 100), (PureDP(0.05), 5)),
    ((Gaussian(8.0), 1), (PureDP(0.2), 4)),
]


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("script", SCRIPTS, ids=range(len(SCRIPTS)))
def test_the_automatic_choice_is_the_tightest(script, neighbors):
    chosen = accountants.epsilon(script, 1e-6, neighbors)
    for name in ("pld", "rdp", "gdp", "zcdp"):
        try:
            other = accountants.epsilon(script, 1e-6, neighbors, name)
        except ValueError:
            continue
        assert chosen <= other * (1 + 1e-9)
    sampled = any(isinstance(event, PoissonGaussian) for event, _ in script)
    assert accountants.choose(script, neighbors) == ("pld" if sampled else "profile")


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_sampled_scripts_are_monotone_in_noise_rate_and_steps(neighbors):
    def price(z=1.0, q=0.02, steps=100):
        return accountants.epsilon(((PoissonGaussian(z, q), steps),), 1e-6, neighbors)

    for prices in (
        [price(z=z) for z in (4.0, 1.5, 1.0, 0.99, 0.6)],
        [price(q=q) for q in (1e-4, 1e-3, 0.02, 0.0201, 0.5, 1.0)],
        [price(steps=t) for t in (1, 10, 100, 101, 1000)],
    ):
        assert all(a < b for a, b in pairwise(prices))


def test_a_sampled_fit_of_the_whole_budget_is_admitted_alone():
    spec = Spec(1.0, 1e-6)
    scale, _ = calibrate(lambda s: ((PoissonGaussian(s, 0.01), 200),), spec)
    fit = ((PoissonGaussian(scale, 0.01), 200),)
    ledger = Ledger(1.0, 1e-6)
    ledger.reserve(fit)
    assert ledger.spent == pytest.approx(1.0, rel=1e-4) and ledger.remaining == 0


def test_a_shared_ledger_takes_the_order_that_suits_its_first_sampled_fit():
    fit = ((PoissonGaussian(1.0, 0.01), 20),)
    ledger = Ledger(2.0, 1e-6)
    for _ in range(10):
        ledger.reserve(fit)
    together = accountants.epsilon(((PoissonGaussian(1.0, 0.01), 200),), 1e-6, accountant="rdp")
    assert together <= ledger.spent <= 1.15 * together


RARE = [
    (((PoissonGaussian(3.0, 1e-5), 1000),), 0.1, "replace_one"),
    (((PoissonGaussian(3.0, 1e-5), 1000),), 0.5, "replace_one"),
    (((PoissonGaussian(3.0, 1e-5), 1000),), 2.0, "add_remove"),  # raised an IndexError
    (((PoissonGaussian(3.0, 1e-4), 1000),), 0.1, "add_remove"),
    (((AboveThreshold(0.2, 0.1), 2),), 0.3, "replace_one"),
]


@pytest.mark.parametrize(("script", "epsilon", "neighbors"), RARE)
def test_delta_is_the_least_of_all_engines(script, epsilon, neighbors):
    others = []
    for name in accountants.ACCOUNTANTS[1:]:
        try:
            others.append(accountants.delta(script, epsilon, neighbors, name))
        except NotSupported:
            continue
    assert len(others) >= 2
    assert accountants.delta(script, epsilon, neighbors) == min(others)


def test_a_window_without_any_mass_says_no_less_than_the_truth():
    """Most windows cannot see so small a delta: they must not fail, nor say less."""
    script, pairs = ((PoissonGaussian(3.0, 1e-5), 1000),), [(RemovePair(1 / 3, 1e-5), 1000)]
    true = sampled_once("remove", 3, 1e-5, 2)
    for most in (20.0, 0.7, 1e-4):
        assert true <= compose(pairs, plan_for_epsilon(pairs, 2.0, 2e-5, most)).delta(2.0) <= 1.0
    assert accountants.delta(script, 2.0, "add_remove", "pld") >= sampled_once("remove", 3, 1e-5, 2)
    curve = accountants.profile(script, [0.1, 0.5, 1.0, 2.0], "add_remove")
    assert (np.diff(curve) <= 0).all() and 0 < curve[-1] < 1e-50


def test_a_sparse_vector_beside_sampled_steps_takes_its_stand_in():
    script = ((AboveThreshold(0.2, 0.1), 1), (PoissonGaussian(1.0, 0.01), 1000))
    prices = {
        name: accountants.epsilon(script, 1e-6, "add_remove", name)
        for name in ("auto", "pld", "rdp")
    }
    pure = ((PureDP(0.4), 1), script[1])
    assert prices["auto"] == prices["pld"] < 0.99 * prices["rdp"]
    assert prices["pld"] == pytest.approx(accountants.epsilon(pure, 1e-6, "add_remove"), rel=1e-9)
    many = ((AboveThreshold(0.02, 0.01), 60),)
    assert accountants.choose(many) == "rdp"


def test_two_random_positions_cost_less_than_their_worst_position():
    script = ((RandomPosition((0.5, 0.5), (1.0, 3.0)), 2),)
    worst = accountants.epsilon(((Gaussian(1.0), 2),), 1e-6)
    parts = [(0.25, 2.0), (0.5, 10 / 9), (0.25, 2 / 9)]
    found = accountants.epsilon(script, 1e-6)
    exact = sum(w * gaussian_delta(found, math.sqrt(square)) for w, square in parts)
    assert found < 0.97 * worst and exact == pytest.approx(1e-6, rel=1e-9) and exact <= 1e-6
