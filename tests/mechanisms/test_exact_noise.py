"""The sampler of normal deviates against mpmath: tables, comparisons on the very bits drawn, law on each path."""

import dataclasses
from functools import lru_cache

import mpmath as mp
import numpy as np
import pytest
from laws.noise_laws import check_counts
from mechanisms.recorded import Recorded, Repeated, Replayed, first_draws, words
from scipy import stats
from scipy.special import ndtr

from skdp.mechanisms import Noise, _strips
from skdp.mechanisms._strips import Deviate, lattice_normals, tables, thresholds

FIRST = 0x1973F6379717805397BD6821C885E3A
AT_ONE = 0xAE89AF85D2B53B346473149AAD07AA89
PLACES = 1 << 47


# ------------------------------------------------------------------------------- tables


@lru_cache(maxsize=8)
def strips_below(bits, strips=4000):
    """floor(2^bits F_i) by mpmath; 4000 strips leave out less than e^-488."""
    with mp.workprec(bits + 200):
        heights = [mp.exp(-((mp.mpf(i) / 128) ** 2) / 2) for i in range(strips)]
        total, running, table = mp.fsum(heights), mp.mpf(0), []
        for height in heights:
            table.append(int(mp.floor(mp.ldexp(running, bits) / total)))
            running += height
    return table


def check_thresholds(table, bits):
    """Each is within one unit of the truth, and those beyond the last are all one."""
    truth = strips_below(bits)
    assert all(abs(a - b) <= 1 for a, b in zip(table[:-1], truth))
    assert table[-1] == 1 << bits and (1 << bits) - truth[len(table) - 1] <= 1


@pytest.mark.parametrize("bits", [128, 192, 256])
def test_thresholds_are_the_true_ones_to_a_unit(bits):
    check_thresholds(thresholds(bits), bits)


@pytest.mark.parametrize("entry", [1, 128, 1000])
def test_a_threshold_that_is_off_by_2_to_the_minus_40_is_seen(entry):
    table = list(thresholds(128))
    table[entry] += 1 << 88
    with pytest.raises(AssertionError):
        check_thresholds(table, 128)


def test_thresholds_have_no_truncated_tail():
    # Of the half-normal cut off at 13 deviations (1664 strips) the threshold at 1 would end in ...aa8c: that table is
    # off by more than its own last digits. Ours is the whole half-normal's, as mpmath has it.
    assert thresholds(128)[1] == FIRST and thresholds(128)[128] == AT_ONE
    assert strips_below(128)[1] == FIRST and strips_below(128)[128] == AT_ONE
    cut = strips_below(128, strips=1664)[128]
    assert cut == AT_ONE + 3
    assert len(thresholds(256)) > len(thresholds(192)) > len(thresholds(128)) > 1664


def test_slots_and_limits_promise_no_more_than_is_true():
    known, truth = tables(), strips_below(128)
    assert np.count_nonzero(known.limit == 0) == 478
    told = np.flatnonzero(known.limit)
    strip = known.base[told] >> 47
    for slot, i in zip(told.tolist(), strip.tolist()):
        assert truth[i] <= slot << 112 and (slot + 1) << 112 <= truth[i + 1]
    assert known.limit[0] == 65534 and known.limit[told].min() == 63778
    # exp(-t) >= 1 - t and t <= (2i + 1) w^2 / 2, in integers.
    assert (known.limit[told].astype(int) * 2**15 <= 2**31 - 2**16 * (2 * strip + 1)).all()


def test_words_that_tell_a_strip_lie_in_it_and_few_do_not():
    known, truth = tables(), strips_below(128)
    least, below = known.least.tolist(), known.below.tolist()
    for i, (low, high) in enumerate(zip(least, below)):
        assert truth[i] < (low << 64) + (i == 0) and high << 64 <= truth[i + 1]
        assert low - (truth[i] >> 64) <= 2 and (truth[i + 1] >> 64) - high <= 1
    assert all(a <= b for a, b in zip(below, least[1:]))


