"""Gaps, integers, subsets and orders are exact: decided as by mpmath and integers on the very bits drawn."""

from functools import lru_cache

import mpmath as mp
import numpy as np
import pytest
from laws.noise_laws import check_geometric
from mechanisms.recorded import Recorded, Replayed, words

from skdp.mechanisms import Noise, _batches
from skdp.mechanisms._batches import gaps, integers, permutation, poisson_batch, subset

RATES = (1e-9, 1e-6, 2.0**-10, 0.004, 0.1, 0.3, 0.5, 0.7, 1 - 1e-3, 1 - 1e-9)
TABLED = (2.0**-10, 0.004, 0.1, 0.3, 0.5, 0.7, 0.99, 1 - 1e-9)


# ----------------------------------------------------------------------------------- gaps


def gap_of(number, bits, rate):
    """The gap of all uniforms in (number, number + 1) times 2^-bits, None where they have several."""
    with mp.workprec(bits + 400):
        per = mp.log(1 - mp.mpf(rate))
        low = mp.ceil(mp.log(mp.ldexp(number + 1, -bits)) / per) if number + 1 < 1 << bits else 1
        if number == 0:
            return None
        # At the upper end exactly, where a power of 1 - rate is a dyadic number, U lies on this side almost surely.
        high = mp.ceil(mp.log(mp.ldexp(number, -bits)) / per)
        return int(high) if max(low, 1) == high else None


def check_gap(word, rate, seed, gap=_batches._gaps_of):
    """The gap is that of all bits that were drawn; whether more than the word were."""
    source = Recorded(seed)
    (got,) = gap(np.array([word], np.uint64), rate, source)
    number, bits = int(word), 64
    for more in source.given:
        number, bits = (number << 64) | int.from_bytes(more, "little"), bits + 64
    assert got == gap_of(number, bits, rate), f"word {word}, rate {rate}"
    return bits > 64


def words_beside_boundaries(rate):
    """Words that hold a power of 1 - rate, and their neighbours."""
    with mp.workprec(400):
        longest = int(min(-40 / mp.log(1 - mp.mpf(rate)), 2**40))
        for k in sorted({1, 2, 3, 7, *np.unique(np.geomspace(1, max(longest, 1), 12).astype(int))}):
            edge = int(mp.floor(mp.ldexp((1 - mp.mpf(rate)) ** int(k), 64)))
            yield from (w for w in range(edge - 3, edge + 4) if 0 < w < 2**64)


@pytest.mark.parametrize("rate", RATES)
def test_gaps_beside_their_boundaries_are_those_of_real_uniforms(rate):
    further = [
        check_gap(word, rate, seed) for seed, word in enumerate(words_beside_boundaries(rate))
    ]
    assert any(further)


@pytest.mark.parametrize("rate", RATES)
def test_gaps_of_any_words_are_those_of_real_uniforms(rate):
    rng = np.random.default_rng(0)
    several = [*rng.integers(1, 2**64, 60, dtype=np.uint64), 1, 2, 2**20, 2**43, 2**64 - 1]
    for seed, word in enumerate(several):
        check_gap(word, rate, seed)


def in_doubles(word, rate, source):
    """The old formula."""
    uniform = (word.astype(float) + 0.5) * 2.0**-64
    return np.maximum(np.ceil(np.log(uniform) / np.log1p(-rate)), 1.0).astype(int)


def test_gaps_in_doubles_are_rejected():
    with pytest.raises(AssertionError, match="word"):
        for rate in RATES:
            for word in words_beside_boundaries(rate):
                check_gap(word, rate, 0, in_doubles)


@pytest.mark.parametrize("word, gap", [(0, None), (2**64 - 1, 1)])
def test_the_ends_of_the_uniform_give_gaps(word, gap):
    for rate in RATES:
        (got,) = _batches._gaps_of(np.array([word], np.uint64), rate, Noise(0))
        assert got >= 1 and (gap is None or got == gap or rate < 1e-6)


@lru_cache(maxsize=16)
def settled(rate):
    """For each 16-bit word the gap of all uniforms that begin with it, 0 where they have several: exact powers."""
    table = np.zeros(1 << 16, dtype=int)
    with mp.workprec(300):
        keep = 1 - mp.mpf(rate)
        power, k, above = mp.mpf(1), 0, 1 << 16
        while above > 1:
            power, k = power * keep, k + 1
            edge = power * 2**16
            first = int(mp.ceil(edge))
            table[first:above] = k
            above = int(mp.floor(edge))
    table[0] = 0
    return table


def check_table(table, rate):
    """What it settles is settled so, and it leaves open little more than it must: words that end at a boundary, too."""
    truth = settled(rate)
    told = table > 0
    assert (table[told] == truth[told]).all()
    assert np.count_nonzero(told) >= np.count_nonzero(truth) - 32


@pytest.mark.parametrize("rate", TABLED)
def test_the_table_of_gaps_is_exact(rate):
    check_table(_batches._gaps_by_word(rate), rate)


@pytest.mark.parametrize("rate", TABLED)
def test_the_table_agrees_with_the_direct_path_for_all_words(rate):
    table = _batches._gaps_by_word(rate)
    told = np.flatnonzero(table).astype(np.uint64)
    for rest in (0, 1, 2**47, 2**48 - 1):
        direct = _batches._gaps_of((told << np.uint64(48)) | np.uint64(rest), rate, Noise(0))
        assert (direct == table[told.astype(int)]).all()


