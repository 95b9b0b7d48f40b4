"""Prices of random allocation against quadrature, simulation, adaptive gradients, and twins with one thing wrong."""

import math

import numpy as np
import pytest
from allocation_truth import one_epoch, panels, simulated, two_epochs
from scipy.special import ndtr

from skdp.privacy import delta, epsilon, for_rows
from skdp.privacy._pld_allocation import of_adding, of_removing
from skdp.privacy._pld_curve_pairs import OutcomesPair
from skdp.privacy.events import Gaussian, PoissonGaussian, RandomAllocation, ShuffledEpoch
from skdp.privacy.spec import Spec

RELATIONS = {"remove": "add_remove", "add": "add_remove", "replace": "replace_one"}


def priced(kind, z, T, eps):
    """The delta of one direction, as the engine has it."""
    if kind == "replace":
        return delta(((RandomAllocation(z, T), 1),), eps, "replace_one")
    side = {"remove": of_removing, "add": of_adding}[kind](z, T)
    return float(OutcomesPair.of(side, np.array([eps]))[0])


def check_one_epoch(kind, z, T, price, looseness=1e-3):
    """A price is nowhere below the truth, and not far above it."""
    sd = (2 if kind == "replace" else 1) / z / math.sqrt(T)
    for eps in (0.0, sd, 3 * sd):
        truth, said = one_epoch(kind, z, T, eps), price(kind, z, T, eps)
        assert truth <= said * (1 + 1e-7) + 1e-13, f"{kind} at {eps}: {said} is below {truth}"
        assert said <= truth * (1 + looseness) + 1e-12, f"{kind} at {eps}: {said} is above {truth}"


@pytest.mark.parametrize("z", [0.5, 1.0, 4.0, 50.0])
@pytest.mark.parametrize("kind", RELATIONS)
def test_two_batches_by_quadrature(kind, z):
    check_one_epoch(kind, z, 2, priced, looseness=1e-2 if z < 1 else 1e-3)


@pytest.mark.parametrize("kind", RELATIONS)
def test_three_batches_by_quadrature(kind):
    check_one_epoch(kind, 1.0, 3, priced)


def test_the_larger_direction_counts():
    for eps in (0.0, 0.5, 2.0):
        sides = [priced(kind, 1.0, 3, eps) for kind in ("remove", "add")]
        both = delta(((RandomAllocation(1.0, 3), 1),), eps, "add_remove")
        assert both == pytest.approx(max(sides), rel=1e-12)


def twice_the_batches(kind, z, T, eps):
    return priced(kind, z, 2 * T, eps)


def only_adding(kind, z, T, eps):
    return priced("add", z, T, eps)


def half_the_move(kind, z, T, eps):
    return priced("remove", z, T, eps)


def one_coin(kind, z, T, eps):
    """A batch of a Poisson sample in place of an epoch."""
    return delta(((PoissonGaussian(z, 1 / T), 1),), eps, RELATIONS[kind])


@pytest.mark.parametrize(
    ("kind", "broken"),
    [
        ("remove", twice_the_batches),
        ("replace", twice_the_batches),
        ("remove", only_adding),
        ("replace", half_the_move),
        ("remove", one_coin),
    ],
)
def test_a_wrong_price_is_rejected(kind, broken):
    with pytest.raises(AssertionError, match="is below"):
        check_one_epoch(kind, 1.0, 2, broken, looseness=math.inf)


