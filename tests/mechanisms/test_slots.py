"""Six bytes a deviate: what slots take and leave against mpmath, comparisons on the very bits, law on each path."""

import dataclasses

import mpmath as mp
import numpy as np
import pytest
from laws.noise_laws import check_counts
from mechanisms.recorded import Recorded, Repeated, Replayed, words
from mechanisms.test_exact_noise import check_cells, check_mass, strips_below
from scipy.special import ndtr

from skdp.mechanisms import Noise, _lattice
from skdp.mechanisms._lattice import MANY, lattice, many_normals, of_counts, on_lattice, slots
from skdp.mechanisms._strips import Deviate

PLACES = 1 << 47


def sample_of(count, bits, seed):
    source = Noise(seed)
    return np.concatenate([many_normals(1 << 14, bits, source) for _ in range(count >> 14)])


# -------------------------------------------------------------------------------------------------------- tables


def test_slots_take_what_is_surely_kept_and_hardly_less():
    truth, counts = strips_below(200), slots().counts
    with mp.workprec(300):
        for i in range(len(counts)):
            chance = mp.ldexp(truth[i + 1] - truth[i], -200)
            sure = mp.ldexp(chance * (1 - mp.mpf(2 * i + 1) / 2**15), 15)
            assert counts[i] <= sure < counts[i] + 1 + mp.mpf(10) ** -20
    assert sum(counts) * 2 == slots().told == 64648


def test_each_slot_stands_for_its_strip_and_sign():
    known = slots()
    assert (known.base % 2**32 == 0).all() and not known.base[known.told :].any()
    strip, seen = known.base[: known.told] >> 32, np.array(known.counts)
    assert (np.bincount(strip[strip >= 0], minlength=len(seen)) == seen).all()
    assert (np.bincount(-1 - strip[strip < 0], minlength=len(seen)) == seen).all()


@pytest.mark.parametrize("bits", [128, 192])
def test_what_is_left_below_each_strip_is_known_to_a_unit(bits):
    taken, counts, truth = 0, slots().counts, strips_below(bits)
    table = _lattice.left_below(bits, counts)
    for i, edge in enumerate(table[:-1]):
        assert abs(edge - (truth[i] - (taken << (bits - 15)))) <= 1
        taken += counts[i] if i < len(counts) else 0
    assert table[-1] == (1 << bits) - (taken << (bits - 15))


def test_words_that_tell_a_strip_of_what_is_left_lie_in_it():
    known, taken, truth = slots(), 0, strips_below(128)
    for i, (low, high) in enumerate(zip(known.least.tolist(), known.below.tolist())):
        share = known.counts[i] if i < len(known.counts) else 0
        edges = truth[i] - (taken << 113), truth[i + 1] - ((taken + share) << 113)
        assert edges[0] < (low << 64) + (i == 0) and high << 64 <= edges[1]
        assert low - (edges[0] >> 64) <= 2 and (edges[1] >> 64) - high <= 1
        left = (edges[1] - edges[0]) / (truth[i + 1] - truth[i])
        assert abs(known.left[i] - left) <= 1e-15
        taken += share


# --------------------------------------------------------------------------------------------- comparisons, exactly


def share_of(strip):
    """What slots take of a strip's probability."""
    counts = slots().counts
    truth = strips_below(400)
    taken = counts[strip] if strip < len(counts) else 0
    return mp.ldexp(taken, 385) / (truth[strip + 1] - truth[strip])


def edge(strip, place):
    """2^64 (exp(-t) - c) / (1 - c), rounded down."""
    with mp.workprec(500):
        part, share = mp.ldexp(place, -47), share_of(strip)
        kept = mp.exp(-part * (strip + part / 2) / 2**14)
        return int(mp.floor(mp.ldexp((kept - share) / (1 - share), 64)))


def cases(count, seed):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield int(rng.integers(0, 500)), int(rng.integers(0, PLACES)), rng


