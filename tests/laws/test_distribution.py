"""Drawn noise has the declared law, by tests that reject two thirds and three halves of the scale."""

import itertools

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
    check_softmax,
    check_subset,
)
from laws.vaults import RELATIONS, random_vault
from scipy import stats

from skdp.losses import Logistic
from skdp.mechanisms import BestCandidate, Count, Gradient, Noise, Silence, _batches, _exact
from skdp.mechanisms._lattice import lattice
from skdp.mechanisms._mechanism import Additive

SOURCES = [pytest.param(0, id="seeded"), pytest.param(None, id="system")]
UNIFORMS = np.random.default_rng(0)  # for the sabotaged twins


def gaussian(noise, shape, multiplier=3.0):
    """Noise on a sum of zeros, over its deviation."""
    grid = lattice(multiplier, 1.0, 0.0, max(int(np.prod(shape)), 1))
    return noise.gaussian(np.zeros(shape), grid) / grid.scale


def radial(noise, shape, repetitions):
    """The same for pure releases, many times over."""
    grid = lattice(3.0, 1.0, 0.0, int(np.prod(shape)))
    zeros = np.zeros(shape)
    return np.array([noise.radial(zeros, grid) for _ in range(repetitions)]) / grid.scale


def laplace(noise, count):
    return np.array([draw.middle for draw in _exact.laplaces(count, noise)])


def exponential(noise, count):
    words = np.frombuffer(noise.bytes(8 * count), dtype=np.uint64)
    return _exact.exponentials(words)[0]


def gumbel(noise, count):
    return -np.log(exponential(noise, count))


LAWS = {
    "gaussian": (gaussian, stats.norm()),
    "exponential": (exponential, stats.expon()),
    "laplace": (laplace, stats.laplace()),
    "gumbel": (gumbel, stats.gumbel_r()),
}


@pytest.mark.parametrize("seed", SOURCES)
@pytest.mark.parametrize("name", LAWS)
def test_draws_have_their_law(name, seed):
    draw, law = LAWS[name]
    sample = draw(Noise(seed), SAMPLES)
    check_law(sample, law)
    check_can_tell(sample, law)
    serial = np.corrcoef(sample[:-1], sample[1:])[0, 1]
    assert abs(serial) < 6 / np.sqrt(SAMPLES)


@pytest.mark.parametrize("seed", SOURCES)
def test_bytes_are_uniform(seed):
    words = np.frombuffer(Noise(seed).bytes(8 * SAMPLES), dtype=np.uint64)
    sample = words * 2.0**-64
    check_law(sample, stats.uniform())
    check_can_tell(sample, stats.uniform())


@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 3)])
def test_answers_have_the_shape_of_the_statistic_and_are_finite(shape):
    sample = gaussian(Noise(3), shape)
    assert np.shape(sample) == shape and np.isfinite(sample).all()
    sample = radial(Noise(3), shape, 2) if shape != (0,) else np.empty((2, 0))
    assert np.shape(sample) == (2, *shape) and np.isfinite(sample).all()


@pytest.mark.parametrize("seed", SOURCES)
@pytest.mark.parametrize("d", [1, 2, 7])
def test_radial_noise_has_a_gamma_radius_and_no_direction(d, seed):
    sample = radial(Noise(seed), (d,), 700)
    radius = np.linalg.norm(sample, axis=1)
    check_law(radius, stats.gamma(d))
    check_can_tell(radius, stats.gamma(d))
    if d > 1:
        share = sample[:, 0] ** 2 / radius**2
        check_law(share, stats.beta(0.5, (d - 1) / 2))
        assert abs(np.corrcoef(radius, share)[0, 1]) < 6 / np.sqrt(len(sample))
    assert abs(np.sign(sample[:, 0]).mean()) < 6 / np.sqrt(len(sample))


def test_radial_noise_of_a_matrix_has_one_radius():
    sample = radial(Noise(5), (2, 3), 700)
    check_law(np.linalg.norm(sample.reshape(len(sample), -1), axis=1), stats.gamma(6))


