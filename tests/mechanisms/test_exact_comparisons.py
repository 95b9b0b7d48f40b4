"""Gumbel and Laplace comparisons are those of real numbers: mpmath decides the same on the very bits drawn."""

import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from laws.noise_laws import check_counts, check_softmax
from mechanisms.recorded import Recorded, Replayed, words
from scipy import stats
from scipy.integrate import quad

from skdp.mechanisms import Noise, _exact
from skdp.mechanisms._exact import Laplace, _Uniform

DIGITS = 200
MANY = 700  # beside numbers as far apart as 1e300 and 1e-300


def ends(uniform):
    """Of minus the logarithm: least and most, given all bits that are known."""
    most = mp.inf if uniform.word == 0 else -mp.log(mp.ldexp(uniform.word, -uniform.bits))
    return -mp.log(mp.ldexp(uniform.word + 1, -uniform.bits)), most


# -------------------------------------------------------------------------------- Gumbel


class Kept:
    """Takes note of the uniforms that long arithmetic has drawn on."""

    def __init__(self, monkeypatch):
        self.made, own = [], _exact._Uniform

        def make(*given):
            self.made.append(own(*given))
            return self.made[-1]

        monkeypatch.setattr(_exact, "_Uniform", make)


def check_winner(winner, scores, scale, first, kept):
    """No other number, whatever its further bits, lies above the winner; how many rounds of bits that took."""
    known = [_Uniform(word) for word in first]
    for later in kept.made:
        number = later.word >> (later.bits - 64) if later.bits >= 64 else later.word
        known[first.index(number)] = later
    with mp.workdps(DIGITS):
        bounds = []
        for score, uniform in zip(scores, known):
            least, most = ends(uniform)
            gumbel = (-mp.log(most) if most < mp.inf else -mp.inf), -mp.log(least)
            bounds.append([mp.mpf(float(score)) + mp.mpf(scale) * g for g in gumbel])
        low = bounds[winner][0]
        assert all(high < low for k, (_, high) in enumerate(bounds) if k != winner)
    return max(uniform.bits for uniform in known) // 64 - 1


def tied_scores(rng, first, scale, middle):
    """Scores with which all noisy scores come within a few units in the last place of one number."""
    with mp.workdps(DIGITS):
        noise = [-mp.log(-mp.log(mp.ldexp(2 * word + 1, -65))) for word in first]
        scores = np.array([float(mp.mpf(middle) - mp.mpf(scale) * g) for g in noise])
    away = rng.integers(-2, 3, len(scores))
    for k in (1, -1):
        scores = np.where(away == k, np.nextafter(scores, k * np.inf), scores)
    return scores


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e3, 1e-300, 1e300])
def test_selections_that_tie_in_doubles_are_decided_as_by_mpmath(scale, monkeypatch):
    rng, longer = np.random.default_rng(0), 0
    for case in range(100):
        count = int(rng.integers(2, 6))
        first = [int(word) for word in rng.integers(1, 2**64, count, dtype=np.uint64)]
        middle = float(rng.normal() * scale * 10.0 ** rng.integers(0, 3)) if case % 2 else 0.0
        scores = tied_scores(rng, first, scale, middle)
        with monkeypatch.context() as patch:
            kept = Kept(patch)
            winner = _exact.largest(scores, scale, Replayed(words(*first), seed=case))
        longer += check_winner(winner, scores, scale, first, kept) > 0
    assert longer > 50


def test_equal_scores_and_equal_words_are_decided_by_further_bits(monkeypatch):
    winners = []
    for seed, word in itertools.product(range(30), (1, 5, 2**63, 2**64 - 1)):
        with monkeypatch.context() as patch:
            kept = Kept(patch)
            source = Replayed(words(word, word, word), seed=seed * word)
            winners.append(_exact.largest(np.zeros(3), 2.0, source))
        assert len(kept.made) == 3 and min(u.bits for u in kept.made) >= 128
        with mp.workdps(DIGITS):
            bounds = [ends(uniform) for uniform in kept.made]
        # The largest Gumbel draw belongs to the smallest exponential one.
        most = bounds[winners[-1]][1]
        assert all(least > most for k, (least, _) in enumerate(bounds) if k != winners[-1])
    check_counts(np.bincount(winners, minlength=3), np.full(3, len(winners) / 3))


@pytest.mark.parametrize("first", [(0, 0), (0, 2**64 - 1), (2**64 - 1, 2**64 - 1), (0, 1 << 63)])
def test_the_ends_of_the_uniform_are_drawn_on(first, monkeypatch):
    for seed in range(20):
        with monkeypatch.context() as patch:
            kept = Kept(patch)
            got = _exact.largest(np.array([0.3, 0.3]), 1.0, Replayed(words(*first), seed=seed))
        if first[0] != first[1]:
            assert got == 1  # a uniform near 0 has the smallest Gumbel
            continue
        assert len(kept.made) == 2 and min(u.bits for u in kept.made) >= 128