def test_acceptance_near_the_edge_agrees_with_mpmath_on_both_sides():
    longer = 0
    for case, (strip, place, rng) in enumerate(cases(600, 0)):
        offset = int(rng.choice([-1, 1])) * int(2.0 ** rng.uniform(0, 30)) - 1
        coin = min(max(edge(strip, place) + offset, 0), 2**64 - 1)
        source, drawn = Recorded(case), Deviate(False, strip, place, 47)
        got, bits = _lattice._kept_exactly(drawn, coin, source), 64
        for more in source.given[::2]:
            coin, bits = (coin << 64) | int.from_bytes(more, "little"), bits + 64
        with mp.workprec(2 * bits + 400):
            ends = [mp.ldexp(drawn.place + k, -drawn.bits) for k in (0, 1)]
            near, far = (mp.exp(-p * (strip + p / 2) / 2**14) for p in ends)
            share = share_of(strip)
            low, high = (mp.ldexp(coin + k, -bits) * (1 - share) + share for k in (0, 1))
            assert high <= far if got else low >= near
        longer += len(source.given) > 0
    assert longer > 100  # else the loop that draws more bits was never tried


def test_the_quick_comparison_is_implied_by_the_true_one():
    drawn = [(strip, place) for strip, place, _ in cases(1000, 1)]
    strip, place = (np.array(part) for part in zip(*drawn))
    ends = [edge(i, r) for i, r in drawn]
    for away in (-(2**40), -(2**20), 2**20, 2**40):
        coin = np.array([min(max(e + away, 0), 2**64 - 1) for e in ends], dtype=np.uint64)
        kept, doubtful = _lattice._kept(strip, place.astype(np.uint64), coin)
        clear = np.array([int(c) == e + away for c, e in zip(coin, ends)])
        assert (kept[~doubtful & clear] == (away < 0)).all()
        assert doubtful[clear].all() if abs(away) == 2**20 else not doubtful[strip > 40].all()


@pytest.mark.parametrize("i", [1, 2, 128, 400, 430, 900])
@pytest.mark.parametrize("offset", [-3, -2, -1, 0, 1, 2, 3])
def test_words_equal_to_a_threshold_are_told_by_longer_ones(i, offset):
    counts = slots().counts
    number = _lattice.left_below(128, counts)[i] + offset
    got = _lattice._strip(number >> 64, Replayed(words(number % 2**64), seed=i))
    full = (number << 128) | int.from_bytes(Noise(i).bytes(8), "little") << 64
    truth = _lattice.left_below(256, counts)
    assert truth[got] <= full + (1 << 64) and full < truth[got + 1] + 1
    if abs(offset) == 3:
        assert got == (i if offset > 0 else i - 1)


def test_the_last_word_lies_in_the_far_tail():
    last = ((1 << 15) - sum(slots().counts) << 49) - 1
    assert _lattice._strip(last, Replayed(words(2**64 - 1), seed=0)) > 128 * 11


@pytest.mark.parametrize("sign", [0, 1])
@pytest.mark.parametrize("more, strip", [(0, 127), (2**64 - 1, 128)])
def test_a_draw_at_a_threshold_takes_the_strip_that_longer_words_tell(more, strip, sign):
    word = _lattice.left_below(128, slots().counts)[128] >> 64
    index = np.array([(word >> 49) << 1 | sign], dtype=np.uint64)
    source = Replayed(words((word << 15) % 2**64, 0, 0), words(more))
    got = _lattice._of_the_rest(
        index, 38, source
    )  # at the lower end of the strip, with the least coin
    assert got.tolist() == [(1 - 2 * sign) * (strip << 31)] and len(source.asked) == 2


def test_bytes_that_are_all_zero_take_the_first_slot():
    assert not many_normals(MANY, 31, Repeated(0)).any()


# ----------------------------------------------------------------------------------------------------------- law


@pytest.mark.parametrize("bits", [0, 3, 8])
def test_mass_function(bits):
    check_mass(sample_of(1 << 20, bits, bits), bits)


@pytest.mark.parametrize("seed", [0, None])
def test_cells_tails_and_low_bits(seed):
    check_cells(sample_of(1 << 20, 38, seed), 38)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.97])
def test_the_law_is_the_same_whatever_slots_take(share, monkeypatch):
    fewer = of_counts(tuple(int(share * count) for count in slots().counts))
    monkeypatch.setattr(_lattice, "slots", lambda: fewer)
    check_cells(sample_of(1 << 19, 38, 5), 38)


