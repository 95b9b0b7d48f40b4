"""Histograms and moments of columns with one fault each, and the law that rejects it."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from laws.registry_noise_law import draws
from laws.sample_laws import check_normal
from laws.sensitivity_laws import check_never_exceeded, pair_of
from laws.vaults import vault

from skdp.mechanisms import ColumnCounts, ColumnMoments, Noise, Public


@dataclass(frozen=True, eq=False, kw_only=True)
class OnlyOneBin(ColumnCounts):
    """Forgets that a replaced record enters a bin, too."""

    def sensitivity(self, public):
        return self.bound(public)


@dataclass(frozen=True, eq=False, kw_only=True)
class OnlyOneColumn(ColumnCounts):
    """Forgets that a record is in every column."""

    def sensitivity(self, public):
        return np.sqrt(2.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class HeavySquares(ColumnMoments):
    """Squares of a weight that is no longer free: 2.8 for 2.77."""

    def weight(self, public):
        return np.sqrt(2.9)


@dataclass(frozen=True, eq=False, kw_only=True)
class Uncut(ColumnMoments):
    """Trusts that numbers are within their bounds."""

    def measure(self, records):
        return 1.5 * super().measure(records)


@dataclass(frozen=True, eq=False, kw_only=True)
class NoiseWhereSomebodyIs(ColumnCounts):
    """Leaves empty bins without noise."""

    def answer(self, records, noise):
        exact = self.measure(records)
        return np.where(exact > 0, noise.gaussian(exact, self.grid(records.public)), 0.0)


@pytest.mark.parametrize("twin", [OnlyOneBin, OnlyOneColumn])
def test_sabotaged_ColumnCounts_are_rejected(twin):
    question, *pair, _ = pair_of(ColumnCounts).worst_pair("replace_one")
    check_never_exceeded(question, [pair])
    with pytest.raises(AssertionError):
        check_never_exceeded(twin(multiplier=1.0, scale=question.scale), [pair])


def test_sabotaged_ColumnMoments_are_rejected():
    question, *pair, _ = pair_of(ColumnMoments).worst_pair("replace_one")
    check_never_exceeded(question, [pair])
    with pytest.raises(AssertionError):
        check_never_exceeded(Uncut(multiplier=1.0, low=question.low, high=question.high), [pair])


def worst_move(question):
    """Largest move of one column's sums over a grid of pairs, over what is claimed."""
    public = Public(10, 1, 0.0, "replace_one")
    u, c = np.linspace(-1, 1, 2001), question.weight(public)
    p, q = u[:, None] - u, u[:, None] ** 2 - u**2
    return np.sqrt(p**2 + c**2 * q**2).max() / question.sensitivity(public)


def test_squares_of_ColumnMoments_are_free_up_to_their_weight():
    given = {"multiplier": 1.0, "low": [-1.0], "high": [1.0]}
    assert 1 - 1e-12 <= worst_move(ColumnMoments(**given)) <= 1 + 1e-12
    assert worst_move(HeavySquares(**given)) > 1.001


def test_noise_of_ColumnCounts_is_on_every_bin():
    """Whether a bin is empty must not show: no count of a few records may be exact."""
    records = vault([[0.1], [0.1], [-0.3]], [1, 1, -1])
    sound = ColumnCounts(multiplier=3.0).answer(records, Noise(seed=0))
    broken = NoiseWhereSomebodyIs(multiplier=3.0).answer(records, Noise(seed=0))
    assert (sound == 0).mean() < 0.01 and (broken == 0).mean() > 0.99


@dataclass(frozen=True, eq=False, kw_only=True)
class HalfTheNoise(ColumnCounts):
    """Noise on a lattice of half the step."""

    def grid(self, public):
        whole = super().grid(public)
        return replace(whole, step=0.5 * whole.step)


def test_half_the_noise_of_ColumnCounts_is_rejected():
    """Twelve thousand bins a draw: two draws tell."""
    question, records, *_ = pair_of(ColumnCounts).worst_pair("replace_one")
    paid = question.event(records.public).multiplier * question.sensitivity(records.public)
    check_normal(draws(question, records, Noise(7), times=2).reshape(-1, 1), paid)
    broken = HalfTheNoise(multiplier=1.0, scale=question.scale)
    with pytest.raises(AssertionError):
        check_normal(draws(broken, records, Noise(7), times=2).reshape(-1, 1), paid)