def test_largest_of_many_is_the_largest_by_mpmath():
    for seed in range(40):
        scores = np.random.default_rng(seed).normal(size=300)
        source = Recorded(seed)
        got = _exact.largest(scores, 1.0, source)
        first = np.frombuffer(source.given[0], np.uint64)
        with mp.workdps(40):
            values = [
                mp.mpf(float(s)) - mp.log(-mp.log(mp.ldexp(2 * int(word) + 1, -65)))
                for s, word in zip(scores, first)
            ]
        assert got == int(np.argmax(values))


@pytest.mark.parametrize(
    "scores",
    [
        [1e300, 1e300],
        [1e300, -1e300],
        [1e300, np.nextafter(1e300, 0)],
        [0.0, 0.0],
        [-1e-300, 1e-300],
    ],
)
@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_extreme_magnitudes_are_decided(scores, scale):
    chosen = [_exact.largest(np.array(scores), scale, Noise(seed)) for seed in range(12)]
    gap = float(np.clip((scores[0] - scores[1]) / 2, -1e3 * scale, 1e3 * scale)) / scale
    if abs(gap) > 50.0:
        assert set(chosen) == {0 if gap > 0 else 1}
    elif abs(gap) < 0.1:
        assert 1 <= sum(chosen) <= 11
    with mp.workdps(MANY):
        for seed, got in enumerate(chosen):
            given = [int(k) for k in np.frombuffer(Noise(seed).bytes(16), np.uint64)]
            noise = [-mp.log(-mp.log(mp.ldexp(2 * word + 1, -65))) for word in given]
            values = [mp.mpf(s) + mp.mpf(scale) * g for s, g in zip(scores, noise)]
            assert got == int(np.argmax(values))


def test_a_scale_of_zero_takes_the_largest_score_without_a_bit():
    assert _exact.largest(np.array([1.0, 3.0, 2.0]), 0.0, Replayed()) == 1


def test_the_law_of_a_selection_with_every_comparison_in_long_arithmetic(monkeypatch):
    monkeypatch.setattr(_exact, "_LN", 10.0)  # margins so wide that doubles never tell
    scores = np.array([0.0, 1.0, -1.0])
    check_softmax(Noise(0).largest, scores, 1.3, repetitions=400)


def by_doubles(scores, scale, source):
    """The old formula: what ties in doubles goes to the first."""
    uniform = (np.frombuffer(source.bytes(8 * len(scores)), np.uint64) + 0.5) * 2.0**-64
    return int(np.argmax(scores - scale * np.log(-np.log(uniform))))


def test_doubles_alone_decide_otherwise(monkeypatch):
    monkeypatch.setattr(_exact, "largest", by_doubles)
    with pytest.raises(AssertionError):
        test_selections_that_tie_in_doubles_are_decided_as_by_mpmath(1.0, monkeypatch)


# ------------------------------------------------------------------------------- Laplace


def laplace_of(first, second):
    """The draw that begins with these words, as `laplaces` makes it."""
    return _exact.laplaces(1, Replayed(words(first, second)))[0]


def scale_of(*noisy):
    """Of the two scales the one that is further from 1, where both are there."""
    return max((scale for scale, _ in noisy if scale), key=lambda scale: abs(math.log(scale)))


def check_passing(got, total, demand, test, threshold):
    """What was decided holds for all further bits of the draws; how many rounds of bits that took."""
    with mp.workdps(DIGITS if 1e-9 < scale_of(test, threshold) < 1e9 else MANY):
        side = {True: [], False: []}
        for (scale, noise), sign in ((test, 1), (threshold, -1)):
            (a, b), (c, d) = (ends(uniform) for uniform in noise.uniforms)
            for way, middle in ((True, a - d), (False, b - c)):
                chosen = way if sign == 1 else not way
                side[chosen].append(sign * mp.mpf(scale) * middle if scale else mp.mpf(0))
        gap = mp.mpf(total) - mp.mpf(demand) + mp.fsum(side[got])
        assert gap >= 0 if got else gap <= 0
    return max(noise.bits for _, noise in (test, threshold)) // 64 - 1


MAGNITUDES = [(1.0, 1.0), (1e-3, 1e3), (0.0, 1.0), (1.0, 0.0), (1e-300, 1e-300), (1e300, 1e300)]


@pytest.mark.parametrize("scales", [*MAGNITUDES, (1e-300, 1e150), (1e150, 1e-300)])
def test_tests_that_tie_in_doubles_are_decided_as_by_mpmath(scales):
    rng, longer = np.random.default_rng(0), 0
    for case in range(60):
        first = [int(word) for word in rng.integers(1, 2**64, 4, dtype=np.uint64)]
        noise, shared = laplace_of(*first[:2]), laplace_of(*first[2:])
        with mp.workdps(DIGITS):
            middles = [
                mp.log(mp.ldexp(2 * b + 1, -65)) - mp.log(mp.ldexp(2 * a + 1, -65))
                for a, b in (first[:2], first[2:])
            ]
            demand = float(rng.choice([0.0, 1.0, -1e150, 1e-300, 1e150]))
            total = float(
                mp.mpf(demand) + mp.mpf(scales[1]) * middles[1] - mp.mpf(scales[0]) * middles[0]
            )
        total = float(np.nextafter(total, rng.choice([-np.inf, np.inf]))) if case % 3 else total
        test, threshold = (scales[0], noise), (scales[1], shared)
        got = _exact.passes(total, demand, test, threshold, Noise(case))
        longer += check_passing(got, total, demand, test, threshold) > 0
    assert longer > 20


