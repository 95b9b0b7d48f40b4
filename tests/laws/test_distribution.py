"""Drawn noise has the declared law, by tests that reject two thirds and three halves of the scale."""

import numpy as np
import pytest
from laws.noise_laws import (
    SAMPLES,
    check_additive_noise,
    check_can_tell,
    check_geometric,
    check_law,
    check_permutation,
    check_poisson_batch,
    check_selection_noise,
    check_subset,
)
from laws.vaults import RELATIONS, random_vault
from scipy import stats

from skdp.losses import Logistic
from skdp.mechanisms import BestCandidate, Count, Gradient, Noise, Silence, _noise
from skdp.mechanisms._question import Additive

LAWS = {
    "uniform": stats.uniform(),
    "normal": stats.norm(),
    "exponential": stats.expon(),
    "laplace": stats.laplace(),
    "gumbel": stats.gumbel_r(),
}
SOURCES = [pytest.param(0, id="seeded"), pytest.param(None, id="system")]


@pytest.mark.parametrize("seed", SOURCES)
@pytest.mark.parametrize("name", LAWS)
def test_draws_have_their_law(name, seed):
    sample = getattr(Noise(seed), name)(SAMPLES)
    check_law(sample, LAWS[name])
    check_can_tell(sample, LAWS[name])
    serial = np.corrcoef(sample[:-1], sample[1:])[0, 1]
    assert abs(serial) < 6 / np.sqrt(SAMPLES)


@pytest.mark.parametrize("name", LAWS)
def test_draws_come_in_the_shape_that_was_asked_for_and_are_finite(name):
    noise = Noise(3)
    for shape in [(), 0, 5, (2, 3)]:
        sample = getattr(noise, name)(shape)
        assert np.shape(sample) == np.empty(shape).shape and np.isfinite(sample).all()


@pytest.mark.parametrize("seed", SOURCES)
@pytest.mark.parametrize("d", [1, 2, 7])
def test_radial_noise_has_a_gamma_radius_and_no_direction(d, seed):
    noise = Noise(seed)
    sample = np.array([noise.radial(d) for _ in range(4000)])
    radius = np.linalg.norm(sample, axis=1)
    check_law(radius, stats.gamma(d))
    check_can_tell(radius, stats.gamma(d))
    if d > 1:
        share = sample[:, 0] ** 2 / radius**2
        check_law(share, stats.beta(0.5, (d - 1) / 2))
        assert abs(np.corrcoef(radius, share)[0, 1]) < 6 / np.sqrt(4000)
    assert abs(np.sign(sample[:, 0]).mean()) < 6 / np.sqrt(4000)


def test_radial_noise_of_a_matrix_has_one_radius():
    noise = Noise(5)
    sample = np.array([noise.radial((2, 3)) for _ in range(4000)])
    check_law(np.linalg.norm(sample.reshape(4000, -1), axis=1), stats.gamma(6))


@pytest.mark.parametrize("seed", SOURCES)
@pytest.mark.parametrize("rate", [0.02, 0.3, 0.9])
def test_poisson_batches_are_independent_coins(rate, seed):
    check_poisson_batch(Noise(seed).poisson_batch, 12, rate)


@pytest.mark.parametrize("rate", [0.05, 0.3, 0.9])
def test_batches_by_table_are_independent_coins(rate, monkeypatch):
    monkeypatch.setattr(_noise, "_MANY", 1)
    check_poisson_batch(Noise(1).poisson_batch, 12, rate)


@pytest.mark.parametrize("seed", SOURCES)
@pytest.mark.parametrize("rate", [_noise._OFTEN, 0.004, 0.1, 0.7])
def test_gaps_by_table_are_geometric(rate, seed):
    check_geometric(Noise(seed)._gaps(200_000, rate), rate)


def test_a_table_that_rounds_gaps_is_rejected(monkeypatch):
    # Every word takes the gap of its middle: the bits after the first sixteen are lost.
    middles = (np.arange(_noise._WORDS) + 0.5) / _noise._WORDS
    table = _noise._gaps_at(middles, 0.002).astype(np.uint16)
    monkeypatch.setattr(_noise, "_gaps_by_word", lambda rate: table)
    with pytest.raises(AssertionError):
        check_geometric(Noise(0)._gaps(2_000_000, 0.002), 0.002)