@pytest.mark.parametrize(
    ("kind", "z", "T", "eps"),
    [
        ("remove", 1.0, 1000, 0.1),
        ("remove", 0.5, 1000, 2.0),
        ("remove", 0.5, 20, 4.0),
        ("add", 1.0, 1000, 0.1),
        ("add", 0.7, 30, 0.8),
        ("replace", 1.0, 1000, 0.12),
        ("replace", 0.5, 300, 1.5),
        ("replace", 3.0, 50, 0.25),
    ],
)
def test_many_batches_by_simulation(kind, z, T, eps):
    mean, error = simulated(kind, z, T, eps, 20_000_000 // T)
    assert abs(priced(kind, z, T, eps) - mean) < 5 * error + 1e-4 * mean


@pytest.mark.parametrize(
    ("z", "T", "step", "eps"), [(2.0, 100, 2e-3, 0.2049), (1.0, 1000, 0.05, 0.1717)]
)
def test_small_deltas_by_a_fine_histogram(z, T, step, eps):
    """One plain Fourier transform of log-normal terms rounded to the nearest point: delta is about 1e-6."""
    edges = np.maximum((np.arange(2**20 + 1) - 0.5) * step, 1e-300)
    above = ndtr(-(z * np.log(edges) + 0.5 / z))
    terms = np.fft.irfft(np.fft.rfft(above[:-1] - above[1:]) ** T)
    gain = np.maximum(np.arange(2**20) * step / T - math.exp(eps), 0.0)
    assert priced("remove", z, T, eps) == pytest.approx(float(gain @ terms), rel=1e-3)


def test_two_epochs_compose():
    script = ((RandomAllocation(1.0, 2), 2),)
    for eps in (0.5, 3.0):
        assert delta(script, eps, "add_remove", "pld") == pytest.approx(
            two_epochs(1.0, eps), rel=2e-3
        )


def adaptive_delta(z, eps, replaced, gradients):
    """Delta of two batches whose second gradients depend on the sign of the first answer."""
    s, a = 1 / z, math.exp(eps)
    u, w = panels(s)

    def terms(pair):
        (g, other) = pair
        y = np.exp(g * s * u - (g * s) ** 2 / 2)
        return y - a * (np.exp(other * s * u - (other * s) ** 2 / 2) if replaced else 1.0)

    first, later = gradients[0], gradients[1:]
    total = 0.0
    for sign, pair in zip((u < 0, u >= 0), later):
        both = terms(first)[sign][:, None] + terms(pair)[None, :]
        total += float(w[sign] @ np.maximum(both, 0.0) @ w) / 2
    return total


@pytest.mark.parametrize("replaced", [False, True])
def test_no_gradients_that_depend_on_answers_beat_the_pair(replaced):
    rng, relation = np.random.default_rng(0), "replace_one" if replaced else "add_remove"
    nearest = 0.0
    for eps in (0.2, 1.5):
        price = delta(((RandomAllocation(1.0, 2), 1),), eps, relation)
        tried = [rng.uniform(-1, 1, (3, 2)) for _ in range(12)]
        tried += [rng.choice([-1.0, 1.0], (3, 2)) for _ in range(12)]
        tried.append(np.array([[1.0, -1.0]] * 3))
        for gradients in tried:
            found = adaptive_delta(1.0, eps, replaced, gradients)
            assert found <= price * (1 + 1e-3)
            nearest = max(nearest, found / price)
    assert nearest > 0.99


def test_one_batch_is_everybody_and_no_noise_tells():
    for relation, factor in (("add_remove", 1), ("replace_one", 2)):
        whole = epsilon(((RandomAllocation(3.0, 1), 4),), 1e-6, relation)
        assert whole == epsilon(((Gaussian(3.0 / factor), 4),), 1e-6, relation)
        assert epsilon(((RandomAllocation(0.0, 9), 1),), 1e-6, relation) == math.inf
        assert epsilon(((RandomAllocation(math.inf, 9), 1),), 1e-6, relation) == 0.0


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_an_epoch_costs_less_than_a_shuffled_one_and_more_batches_never_more(relation):
    factor = 1 if relation == "add_remove" else 2
    shuffled = epsilon(((ShuffledEpoch(1.0 / factor), 1),), 1e-6, relation)
    prices = [epsilon(((RandomAllocation(1.0, T), 1),), 1e-6, relation) for T in (2, 5, 20, 200)]
    assert (
        prices == sorted(prices, reverse=True)
        and prices[0] < shuffled
        and prices[-1] < shuffled / 8
    )


def test_more_noise_never_costs_more():
    for relation in ("add_remove", "replace_one"):
        prices = [
            epsilon(((RandomAllocation(z, 30), 1),), 1e-6, relation)
            for z in (0.25, 0.5, 3.0, 900.0, 1100.0, 1e5)
        ]
        assert prices == sorted(prices, reverse=True)


def test_epochs_compose_with_other_releases():
    for relation in ("add_remove", "replace_one"):
        alone = epsilon(((RandomAllocation(2.0, 50), 3),), 1e-6, relation)
        beside = epsilon(((RandomAllocation(2.0, 50), 3), (Gaussian(20.0), 1)), 1e-6, relation)
        gaussian = epsilon(((Gaussian(20.0), 1),), 1e-6, relation)
        assert max(alone, gaussian) < beside < alone + gaussian


def test_groups_of_rows_are_priced_by_a_chain_of_single_rows():
    script, one = (
        ((RandomAllocation(2.0, 50), 1),),
        epsilon(((RandomAllocation(2.0, 50), 1),), 1e-6, "add_remove"),
    )
    two = for_rows(script, Spec(1.0, 1e-6, "add_remove"), 2).epsilon
    assert two > 2 * one
    grown = delta(script, two / 2, "add_remove") * (1 + math.exp(two / 2))
    assert grown == pytest.approx(1e-6, rel=1e-3)


def test_the_number_of_batches_is_whole():
    with pytest.raises(ValueError, match="whole number"):
        RandomAllocation(1.0, 2.5)
