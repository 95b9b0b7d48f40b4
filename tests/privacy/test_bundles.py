"""Bundles on one Poisson sample as pairs of their own, against integrals over the noise and enumerated answers."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from _contour import Step, single_delta
from scipy.stats import norm

from skdp.privacy import delta, epsilon
from skdp.privacy._pld import delta as pld_delta
from skdp.privacy._pld_curve_pairs import (
    BundleAddPair,
    BundleRemovePair,
    BundleReplacePair,
    answers_of,
)
from skdp.privacy.events import Gaussian, PoissonBundle, PoissonGaussian, PoissonPure, PureDP

ADD, REPLACE = "add_remove", "replace_one"


def laws(z, epsilons, x):
    """Densities at (answers, noise x) of all steps without the record and with it, one row for each answer."""
    answers = np.array(np.meshgrid(*[[1, -1]] * len(epsilons), indexing="ij")).reshape(
        len(epsilons), -1
    )
    truth = np.array([1 / (1 + math.exp(-e)) for e in epsilons])[:, None]
    with_it = np.prod(np.where(answers > 0, truth, 1 - truth), axis=0)
    without = np.prod(np.where(answers > 0, 1 - truth, truth), axis=0)
    rows = (
        np.multiply.outer(without, norm.pdf(x, 0, z)),
        np.multiply.outer(with_it, norm.pdf(x, 1, z)),
    )
    return rows


def once(z, epsilons, q, removing, eps, points=20_001):
    """Hockey stick of one bundle by a sum over answers and a fine sum over the noise; any real eps."""
    x = np.linspace(-10 * z, 10 * z + 1, points)
    without, with_it = laws(z, epsilons, x)
    p, r = (1 - q) * without + q * with_it, without
    p, r = (p, r) if removing else (r, p)
    return float(np.maximum(p - math.exp(eps) * r, 0).sum() * (x[1] - x[0]))


def twice(z, epsilons, q, removing, eps):
    """Hockey stick of two bundles: mean over the first, of what `once` says on a fine table of epsilons."""
    x = np.linspace(-10 * z, 10 * z + 1, 4_001)
    without, with_it = laws(z, epsilons, x)
    p, r = (1 - q) * without + q * with_it, without
    p, r = (p, r) if removing else (r, p)
    loss = np.log(p / r)
    at = np.linspace(eps - loss.max() - 1e-6, eps - loss.min() + 1e-6, 2500)
    known = np.array([once(z, epsilons, q, removing, e, 4001) for e in at])
    left = np.interp(eps - loss, at, known)
    return float((p * left).sum() * (x[1] - x[0]))


SETTINGS = [(2.0, (0.5,), 0.1), (1.5, (0.2, 0.7), 0.05), (8.0, (0.1,), 0.3)]


@pytest.mark.parametrize(("z", "epsilons", "q"), SETTINGS)
@pytest.mark.parametrize("eps", [0.0, 0.01, 0.05, 0.2])
def test_one_bundle_costs_what_its_answers_and_noise_say(z, epsilons, q, eps):
    found = pld_delta(((PoissonBundle(z, epsilons, q), 1),), eps, ADD)
    true = max(once(z, epsilons, q, side, eps) for side in (True, False))
    assert true * (1 - 1e-5) <= found <= true * (1 + 1e-4)


@pytest.mark.parametrize(("z", "epsilons", "q"), SETTINGS)
def test_two_bundles_cost_what_their_answers_and_noise_say(z, epsilons, q):
    eps = 0.1
    found = pld_delta(((PoissonBundle(z, epsilons, q), 2),), eps, ADD)
    true = max(twice(z, epsilons, q, side, eps) for side in (True, False))
    assert true * (1 - 1e-4) <= found <= true * (1 + 1e-3)


@pytest.mark.parametrize(
    ("event", "count", "price"),
    [  # of the product pair, by a loss distribution of another library
        (PoissonBundle(8.0, (0.1,), 0.1), 500, 1.592),
        (PoissonBundle(1.0, (0.1,), 0.01), 1000, 2.147),
        (PoissonBundle(4.0, (0.5,), 0.05), 200, 1.890),
    ],
)
def test_a_bundle_costs_less_than_by_divergences_and_more_than_two_samples(event, count, price):
    script = ((event, count),)
    found = epsilon(script, 1e-6, ADD)
    assert found == pytest.approx(price, abs=6e-4)
    assert found < 0.95 * epsilon(script, 1e-6, ADD, "rdp")
    apart = (
        PoissonGaussian(event.multiplier, event.rate),
        PoissonPure(event.epsilons[0], event.rate),
    )
    twin = epsilon(
        tuple((e, count) for e in apart), 1e-6, ADD
    )  # steps of one sample, sampled apart
    assert twin < found and delta(script, twin, ADD) > 1e-6


class TestReplaceOne:
    """The bound of the programme, against both of its ends and all that stands between them."""

    @pytest.mark.parametrize("t", [0.0, 0.01, 0.3, 1.0, 3.0])
    def test_with_next_to_no_pure_step_it_is_the_antipodal_pair(self, t):
        found = BundleReplacePair(1 / 1.5, 0.05, (1e-9,)).profile(np.array([t]))[0]
        true = single_delta(Step("replace", 1.5, 0.05), t)
        assert true * (1 - 1e-12) <= found <= true * (1 + 1e-6) + 1e-12

    @pytest.mark.parametrize("t", [0.0, 0.01, 0.05])
    def test_with_next_to_no_gaussian_step_it_is_the_pair_of_three_answers(self, t):
        q, odds = 0.05, math.exp(-1.0)
        high, low = 1 / (1 + odds), odds / (1 + odds)
        found = BundleReplacePair(1e-4, q, (1.0,)).profile(np.array([t]))[0]
        true = low + q * (high - low) - math.exp(t) * low
        assert true <= found <= true * 1.05 + 1e-6

    @pytest.mark.parametrize(
        ("z", "pure", "q"), [(2.0, 0.5, 0.1), (1.0, 1.5, 0.3), (6.0, 0.2, 0.02)]
    )
    def test_no_pure_step_that_sees_the_noisy_sum_first_costs_more(self, z, pure, q):
        """Its three laws at each sum are any within e^pure: random ones, and those that lose most."""
        x = np.linspace(-9 * z - 1, 9 * z + 1, 6001)
        none, one, other = (norm.pdf(x, m, z) for m in (0, 1, -1))
        odds, rng = math.exp(-pure), np.random.default_rng(1)
        t = np.array([0.0, 0.02, 0.1, 0.3])
        found = BundleReplacePair(1 / z, q, (pure,)).profile(t)
        corners = [c for c in np.ndindex(2, 2, 2)]
        weights = np.array([[1.0 if bit else odds for bit in c] for c in corners])
        yes = [self._accepted(w, pure) for w in (*weights, *rng.uniform(odds, 1, (40, 3)))]
        for i, eps in enumerate(t):
            grow = math.exp(eps)
            gains = []
            for (
                u
            ) in yes:  # probabilities of one answer under the three laws, the other answer is 1 - u
                for part in (u, 1 - u):
                    whole = (1 - q) * (1 - grow) * part[0] * none
                    gains.append(whole + q * part[1] * one - grow * q * part[2] * other)
            best = np.zeros_like(x)
            for k in range(0, len(gains), 2):
                best = np.maximum(best, np.maximum(gains[k], 0) + np.maximum(gains[k + 1], 0))
            true = best.sum() * (x[1] - x[0])
            assert true <= found[i] * (1 + 1e-6) + 1e-12
            assert found[i] <= 1.25 * true + 1e-3 * q

    @staticmethod
    def _accepted(weights, pure):
        """Probabilities of an answer whose laws are in proportion to the weights, as far apart as pure allows."""
        odds = math.exp(-pure)
        most = min((1 - odds) / max(w - odds * v, 1e-300) for w in weights for v in weights)
        return np.minimum(most, 1 / weights.max()) * weights

    def test_a_twin_that_moves_only_once_is_found(self):
        @dataclass(frozen=True)
        class Once(BundleReplacePair):
            def _plain(self, epsilon, times):
                return super()._plain(epsilon, 1.0)

        t = np.array([0.1])
        true = single_delta(Step("replace", 1.5, 0.05), 0.1)
        assert Once(1 / 1.5, 0.05, (1e-9,)).profile(t)[0] < 0.99 * true

    def test_many_of_them_cost_more_than_either_kind_of_step_alone(self):
        event = PoissonBundle(4.0, (0.5,), 0.05)
        found = epsilon(((event, 200),), 1e-6, REPLACE)
        alone = [
            epsilon(((e, 200),), 1e-6, REPLACE)
            for e in (PoissonGaussian(4.0, 0.05), PoissonPure(0.5, 0.05))
        ]
        assert max(alone) < found < 1.1 * math.hypot(*alone) + 0.2
        assert found > epsilon(((event, 200),), 1e-6, ADD)


@pytest.mark.parametrize("neighbors", [ADD, REPLACE])
def test_a_sample_of_everybody_is_all_steps_and_the_ends_have_prices(neighbors):
    times = 2.0 if neighbors == REPLACE else 1.0
    whole = ((Gaussian(3.0 / times), 4), (PureDP(0.2), 4))
    found = epsilon(((PoissonBundle(3.0, (0.2,), 1.0), 4),), 1e-6, neighbors)
    assert found == pytest.approx(epsilon(whole, 1e-6, neighbors), rel=1e-4)
    assert epsilon(((PoissonBundle(3.0, (0.2,), 0.0), 4),), 1e-6, neighbors) == 0
    assert epsilon(((PoissonBundle(1e-3, (0.2,), 0.1), 4),), 1e-6, REPLACE) == math.inf
    rare, scarce = (PoissonBundle(1e9, (0.2,), q) for q in (1e-3, 1e-9))
    assert epsilon(((scarce, 4),), 1e-6, neighbors) <= epsilon(((rare, 4),), 1e-6, neighbors)


@pytest.mark.parametrize("pair", [BundleRemovePair, BundleAddPair])
def test_dividing_a_cell_keeps_both_masses(pair):
    lattice = pair(0.5, 0.1, (0.3, 0.3, 1.0)).lattice(0.01, 9.0, -math.inf)
    losses = 0.01 * np.arange(lattice.first, lattice.first + len(lattice.mass))
    assert lattice.mass.sum() + lattice.infinite == pytest.approx(1, abs=1e-12)
    assert lattice.mass @ np.exp(-losses) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    "epsilons", [(0.1,) * 7, (0.1, 0.2, 0.4), tuple(0.01 * k for k in range(1, 30))]
)
def test_responses_asked_together_are_laws_with_the_losses_of_their_sum(epsilons):
    losses, masses = np.array(answers_of(epsilons)).T
    assert len(losses) <= 128 and losses.max() == pytest.approx(sum(epsilons))
    assert masses.sum() == pytest.approx(1) and masses @ np.exp(-losses) == pytest.approx(1)
    advantage = masses @ np.maximum(-np.expm1(-losses), 0)
    assert advantage >= math.tanh(max(epsilons) / 2)
    if len(epsilons) < 10:
        wins = np.array(np.meshgrid(*[[1, -1]] * len(epsilons))).reshape(len(epsilons), -1)
        shares = np.prod([1 / (1 + np.exp(-w * e)) for w, e in zip(wins, epsilons)], axis=0)
        sums = np.array(epsilons) @ wins
        assert advantage == pytest.approx(shares @ np.maximum(-np.expm1(-sums), 0))


@pytest.mark.parametrize("multiplier", [0.02, 0.05])
def test_a_rare_record_in_little_noise_has_a_price(multiplier):
    """Factors of the bound overflow doubles there, and their shares do not."""
    script = ((PoissonBundle(multiplier, (0.1,), 1e-7), 1),)
    found = delta(script, 1.0, "replace_one")
    assert 0.0 < found <= 2e-7  # at most the rate, and chords over a long range