def test_law_where_all_comparisons_are_exact(monkeypatch):
    fewer = of_counts(tuple(count // 2 for count in slots().counts))
    monkeypatch.setattr(_lattice, "slots", lambda: fewer)
    monkeypatch.setattr(_lattice, "MARGIN", 2.0)
    check_cells(sample_of(1 << 14, 38, 6), 38)


def wanted_of_the_rest():
    """Of what slots leave: each eighth of a strip, all strips together, and beyond three deviations."""
    known = slots()
    at = np.arange(0, 12 * 128 * 8 + 1) / 1024.0
    mass = 2.0 * np.diff(ndtr(at)).reshape(-1, 8)
    # What rejection keeps of all proposals, in proposals.
    kept = mass * (
        0.5
        * np.sqrt(2.0 * np.pi)
        / (1 / 128 * np.exp(-0.5 * (np.arange(12 * 128) / 128) ** 2).sum())
    )
    taken = np.zeros(len(kept))
    taken[: len(known.counts)] = np.array(known.counts) / 2.0**15
    left = np.maximum(kept - taken[:, None] / 8.0, 0.0) / (1.0 - taken.sum())
    again = 1.0 - left.sum()
    return left.sum(axis=0) + again * mass.sum(axis=0), left[384:].sum() + again * mass[384:].sum()


def check_the_rest(count=400_000):
    rng = np.random.default_rng(0)
    index = rng.integers(0, (1 << 16) - slots().told, count).astype(np.uint64)
    sample = _lattice._of_the_rest(index, 38, Noise(7))
    eighths, far = wanted_of_the_rest()
    check_counts(np.bincount((np.abs(sample) >> 28) & 7, minlength=8), eighths * count)
    beyond = np.count_nonzero(np.abs(sample) >= 3 << 38)
    check_counts(np.array([beyond, count - beyond]), np.array([far, 1.0 - far]) * count)


def test_law_of_what_slots_leave():
    check_the_rest()


def test_the_same_bytes_are_roundings_of_one_number():
    finest = sample_of(1 << 14, 38, 2)
    for bits in (0, 8, 31, 37):
        coarse = sample_of(1 << 14, bits, 2)
        assert (np.abs(2 * (coarse << (38 - bits)) - 2 * finest) <= (1 << (38 - bits)) + 1).all()


def test_draws_are_pinned_and_few_or_fine_ones_are_those_of_words():
    pinned = [-1066680114, -2448352784, -517178929, 6301550080]
    assert many_normals(MANY, 31, Noise(1))[:4].tolist() == pinned
    for count, bits in ((MANY - 1, 31), (MANY, 39)):
        plain = _lattice._strips.lattice_normals(count, bits, Noise(1))
        assert (many_normals(count, bits, Noise(1)) == plain).all()


def test_long_answers_are_rounded_statistics_and_rounded_noise():
    exact = np.random.default_rng(1).normal(size=(3, 40_000))
    grid, source = lattice(3.0, 1.0, 1e-12, exact.size), Noise(9)
    got = on_lattice(exact, grid, Noise(9))
    steps = np.rint(exact / grid.step).astype(int).ravel()
    parts = [many_normals(min(1 << 16, exact.size - k), grid.bits, source) for k in (0, 1 << 16)]
    assert got.shape == exact.shape
    assert (got.ravel() == (steps + np.concatenate(parts)) * grid.step).all()


# ------------------------------------------------------------------------------------------------ sabotaged twins


def twin(monkeypatch, **wrong):
    broken = dataclasses.replace(slots(), **wrong)
    monkeypatch.setattr(_lattice, "slots", lambda: broken)


def test_a_coin_that_forgets_what_slots_took_is_rejected(monkeypatch):
    twin(monkeypatch, left=np.ones(len(slots().left)))
    with pytest.raises(AssertionError):
        check_the_rest()


def test_open_slots_that_are_drawn_afresh_are_rejected(monkeypatch):
    afresh = _lattice._strips.lattice_normals
    monkeypatch.setattr(_lattice, "_of_the_rest", lambda index, *given: afresh(len(index), *given))
    with pytest.raises(AssertionError):
        check_cells(sample_of(1 << 20, 38, 0), 38)


def test_strips_of_the_whole_law_for_what_is_left_are_rejected(monkeypatch):
    whole = of_counts(())
    twin(monkeypatch, least=whole.least, below=whole.below)
    with pytest.raises(AssertionError):
        check_the_rest()


def test_negative_strips_that_begin_at_their_upper_ends_are_rejected(monkeypatch):
    known = slots()
    base = known.base.copy()
    base[known.told // 2 : known.told] += 1 << 32
    twin(monkeypatch, base=base)
    with pytest.raises(AssertionError):
        check_cells(sample_of(1 << 20, 38, 0), 38)