def test_equal_words_are_decided_by_further_bits():
    for seed in range(40):
        noise, shared = laplace_of(7, 1 << 60), laplace_of(7, 1 << 60)
        got = _exact.passes(1e150, 1e150, (2.0, noise), (2.0, shared), Noise(seed))
        assert check_passing(got, 1e150, 1e150, (2.0, noise), (2.0, shared)) > 0


def test_words_at_the_ends_are_drawn_on():
    for seed, pair in itertools.product(range(5), [(0, 0), (2**64 - 1, 2**64 - 1), (0, 2**64 - 1)]):
        noise, shared = laplace_of(*pair), laplace_of(*pair)
        got = _exact.passes(0.0, 0.0, (1.0, noise), (1.0, shared), Noise(seed))
        check_passing(got, 0.0, 0.0, (1.0, noise), (1.0, shared))


def test_without_noise_totals_are_compared():
    draw = laplace_of(1, 2)
    none = (0.0, draw)
    for total, demand in [(1.0, 1.0), (0.0, -0.0), (1e150, 1e150), (-1.0, 1.0), (1e-320, 0.0)]:
        assert _exact.passes(total, demand, none, none, Replayed()) == (total >= demand)
    assert draw.bits == 64


def search_law(gaps, own, shared):
    """Probability of each index, by integrating over the threshold's noise."""
    noise, threshold = stats.laplace(scale=own), stats.laplace(scale=shared)

    def at(t, k):
        passes = [noise.sf(t - gap) for gap in gaps]
        before = math.prod(1.0 - p for p in passes[:k])
        return threshold.pdf(t) * before * (passes[k] if k < len(gaps) else 1.0)

    points = sorted({0.0, *gaps})
    far = 40.0 * shared
    return [
        quad(at, -far, far, args=(k,), points=points, limit=400)[0] for k in range(len(gaps) + 1)
    ]


def check_search(own, shared, factor=1.0, repetitions=5000):
    """The index of the first yes has its law."""
    noise, totals, demands = Noise(0), [0.5, -1.0, 2.0, 0.0], np.array([1.0, 0.0, 2.5, 0.0])
    scales = np.full(4, own * factor), np.full(4, shared * factor)
    chosen = [noise.first_above(totals, demands, *scales) for _ in range(repetitions)]
    law = np.array(search_law(list(np.array(totals) - demands), own, shared))
    assert law.sum() == pytest.approx(1.0, abs=1e-7)
    check_counts(np.bincount(chosen, minlength=5), repetitions * law)


@pytest.mark.parametrize("own, shared", [(1.0, 1.0), (2.0, 0.7), (0.5, 3.0)])
def test_the_law_of_a_search(own, shared):
    check_search(own, shared)


@pytest.mark.parametrize("factor", [2 / 3, 3 / 2])
def test_a_search_with_another_scale_is_rejected(factor):
    with pytest.raises(AssertionError):
        check_search(1.0, 1.0, factor)


def test_a_search_whose_tests_share_their_noise_is_rejected(monkeypatch):
    laplaces = _exact.laplaces

    def twice(count, source):
        threshold, first, *rest = laplaces(count, source)
        return [threshold, first, *(first for _ in rest)]

    monkeypatch.setattr(_exact, "laplaces", twice)
    with pytest.raises(AssertionError):
        check_search(1.0, 1.0)


def test_a_threshold_without_noise_leaves_independent_tests():
    noise, gaps, runs = Noise(1), np.array([0.5, -1.0]), 6000
    chosen = [
        noise.first_above(gaps.tolist(), np.zeros(2), np.ones(2), np.zeros(2)) for _ in range(runs)
    ]
    yes = stats.laplace.cdf(gaps)
    law = [yes[0], (1 - yes[0]) * yes[1], (1 - yes[0]) * (1 - yes[1])]
    check_counts(np.bincount(chosen, minlength=3), runs * np.array(law))


def test_what_is_not_asked_is_not_computed():
    def totals():
        yield -1e9
        yield 1e9
        raise AssertionError("a third total was asked for")

    assert Noise(0).first_above(totals(), np.zeros(3), np.ones(3), np.ones(3)) == 1


def test_a_draw_keeps_its_first_words():
    draw = laplace_of(3, 9)
    assert isinstance(draw, Laplace) and [u.word for u in draw.uniforms] == [3, 9]
    draw.refine(Noise(0))
    assert [u.word >> 64 for u in draw.uniforms] == [3, 9]