@pytest.mark.parametrize("seed", SOURCES)
def test_a_selection_is_a_softmax(seed):
    noise, scores = Noise(seed), np.array([0.0, 1.0, -2.0, 0.5, 0.5])
    check_softmax(noise.largest, scores, 1.3)
    for factor in (2 / 3, 3 / 2):
        with pytest.raises(AssertionError):
            check_softmax(lambda s, scale, f=factor: noise.largest(s, scale * f), scores, 1.3)


@pytest.mark.parametrize("seed", SOURCES)
@pytest.mark.parametrize("at", ["test", "threshold"])
def test_a_search_passes_as_often_as_laplace_noise_lets_it(at, seed):
    # Totals on a grid, one test each: how often each passes is the distribution function of the noise.
    noise, grid = Noise(seed), np.array([-3.0, -1.0, -0.2, 0.0, 0.4, 2.0])
    own, shared = (np.array([1.7]), np.zeros(1)) if at == "test" else (np.zeros(1), np.array([1.7]))
    runs = 4000
    passed = np.array(
        [
            sum(noise.first_above([t], np.zeros(1), own, shared) == 0 for _ in range(runs))
            for t in grid
        ]
    )

    def fits(scale):
        chance = stats.laplace(scale=scale).cdf(grid)
        return (np.abs(passed - runs * chance) < 6 * np.sqrt(runs * chance * (1 - chance))).all()

    assert fits(1.7) and not fits(1.7 * 2 / 3) and not fits(1.7 * 3 / 2)


def check_tests_of_a_search(first_above):
    """Which of three even tests passes first, where each draws for itself and where all share the threshold's draw."""
    runs, zeros, ones = 4000, np.zeros(3), np.ones(3)
    for own, shared, chances in (
        (ones, zeros, [1 / 2, 1 / 4, 1 / 8, 1 / 8]),
        (zeros, ones, [1 / 2, 0, 0, 1 / 2]),
        (ones, ones, [1 / 2, 1 / 6, 1 / 12, 1 / 4]),  # means of u^k (1 - u), u uniform
    ):
        found = [first_above([0.0] * 3, zeros, own, shared) for _ in range(runs)]
        counts, expected = np.bincount(found, minlength=4), runs * np.array(chances)
        slack = 6 * np.sqrt(expected * (1 - np.array(chances)))
        assert (np.abs(counts - expected) <= slack).all(), (counts, expected)


@pytest.mark.parametrize("seed", SOURCES)
def test_each_test_of_a_search_draws_for_itself(seed):
    check_tests_of_a_search(Noise(seed).first_above)


def test_a_search_whose_tests_share_a_draw_is_rejected():
    noise = Noise(0)

    def sharing(totals, demands, own, shared):
        threshold, draw = _exact.laplaces(2, noise)
        for k, total in enumerate(totals):
            test, against = (float(own[k]), draw), (float(shared[k]), threshold)
            if _exact.passes(total, float(demands[k]), test, against, noise):
                return k
        return len(demands)

    with pytest.raises(AssertionError):
        check_tests_of_a_search(sharing)


@pytest.mark.parametrize("seed", SOURCES)
@pytest.mark.parametrize("rate", [0.02, 0.3, 0.9])
def test_poisson_batches_are_independent_coins(rate, seed):
    check_poisson_batch(Noise(seed).poisson_batch, 12, rate)


@pytest.mark.parametrize("rate", [0.05, 0.3, 0.9])
def test_batches_by_table_are_independent_coins(rate, monkeypatch):
    monkeypatch.setattr(_batches, "_MANY", 1)
    check_poisson_batch(Noise(1).poisson_batch, 12, rate)


@pytest.mark.parametrize("seed", SOURCES)
@pytest.mark.parametrize("rate", [_batches._OFTEN, 0.0014, 0.004, 0.1, 1 / 3, 0.7])
def test_gaps_by_table_are_geometric(rate, seed):
    check_geometric(_batches.gaps(200_000, rate, Noise(seed)), rate)