@pytest.mark.parametrize("rate", [0.004, 0.3])
def test_a_table_that_rounds_is_rejected(rate):
    middles = (np.arange(1 << 16) + 0.5) / (1 << 16)
    with pytest.raises(AssertionError):
        check_table(np.ceil(np.log(middles) / np.log1p(-rate)).astype(int), rate)


@pytest.mark.parametrize("rate", [2.0**-10, 0.2])
def test_many_gaps_are_those_of_the_words_they_began_with(rate):
    source = Recorded(3)
    drawn = gaps(4096, rate, source)
    first, rest = (
        np.frombuffer(source.given[0], np.uint16),
        np.frombuffer(source.given[1], np.uint64),
    )
    open_ = np.flatnonzero(_batches._gaps_by_word(rate)[first] == 0)
    word = first.astype(np.uint64) << np.uint64(48)
    word[open_] |= rest >> np.uint64(16)
    exact = _batches._gaps_of(word[open_], rate, Noise(0))
    assert (drawn[open_] == exact).all() and (drawn >= 1).all()
    told = np.setdiff1d(np.arange(4096), open_)
    assert (drawn[told] == settled(rate)[first[told]]).all()


@pytest.mark.parametrize("rate", [1e-9, 1e-5, 1 - 1e-9])
def test_gaps_at_extreme_rates_are_geometric(rate):
    drawn = gaps(20_000, rate, Noise(0))
    assert (drawn >= 1).all()
    if rate > 0.5:
        check_geometric(drawn, rate)
    else:
        scaled = drawn * rate
        assert abs(scaled.mean() - 1.0) < 6 / np.sqrt(20_000)
        assert abs((scaled > 2.0).mean() - np.exp(-2.0)) < 6 * 0.35 / np.sqrt(20_000)


@pytest.mark.parametrize("rate", [1e-300, 1e-60, pytest.param(5e-324, marks=pytest.mark.slow)])
def test_rates_of_next_to_nothing_take_no_record(rate):
    assert poisson_batch(10**6, rate, Noise(0)).size == 0


# ------------------------------------------------------------------------------- integers


def exactly(n, index):
    """Words that give an index: how many, and the first and last of them."""
    spare = (1 << 32) % n
    first = -(-((index << 32) + spare) // n)
    last = ((index + 1 << 32) - 1) // n
    return last - first + 1, first, last


@pytest.mark.parametrize("n", [1, 2, 3, 7, 1000, 2**16, 2**16 + 1, 10**6, 2**31 + 1, 2**32 - 1])
def test_integers_are_unbiased(n):
    rng = np.random.default_rng(0)
    some = sorted({0, n - 1, *rng.integers(0, n, 20).tolist()})
    for index in some:
        count, first, last = exactly(n, index)
        assert count == (1 << 32) // n  # of as many words for each index
        for word, taken in [(first, True), (last, True), (first - 1, False), (last + 1, False)]:
            if not 0 <= word < 1 << 32:
                continue
            source = Replayed(np.array([word], np.uint32).tobytes())
            got = integers(n, 1, source)[0]
            if taken:
                assert got == index and source.asked == [4]
            elif len(source.asked) == 1:
                assert got != index


def test_every_word_of_a_small_machine_is_counted():
    # All words whose high half is fixed, for a count that does not divide 2^32.
    n, high = 3 * 2**14 + 1, np.arange(1 << 16, dtype=np.uint32)
    counts = np.zeros(n, dtype=int)
    for low in range(0, 1 << 16, 1 << 13):
        every = (high << np.uint32(16)) | np.uint32(low)
        source = Replayed(every.tobytes(), seed=low)
        got = integers(n, len(every), source)
        rejected = sum(source.asked[1:]) // 4
        assert rejected <= 8
        product = every.astype(object) * n
        fair = np.array([(p & 0xFFFFFFFF) >= (1 << 32) % n for p in product])
        assert (got[fair] == [p >> 32 for p in product[fair]]).all()
        np.add.at(counts, got[fair], 1)
    assert counts.max() - counts.min() <= 16


def test_subsets_are_first_occurrences():
    n, size = 1000, 40
    source = Recorded(5)
    got = subset(n, size, source)
    drawn = np.concatenate([np.frombuffer(part, np.uint32) for part in source.given])
    product = drawn.astype(np.uint64) * np.uint64(n)
    index = (product >> np.uint64(32))[(product & np.uint64(2**32 - 1)) >= np.uint64((1 << 32) % n)]
    assert got.tolist() == sorted(list(dict.fromkeys(index.tolist()))[:size]) and len(got) == size


# ----------------------------------------------------------------------------------- orders


def test_equal_keys_are_drawn_anew():
    for forced in ([5, 5, 9], [9, 5, 5], [1, 2, 1]):
        source = Replayed(words(*forced), words(3, 2, 1))
        assert permutation(3, source).tolist() == [2, 1, 0] and source.asked == [24, 24]
    source = Replayed(words(4, 4), words(0, 0), words(8, 7))
    assert permutation(2, source).tolist() == [1, 0] and len(source.asked) == 3


def keeps_ties(n, source):
    """The old formula."""
    return np.argsort(np.frombuffer(source.bytes(8 * n), np.uint64), kind="stable")


def test_an_order_that_keeps_ties_is_rejected(monkeypatch):
    monkeypatch.setitem(globals(), "permutation", keeps_ties)
    with pytest.raises(AssertionError):
        test_equal_keys_are_drawn_anew()


def test_orders_of_few_records():
    assert permutation(0, Noise(0)).size == 0 and permutation(1, Noise(0)).tolist() == [0]
    assert permutation(3, Replayed(words(30, 10, 20))).tolist() == [1, 2, 0]
