"""Questions of evaluation with one thing wrong each: the law of sensitivity rejects them."""

from dataclasses import dataclass

import numpy as np
import pytest
from laws.sensitivity_laws import check_never_exceeded, pair_of
from laws.vaults import vault

from skdp.mechanisms import CellCounts, MeanLoss, RankSum


@dataclass(frozen=True, eq=False, kw_only=True)
class OneCellMoves(CellCounts):
    """Forgets that a replaced record leaves a cell and enters another."""

    def sensitivity(self, public):
        return 1.0


@dataclass(frozen=True, eq=False, kw_only=True)
class HeavierSquare(MeanLoss):
    """A second moment that weighs more than what is free."""

    def measure(self, records):
        return super().measure(records) * np.array([1.0, 1.02])


@dataclass(frozen=True, eq=False, kw_only=True)
class BelievesTheClasses(RankSum):
    """Takes the size of the larger class as it is said to be, and shrinks nothing."""

    def measure(self, records):
        whole = RankSum(largest=1e9, multiplier=1.0)
        return whole.measure(records)


@dataclass(frozen=True, eq=False, kw_only=True)
class NoFloor(RankSum):
    """Shrinks, with a bound below two thirds of all."""

    def bound(self, public):
        return min(float(public.n), max(self.largest, public.n / 2))


def passing():
    """A class of seven in eight, passed by the record of the other class."""
    common, y = [[0.0]] * 7, [0] * 7 + [1]
    yield vault([*common, [-0.9]], y), vault([*common, [0.9]], y)


def changing():
    """A record that leaves the larger class at its end for the other's far end."""
    for n in (10, 20, 40):
        for m in range(n // 2, n):
            X, y = [[0.0]] * m + [[0.5]] * (n - m), [0] * m + [1] * (n - m)
            for score in (-0.9, 0.25, 0.9):
                yield vault(X, y), vault([*X[:-1], [score]], [*y[:-1], 0])


def test_cells_that_forget_one_side_are_rejected():
    _, records, neighbour, _ = pair_of(CellCounts).worst_pair("replace_one")
    check_never_exceeded(CellCounts(multiplier=1.0), [(records, neighbour)])
    with pytest.raises(AssertionError):
        check_never_exceeded(OneCellMoves(multiplier=1.0), [(records, neighbour)])


def test_a_heavier_square_is_rejected():
    golden = (np.sqrt(5.0) - 1.0) / 2.0
    pair = vault([[0.1]], [golden]), vault([[0.1]], [0.0])
    check_never_exceeded(MeanLoss(multiplier=1.0), [pair])
    with pytest.raises(AssertionError):
        check_never_exceeded(HeavierSquare(multiplier=1.0), [pair])


def test_a_rank_sum_that_believes_what_it_is_told_is_rejected():
    check_never_exceeded(RankSum(largest=1.0, multiplier=1.0), [*passing(), *changing()])
    with pytest.raises(AssertionError):
        check_never_exceeded(BelievesTheClasses(largest=1.0, multiplier=1.0), list(passing()))


def test_a_rank_sum_without_a_floor_is_rejected():
    with pytest.raises(AssertionError):
        check_never_exceeded(NoFloor(largest=1.0, multiplier=1.0), list(changing()))