@pytest.mark.parametrize("factor", [2 / 3, 3 / 2])
def test_batch_law_can_tell_another_rate(factor):
    noise = Noise(0)
    with pytest.raises(AssertionError):
        check_poisson_batch(lambda n, rate: noise.poisson_batch(n, rate * factor), 12, 0.3)


def test_batch_law_can_tell_blocks_from_coins():
    # Consecutive records, one block in each batch: every record is as likely, pairs are not.
    noise = Noise(0)

    def blocks(n, rate):
        start = int(noise.uniform() * n)
        return np.sort((start + np.arange(round(n * rate))) % n)

    with pytest.raises(AssertionError):
        check_poisson_batch(blocks, 12, 0.25)


def test_poisson_batch_at_its_ends():
    noise = Noise(0)
    assert noise.poisson_batch(7, 1.0).tolist() == list(range(7))
    assert noise.poisson_batch(7, 0.0).size == noise.poisson_batch(0, 0.5).size == 0
    assert noise.poisson_batch(10**9, 1e-12).size <= 2


def test_drawing_a_poisson_batch_does_not_cost_by_the_records_left_out():
    drawn = []

    class Counting(Noise):
        def _words(self, count):
            drawn.append(count)
            return super()._words(count)

    for n in (10**4, 10**8):
        Counting(0).poisson_batch(n, 200 / n)
    assert sum(drawn) < 2 * 2 * (200 + 6 * np.sqrt(200) + 16)


@pytest.mark.parametrize("seed", SOURCES)
@pytest.mark.parametrize("size", [1, 3, 8, 11])
def test_subsets_are_uniform(size, seed):
    check_subset(Noise(seed).subset, 12, size)


def test_subset_law_can_fail():
    noise = Noise(0)

    def favours_the_first(n, size):
        return np.sort(np.append(noise.subset(n - 1, size - 1) + 1, 0))

    with pytest.raises(AssertionError):
        check_subset(favours_the_first, 12, 3)
    with pytest.raises(AssertionError):
        check_subset(lambda n, size: np.arange(size) + int(noise.uniform() * (n - size + 1)), 12, 3)


def test_subset_at_its_ends():
    noise = Noise(0)
    assert noise.subset(5, 0).size == 0 and noise.subset(5, 5).tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="size=6"):
        noise.subset(5, 6)


@pytest.mark.parametrize("seed", SOURCES)
def test_permutations_are_uniform(seed):
    check_permutation(Noise(seed).permutation)


def test_permutation_law_can_fail():
    noise = Noise(0)

    def swaps_neighbours(n):
        order = np.arange(n)
        for i in range(n - 1):
            if noise.uniform() < 0.5:
                order[[i, i + 1]] = order[[i + 1, i]]
        return order

    with pytest.raises(AssertionError):
        check_permutation(swaps_neighbours)


QUESTIONS = [
    pytest.param(Count(multiplier=3.0), ("add_remove",), id="Count"),
    pytest.param(
        Gradient(at=np.array([1.0, -1.0, 0.5, 0.0]), loss=Logistic(), clip=0.7, multiplier=2.0),
        RELATIONS,
        id="Gradient",
    ),
    pytest.param(
        BestCandidate(
            candidates=np.array([[0.0, 0, 0, 0], [0.3, 0, 0, 0], [0, 0.5, 0, 0]]),
            loss=Logistic(),
            cap=0.5,
            epsilon=0.4,
        ),
        RELATIONS,
        id="BestCandidate",
    ),
]


@pytest.mark.parametrize("question, relations", QUESTIONS)
def test_answers_carry_the_noise_that_was_paid_for(question, relations):
    for relation in relations:
        records = random_vault(1, neighbors=relation)
        law = check_additive_noise if isinstance(question, Additive) else check_selection_noise
        law(question, records, Noise(7))


def test_silence_is_silent_and_never_a_generator():
    quiet = Silence()
    assert not quiet.normal(5).any() and not quiet.laplace(5).any() and not quiet.radial(5).any()
    assert not quiet.gumbel(5).any() and not quiet.seeded