def test_draws_are_pinned():
    pinned = [-182418136, 207863385, -3664388, 2801778524, 679607017, 835997692]
    assert lattice_normals(6, 31, Noise(1)).tolist() == pinned


# ---------------------------------------------------------------------- comparisons, exactly


@pytest.mark.parametrize("i", [1, 2, 128, 700, 1172, 1600])
@pytest.mark.parametrize("offset", [-3, -2, -1, 0, 1, 2, 3])
def test_words_equal_to_a_threshold_are_told_by_longer_ones(i, offset):
    number = thresholds(128)[i] + offset
    for seed in range(5):
        rest = Recorded(seed)
        got = _strips._strip(number >> 64, Replayed(words(number % 2**64), seed=seed))
        full = (number << 128) | int.from_bytes(rest.bytes(8), "little") << 64
        truth = strips_below(256)
        assert truth[got] <= full + (1 << 64) and full < truth[got + 1] + 1
        if abs(offset) == 3:
            assert got == (i if offset > 0 else i - 1)


@pytest.mark.parametrize("more", [0, 16, 40])
def test_a_word_of_ones_lies_in_the_far_tail(more):
    source = Repeated(255, 8 + more)
    got = _strips._strip((1 << 64) - 1, source)
    assert got > 128 * (9 if more == 0 else 13)
    bits = 64 * (3 + more // 8)
    known = (1 << bits) - (1 << 64 * 2)  # all but the last drawn are ones
    table = thresholds(bits)
    assert table[got + 1] > known


def check_accepts(strip, place, coin, seed):
    """The exact comparison says what mpmath says of all bits that were drawn for it; how many rounds it took."""
    source, drawn = Recorded(seed), Deviate(False, strip, place, 47)
    got = _strips._accept_exactly(drawn, coin, source)
    for more in source.given[::2]:
        coin = (coin << 64) | int.from_bytes(more, "little")
    bits = 64 * (1 + len(source.given) // 2)
    with mp.workprec(2 * bits + 200):
        ends = [mp.ldexp(drawn.place + k, -drawn.bits) for k in (0, 1)]
        near, far = (mp.exp(-p * (strip + p / 2) / 2**14) for p in ends)
        if got:
            assert mp.ldexp(coin + 1, -bits) <= far
        else:
            assert mp.ldexp(coin, -bits) >= near
    return len(source.given) // 2


def edge(strip, place):
    """2^64 exp(-t), rounded down."""
    with mp.workprec(200):
        part = mp.ldexp(place, -47)
        return int(mp.floor(mp.ldexp(mp.exp(-part * (strip + part / 2) / 2**14), 64)))


def test_acceptance_near_the_edge_agrees_with_mpmath_on_both_sides():
    rng, longer = np.random.default_rng(0), 0
    for case in range(1500):
        strip, place = int(rng.integers(0, 2000)), int(rng.integers(0, PLACES))
        offset = int(rng.choice([-1, 1])) * int(2.0 ** rng.uniform(0, 24)) - 1
        coin = min(max(edge(strip, place) + offset, 0), 2**64 - 1)
        longer += check_accepts(strip, place, coin, case) > 0
    assert longer > 300  # else the loop that draws more bits was never tried


def test_the_quick_comparison_is_implied_by_the_true_one():
    rng = np.random.default_rng(1)
    strip = rng.integers(0, 2000, 3000)
    place = rng.integers(0, PLACES, 3000).astype(np.uint64)
    ends = [edge(int(i), int(r)) for i, r in zip(strip, place)]
    for away in (-(2**26), -(2**24) - 2**18, -(2**23), 2**23, 2**24 + 2**18, 2**26):
        coin = np.array([min(max(e + away, 0), 2**64 - 1) for e in ends], dtype=np.uint64)
        kept, doubtful = _strips._accepted(strip, place, coin)
        near = np.array([abs(int(c) - e) < 2**24 for c, e in zip(coin, ends)])
        assert doubtful[near].all() and (kept[~doubtful] == (away < 0)).all()
        if abs(away) > 2**24:
            clear = np.array([int(c) == e + away for c, e in zip(coin, ends)])
            assert not doubtful[clear].any()
        for k in range(0, 3000, 29):
            drawn = Deviate(False, int(strip[k]), int(place[k]), 47)
            if not doubtful[k]:
                assert _strips._accept(drawn, int(coin[k]), Noise(0)) == (away < 0)


def test_first_bytes_that_are_all_zero_or_all_one():
    assert not lattice_normals(9, 53, Repeated(0)).any()
    for count in (1, 50):
        sample = lattice_normals(count, 40, Repeated(255, 10 * count))
        assert (np.abs(sample) < 12 * 2**40).all() and sample.all()


# ----------------------------------------------------------------------- roundings, signs


def test_the_same_bytes_are_roundings_of_one_number():
    finest = lattice_normals(4000, 53, Noise(2)).tolist()
    for bits in (0, 1, 8, 31, 51, 52):
        for z, fine in zip(lattice_normals(4000, bits, Noise(2)).tolist(), finest):
            assert abs(2 * (z << (53 - bits)) - 2 * fine) <= (1 << (53 - bits)) + 1
    # One further bit, and the rounding of what was rounded: at most half a step more.
    for fine, coarse in zip(finest, lattice_normals(4000, 52, Noise(2)).tolist()):
        assert abs(2 * coarse - fine) <= 1


def test_a_flipped_sign_bit_flips_the_sign_and_nothing_else():
    rng = np.random.default_rng(3)
    word = rng.integers(0, 2**64, 2000, dtype=np.uint64)
    word = word[tables().limit[word >> np.uint64(48)] > 0]
    coin = np.zeros(len(word), np.uint16)
    for bits in (0, 8, 53):
        plain = lattice_normals(len(word), bits, Replayed(first_draws(word, coin)))
        other = lattice_normals(
            len(word), bits, Replayed(first_draws(word ^ np.uint64(1 << 47), coin))
        )
        assert (plain == -other).all()


# ---------------------------------------------------------------------------------- law


def check_mass(sample, bits):
    """Multiples of 2^-bits come as often as a rounded deviate takes them."""
    low, high = sample.min() - 1, sample.max() + 1
    at = np.arange(low, high + 1)
    mass = ndtr((at + 0.5) * 2.0**-bits) - ndtr((at - 0.5) * 2.0**-bits)
    mass[[0, -1]] += ndtr([(low - 0.5) * 2.0**-bits, -(high + 0.5) * 2.0**-bits])
    check_counts(np.bincount(sample - low, minlength=len(at)), mass * len(sample))


def check_cells(sample, bits=40):
    """At 40 bits: cells of an eighth of a deviation, tails, low bytes, neighbours, signs beside places."""
    n, scaled = len(sample), sample * 2.0**-bits
    ends = np.r_[-np.inf, (np.arange(-40, 41) * 2.0 ** (bits - 3) - 0.5) * 2.0**-bits, np.inf]
    check_counts(np.histogram(scaled, ends)[0], np.diff(ndtr(ends)) * n)
    for far in (3, 4, 5):
        seen, chance = np.count_nonzero(np.abs(scaled) > far), 2 * ndtr(-far)
        assert stats.binomtest(seen, n, chance).pvalue > 1e-7, f"{seen} beyond {far}"
    check_counts(np.bincount(sample & 255, minlength=256), np.full(256, n / 256))
    pairs = (sample[:-1] & 15) * 16 + (sample[1:] & 15)
    check_counts(np.bincount(pairs, minlength=256), np.full(256, (n - 1) / 256))
    # The first three bits of the place in a strip, and the sign, which has no part in them.
    eighths = np.bincount(((np.abs(sample) >> (bits - 10)) & 7) + 8 * (sample < 0), minlength=16)
    assert stats.chi2_contingency(eighths.reshape(2, 8)).pvalue > 1e-7, "signs know of places"


@pytest.mark.parametrize("bits", [0, 1, 3, 8])
def test_mass_function(bits):
    check_mass(lattice_normals(1_000_000, bits, Noise(bits)), bits)


@pytest.mark.parametrize("seed", [0, None])
def test_cells_tails_and_low_bits(seed):
    check_cells(lattice_normals(1_000_000, 40, Noise(seed)))


@pytest.mark.slow
def test_law_of_many_draws():
    for seed in range(8):
        check_cells(lattice_normals(10_000_000, 40, Noise(seed)))
        for bits in (0, 1, 3, 8):
            check_mass(lattice_normals(10_000_000, bits, Noise(seed)), bits)


PATHS = {"strips open": 0, "acceptance open": 1}


def limited(monkeypatch, most):
    known = tables()
    forced = dataclasses.replace(known, limit=np.minimum(known.limit, most))
    monkeypatch.setattr(_strips, "tables", lambda: forced)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("one_by_one", [False, True])
def test_law_of_each_path(path, one_by_one, monkeypatch):
    limited(monkeypatch, PATHS[path])
    monkeypatch.setattr(_strips, "_FEW", 1 << 40 if one_by_one else 0)
    check_cells(lattice_normals(15_000 if one_by_one else 500_000, 40, Noise(6)))


def test_law_where_all_comparisons_are_exact(monkeypatch):
    limited(monkeypatch, 1)
    monkeypatch.setattr(_strips, "_MARGIN", 2.0)
    for few in (0, 1 << 40):
        monkeypatch.setattr(_strips, "_FEW", few)
        check_cells(lattice_normals(8_000, 40, Noise(few % 7)))


@pytest.mark.parametrize("count", [1, 6, 7])
def test_law_of_few_draws_at_a_time(count, monkeypatch):
    limited(monkeypatch, 1)
    source = Noise(count)
    sample = np.concatenate([lattice_normals(count, 40, source) for _ in range(12_000 // count)])
    check_cells(sample)


# -------------------------------------------------------------------------- sabotaged twins


def test_a_sampler_that_truncates_is_rejected(monkeypatch):
    def truncated(size, sign, bits):
        size = size >> (54 - bits)
        return np.where(sign & np.uint64(1), -size, size)

    monkeypatch.setattr(_strips, "_rounded", truncated)
    with pytest.raises(AssertionError):
        check_mass(lattice_normals(200_000, 0, Noise(0)), 0)


def test_a_sampler_that_drops_open_slots_is_rejected(monkeypatch):
    def dropped(out, open_, word, coin, bits, source):
        told = tables().limit.take((word[open_] >> np.uint64(48)).astype(int)) > 0
        settle(out, open_[told], word, coin, bits, source)
        if not told.all():
            out[open_[~told]] = lattice_normals(np.count_nonzero(~told), bits, source)

    settle = _strips._settle
    monkeypatch.setattr(_strips, "_settle", dropped)
    with pytest.raises(AssertionError):
        check_cells(lattice_normals(1_000_000, 40, Noise(0)))


def test_a_sampler_whose_sign_is_a_place_bit_is_rejected(monkeypatch):
    rounded = _strips._rounded
    monkeypatch.setattr(
        _strips,
        "_rounded",
        lambda size, sign, bits: rounded(size, size.view(np.uint64) >> 46, bits),
    )
    with pytest.raises(AssertionError, match="places"):
        check_cells(lattice_normals(200_000, 40, Noise(0)))


def test_an_acceptance_by_the_first_term_of_the_series_is_rejected(monkeypatch):
    monkeypatch.setattr(_strips, "_one_minus_exp", lambda t: t)
    with pytest.raises(AssertionError):
        test_the_quick_comparison_is_implied_by_the_true_one()
