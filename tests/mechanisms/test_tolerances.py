"""Certificates over many columns: ordinary products mostly meet them; twofold sums are exact however they are cut."""

from fractions import Fraction

import numpy as np
import pytest

from skdp.losses import Logistic
from skdp.mechanisms import Public, _limits, _twofold
from skdp.mechanisms._limits import Limits
from skdp.mechanisms._mapped import MappedRows
from skdp.mechanisms._rows import DenseRows


def tolerance(width, depth=0, n=1000):
    """Of a smooth objective with strength 1."""
    public = Public(
        n=n, n_features=width, intercept=0.0, neighbors="replace_one", stretch=1.0, depth=depth
    )
    return Limits(public, Logistic(), 1.0, 1.0, 1.0, 10.0).tolerance()


def test_a_tolerance_grows_with_the_columns_from_some_width_on():
    assert tolerance(3) == tolerance(200) == pytest.approx(1e-12 * (1000 + 1e4), rel=1e-12)
    assert tolerance(500) == tolerance(20, depth=500) == pytest.approx(2.5 * tolerance(200))


def error_over_tolerance(d, plenty, monkeypatch, n=20_000):
    """Of the last gradient of a usual fit in whitened coordinates, made of ordinary products.

    Rows half as long as their bound, slopes of a half or less, and parameters as long as noise makes them.
    """
    monkeypatch.setattr(_limits, "PLENTY", plenty)
    size = d + 1
    below = DenseRows(np.broadcast_to(0.0, (n, d)), np.ones(n), np.full(n, 0.5), 0.5)
    whitening = np.eye(size) * 1.25  # as long as sqrt(d) in all
    rows = MappedRows(below, whitening, np.ones(n), twofold=True)
    stretch = float(np.linalg.norm(whitening))
    public = Public(n, size, 0.0, "replace_one", stretch=stretch, depth=size)
    limits = Limits(public, Logistic(), 1.0, 10.0, 10.0, 100.0)
    w = np.full(size, 20.0 / np.sqrt(size))
    return limits.quick(rows, np.full(n, 0.4), w, 300.0) / limits.tolerance()


@pytest.mark.parametrize("d", [100, 300, 500, 1000])
def test_ordinary_products_mostly_meet_a_tolerance(d, monkeypatch):
    assert error_over_tolerance(d, _limits.PLENTY, monkeypatch) < 0.8


def test_a_tolerance_that_they_miss_is_seen(monkeypatch):
    assert error_over_tolerance(1000, 1e9, monkeypatch) > 1.0


@pytest.mark.parametrize("shape", [(7, 5), (300, 130), (1, 9), (40, 1), (0, 3), (5, 0)])
def test_weighted_sums_are_the_same_bits_however_they_are_cut(monkeypatch, shape):
    rng = np.random.default_rng(1)
    rows, high = rng.normal(size=shape), rng.normal(size=shape[0])
    low = high * 2.0**-55 * rng.normal(size=shape[0])
    whole = _twofold.weighted(rows, high, low)
    monkeypatch.setattr(_twofold, "_NEAR", 1)
    for one, other in zip(whole, _twofold.weighted(rows, high, low)):
        np.testing.assert_array_equal(one, other)


def test_weighted_sums_are_those_of_rationals():
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(60, 3)) * np.exp(rng.normal(size=(60, 3)) * 8.0)
    high = rng.normal(size=60)
    low = high * 2.0**-54
    first, second = _twofold.weighted(rows, high, low)
    for k in range(3):
        exact = sum(
            Fraction(x) * (Fraction(a) + Fraction(b)) for x, a, b in zip(rows[:, k], high, low)
        )
        size = sum(abs(x * a) for x, a in zip(rows[:, k], high))
        assert abs(Fraction(first[k]) + Fraction(second[k]) - exact) < Fraction(size) / 2**98
        assert abs(float(exact) - rows[:, k] @ high) > size * 2.0**-70  # one precision tells less
