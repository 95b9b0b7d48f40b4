"""Places of doubles on the line of octaves, and bounds from noisy counts of them, against the truth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.stats import norm

from skdp.mechanisms._octaves import (
    BINS,
    bins_of,
    by_octaves,
    edges_of,
    numbers_at,
    places_of,
    to_unit,
)
from skdp.solvers._column_scales import any_support, bounds_of, records_in, support_of, unit_of

PINS = {
    1.0: 3070,
    1.5: 3070,
    2.0: 3071,
    -1.0: 1024,
    -3.0: 1023,
    0.0: 2047,
    5e-324: 2047,
    2.2250738585072014e-308: 2048,
    1e-300: 2073,
    1e300: 4066,
    1e-6: 3050,
    1e9: 3099,
    np.inf: 4093,
    -np.inf: 1,
    np.nan: 4095,
}
DOUBLES = st.floats(allow_nan=True, allow_infinity=True)


def test_pins():
    assert bins_of(places_of(np.array([*PINS]))).tolist() == [*PINS.values()]
    low, high = edges_of(np.array([3070, 2047, 4093, 1024]))
    assert low.tolist() == [1.0, 0.0, 2.0**1023, -2.0]
    assert high.tolist() == [2.0, 0.0, np.finfo(float).max, -1.0]


@given(x=st.lists(DOUBLES, min_size=2, max_size=20), d=st.integers(1, 3000))
def test_places_are_in_order_and_survive_the_vault(x, d):
    """As they are divided by a norm and multiplied again, bins stay, and numbers to twelve digits."""
    x = np.array(sorted(x, key=lambda v: (np.isnan(v), v)))
    places, scale = places_of(x), np.sqrt(d) * (1 + 1e-9)
    assert (np.diff(places) >= 0).all() and np.abs(places).max() < 1
    there = places / scale * scale
    assert_array_equal(bins_of(there), bins_of(places))
    back, finite = numbers_at(there), np.isfinite(x) & (np.abs(x) >= 2.3e-308)
    assert np.all(np.abs(back[finite] / x[finite] - 1) < 1e-12)
    assert_array_equal(np.isnan(back), np.isnan(x))
    numbers = bins_of(places) < 4094
    low, high = edges_of(bins_of(places)[numbers])
    cut = np.clip(x[numbers], -np.finfo(float).max, np.finfo(float).max)
    tiny = np.abs(cut) < 2.3e-308
    assert np.all(((low <= cut) & (cut <= high)) | tiny)


@given(
    x=st.lists(DOUBLES, min_size=1, max_size=9),
    ends=st.tuples(DOUBLES, DOUBLES),
    unit=st.sampled_from([None, 0.0, 1.0, 2.0**-1022, 2.0**1023]),
)
def test_units_are_units(x, ends, unit):
    low, high = sorted(np.nan_to_num(ends))
    unit = None if unit is None else np.array([unit])
    with np.errstate(all="ignore"):
        u = to_unit(np.array(x)[:, None], np.array([low]), np.array([high]), unit)
    assert np.abs(u).max() <= 1 and not np.isnan(u).any()


def test_pins_of_octaves_beyond_a_unit():
    x = np.array(
        [0.0, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 32.0, 40.0, -12.0, 5e-324, 1.7976931348623157e308]
    )
    seen = by_octaves(np.column_stack([x, x]), np.array([4.0, 0.0]))
    assert seen[:-2, 0].tolist() == [0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0, 4.25, -2.5]
    assert seen[-2, 0] <= 5e-324 and 1021.9 < seen[-1, 0] <= 1023.0
    assert_array_equal(seen[:, 1], x)


@given(x=st.lists(DOUBLES, min_size=2, max_size=20), octave=st.integers(-1022, 1023))
def test_octaves_beyond_a_unit_are_in_order_odd_and_near_the_logarithm(x, octave):
    x = np.array(sorted(np.nan_to_num(x)))
    unit = np.array([2.0**octave])
    seen = by_octaves(x[:, None], unit)[:, 0]
    assert (np.diff(seen) >= 0).all()
    assert_array_equal(by_octaves(-x[:, None], unit)[:, 0], -seen)
    beyond = np.abs(x) >= unit[0]
    logarithms = np.log2(np.abs(x[beyond])) - octave
    assert np.all(np.abs(np.abs(seen[beyond]) - 1.0 - logarithms) < 0.0861)


def counts_of(x, deviation, seed=0):
    """Noisy counts of one column."""
    exact = np.bincount(bins_of(places_of(np.asarray(x, float))), minlength=BINS)
    return exact + deviation * np.random.default_rng(seed).normal(size=BINS)


def test_nothing_stands_out_of_noise_alone():
    assert not any(support_of(counts_of([], 30.0, seed), 30.0, 10).any() for seed in range(300))


@pytest.mark.parametrize(("mass", "chance"), [(4, 0.05), (5, 0.27), (6, 0.66), (7, 0.92)])
def test_how_often_an_octave_is_seen(mass, chance):
    """The chance that one bin passes by itself; a larger window may see it, too."""
    z = norm.isf(1e-3 / (8192 * 10))
    assert norm.cdf(mass - z) == pytest.approx(chance, abs=0.06)
    seen = np.mean([support_of(counts_of([1.5] * mass, 1.0, s), 1.0, 10)[3070] for s in range(400)])
    assert abs(seen - norm.cdf(mass - z)) < 4 * np.sqrt(0.25 / 400)


LAWS = {
    "uniform": (lambda rng: rng.uniform(0, 1, 50_000), 0.99),
    "normal": (lambda rng: rng.normal(size=50_000), 2.33),
    "lognormal": (lambda rng: rng.lognormal(size=50_000), 10.2),
    "negative": (lambda rng: -rng.exponential(size=50_000), 4.6),
    "years": (lambda rng: rng.normal(1990, 10, 50_000), 2013.0),
}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("unit", [1e-300, 1e-6, 1.0, 1e9, 1e250])
def test_bounds_are_within_a_factor_of_the_quantile(name, unit):
    draw, quantile = LAWS[name]
    x = unit * draw(np.random.default_rng(1))
    for seed in range(5):
        low, high = bounds_of(counts_of(x, 40.0, seed), 40.0, 10, len(x))
        size = max(-low, high)
        assert 0.5 <= size / (unit * quantile) <= 2.01
        assert np.mean((x < low) | (x > high)) < 0.03


def test_few_records_lower_the_bound_and_none_give_a_sign():
    x = np.random.default_rng(0).lognormal(size=4000)
    wide, rough = (bounds_of(counts_of(x, s), s, 10, len(x))[1] for s in (1.0, 150.0))
    assert 8 <= wide <= 32 and 0.5 <= rough <= wide
    assert bounds_of(counts_of(x, 3000.0), 3000.0, 10, len(x)) == (0.0, 0.0)
    assert bounds_of(counts_of(np.zeros(4000), 5.0), 5.0, 10, 4000) == (0.0, 0.0)
    zeros = np.where(np.arange(4000) % 10, 0.0, 5.0)
    assert bounds_of(counts_of(zeros, 5.0), 5.0, 10, 4000) == (0.0, 8.0)


TAILS = {
    "uniform": (lambda rng: rng.uniform(0, 1, 50_000), False),
    "normal": (lambda rng: rng.normal(size=50_000), False),
    "exponential": (lambda rng: rng.exponential(size=50_000), False),
    "Student's of 3": (lambda rng: rng.standard_t(3, 50_000), False),
    "years": (lambda rng: rng.normal(1990, 10, 50_000), False),
    "few values": (lambda rng: rng.integers(0, 3, 50_000) * 1.0, False),
    "Cauchy": (lambda rng: rng.standard_cauchy(50_000), True),
    "lognormal of 2": (lambda rng: rng.lognormal(0, 2, 50_000), True),
    "negative": (lambda rng: -rng.lognormal(0, 2, 50_000), True),
    "mostly zero": (lambda rng: rng.lognormal(0, 2, 50_000) * (rng.random(50_000) < 0.3), True),
}


@pytest.mark.parametrize("name", TAILS)
@pytest.mark.parametrize("unit", [1e-300, 1.0, 1e9, 1e250])
def test_heavy_tails_are_found_and_no_others(name, unit):
    draw, heavy = TAILS[name]
    x = unit * draw(np.random.default_rng(1))
    least = np.quantile(np.abs(x[x != 0]), 0.03)
    for seed in range(5):
        found = unit_of(counts_of(x, 40.0, seed), 40.0, 10, len(x))
        assert (found > 0.0) == heavy
        assert not heavy or 0.25 <= found / least <= 16.0
        noise_alone = unit_of(counts_of([], 40.0, seed), 40.0, 10, len(x))
        assert noise_alone == unit_of(counts_of(np.zeros(50_000), 40.0), 40.0, 10, 50_000) == 0.0


def test_a_rough_number_of_records():
    columns = np.array(
        [counts_of(np.random.default_rng(s).normal(size=9000), 20.0, s) for s in range(5)]
    )
    assert records_in(columns, 20.0) == pytest.approx(9000, rel=0.05)
    columns[0] = counts_of(np.full(9000, np.nan), 20.0)
    assert records_in(columns[:1], 20.0) == pytest.approx(9000, rel=0.05)


def test_a_descent_through_empty_bins_is_noticed():
    """The twin that sums all bins from the top meets a random walk: it ends far above any record."""
    x, s, ends = np.random.default_rng(0).normal(size=5000), 40.0, []
    for seed in range(20):
        counts = counts_of(x, s, seed)
        assert bounds_of(counts, s, 10, len(x))[1] <= 8
        sums = np.cumsum(counts[4093:2047:-1])
        mark = np.maximum(50, 2.0 * s * np.sqrt(np.arange(1, len(sums) + 1)))
        ends += edges_of(4093 - np.flatnonzero(sums > mark)[:1])[1].tolist()
    assert max(ends) > 1e6


def test_columns_that_are_passed_over_have_no_support():
    x = np.repeat(2.0 ** np.arange(-8, 8), 40)
    sizes = (0, 3, 6, 7, 40, 100, 640)
    counts = np.array([counts_of(x[:size], 6.0, seed) for seed in range(8) for size in sizes])
    each = [support_of(column, 6.0, len(counts)).any() for column in counts]
    assert any_support(counts, 6.0).tolist() == each
    assert 0.2 < np.mean(each) < 0.8


def test_nothing_is_nothing_in_octaves():
    """A zero lies between what is a little below and a little above, whatever the unit."""
    for power in (-30, -10, 0, 10):
        unit = np.array([2.0**power])
        x = np.array([-4.0, -0.25, -0.0, 0.0, 0.25, 4.0]) * 2.0**power
        seen = by_octaves(x[:, None], unit)[:, 0]
        assert seen[2] == seen[3] == 0.0 and (np.diff(seen[[0, 1, 2, 4, 5]]) > 0).all()