def test_a_table_that_rounds_gaps_is_rejected(monkeypatch):
    # Every word takes the gap of its middle: the bits after the first sixteen are lost.
    middles = (np.arange(_batches._WORDS) + 0.5) / _batches._WORDS
    table = np.ceil(np.log(middles) / np.log1p(-0.002)).astype(np.uint16)
    monkeypatch.setattr(_batches, "_gaps_by_word", lambda rate: table)
    with pytest.raises(AssertionError):
        check_geometric(_batches.gaps(2_000_000, 0.002, Noise(0)), 0.002)


@pytest.mark.parametrize("factor", [2 / 3, 3 / 2])
def test_batch_law_can_tell_another_rate(factor):
    noise = Noise(0)
    with pytest.raises(AssertionError):
        check_poisson_batch(lambda n, rate: noise.poisson_batch(n, rate * factor), 12, 0.3)


def test_batch_law_can_tell_blocks_from_coins():
    # Consecutive records, one block in each batch: every record is as likely, pairs are not.
    def blocks(n, rate):
        start = int(UNIFORMS.uniform() * n)
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
        def bytes(self, count):
            drawn.append(count)
            return super().bytes(count)

    for n in (10**4, 10**8):
        Counting(0).poisson_batch(n, 200 / n)
    assert sum(drawn) < 8 * 2 * 2 * (200 + 6 * np.sqrt(200) + 16)


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
        check_subset(
            lambda n, size: np.arange(size) + int(UNIFORMS.uniform() * (n - size + 1)), 12, 3
        )


def test_subset_at_its_ends():
    noise = Noise(0)
    assert noise.subset(5, 0).size == 0 and noise.subset(5, 5).tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="size=6"):
        noise.subset(5, 6)


@pytest.mark.parametrize("seed", SOURCES)
def test_permutations_are_uniform(seed):
    check_permutation(Noise(seed).permutation)


def test_permutation_law_can_fail():
    def swaps_neighbours(n):
        order = np.arange(n)
        for i in range(n - 1):
            if UNIFORMS.uniform() < 0.5:
                order[[i, i + 1]] = order[[i + 1, i]]
        return order

    with pytest.raises(AssertionError):
        check_permutation(swaps_neighbours)


MECHANISMS = [
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


@pytest.mark.parametrize("question, relations", MECHANISMS)
def test_answers_carry_the_noise_that_was_paid_for(question, relations):
    for relation in relations:
        records = random_vault(1, neighbors=relation)
        law = check_additive_noise if isinstance(question, Additive) else check_selection_noise
        law(question, records, Noise(7))


def test_silence_is_silent_and_never_a_generator():
    quiet, grid = Silence(), lattice(3.0, 1.0, 0.0, 5)
    exact = np.array([0.1, -0.0, 3.0, 1e300, 5e-324])
    assert quiet.gaussian(exact, grid) is exact and quiet.radial(exact, grid) is exact
    assert (
        not quiet.linear_term((5,), grid).any()
        and not quiet.linear_term((5,), grid, pure=True).any()
    )
    assert quiet.largest(np.array([0.0, 2.0, 1.0]), 1e9) == 1
    wide = np.full(3, 1e9)
    assert quiet.first_above([0.0, 2.0, 3.0], np.ones(3), wide, wide) == 1
    assert quiet.first_above([0.0] * 3, np.ones(3), wide, wide) == 3
    assert quiet.permutation(4).tolist() == [0, 1, 2, 3] and not quiet.seeded


def test_draws_never_repeat_each_other():
    # Bytes of one draw do not come again in the next: of any two, no coordinate is the same.
    for seed in (0, None):
        noise = Noise(seed)
        draws = [gaussian(noise, 50) for _ in range(20)]
        assert all((a != b).all() for a, b in itertools.combinations(draws, 2))
