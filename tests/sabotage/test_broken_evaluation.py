"""Questions of evaluation with one thing wrong each: the laws of sensitivity and of noise reject them."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from laws.registry_noise_law import check_noise
from laws.sensitivity_laws import check_never_exceeded, pair_of
from laws.vaults import vault

from skdp.mechanisms import CellCounts, MeanLoss, Public, RankSum, Records


@dataclass(frozen=True, eq=False, kw_only=True)
class OneCellMoves(CellCounts):
    """Forgets that a replaced record leaves a cell and enters another."""

    def sensitivity(self, public):
        return 1.0


@dataclass(frozen=True, eq=False, kw_only=True)
class OneCellForAll(CellCounts):
    """Counts a target beyond the cells in a cell of its own."""

    def measure(self, records):
        return np.bincount(np.rint(records.y).clip(0).astype(int), minlength=self.cells).astype(
            float
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class UnboundedLoss(MeanLoss):
    """Believes that losses lie between 0 and 1."""

    def measure(self, records):
        return np.array([records.y.sum(), 0.0])


@dataclass(frozen=True, eq=False, kw_only=True)
class BoundedBelow(MeanLoss):
    """Losses are 0 or more, and as large as they are."""

    def measure(self, records):
        return np.array([np.maximum(records.y, 0.0).sum(), 0.0])


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
class OneClassOnly(RankSum):
    """Shrinks by the size of the class of ones, as if no record of the other could be replaced."""

    def measure(self, records):
        ones = max(int((records.y > 0.5).sum()), 1)
        whole = RankSum(largest=1e9, multiplier=1.0).measure(records)
        return whole * min(1.0, self.bound(records.public) / ones)


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


@pytest.mark.parametrize("kind", [CellCounts, MeanLoss, RankSum])
def test_half_the_noise_is_rejected(kind):
    def halved(question):
        @dataclass(frozen=True, eq=False, kw_only=True)
        class HalfTheNoise(kind):
            """Noise on a lattice of half the step."""

            def grid(self, public):
                whole = super().grid(public)
                return replace(whole, step=0.5 * whole.step)

        return HalfTheNoise(**vars(question))

    with pytest.raises(AssertionError):
        check_noise(kind, halved)


def reaching(y, bound):
    """A vault of targets up to `bound` that was declared."""
    public = Public(len(y), 1, 0.0, "replace_one", target_bound=bound)
    return Records.admit(np.full((len(y), 1), 0.1), np.array(y, float), public, 1.0)


@pytest.mark.parametrize("far", [-1.0, -50.0, 2.0, 50.0])
def test_a_loss_beyond_its_bounds_counts_as_the_nearer_end(far):
    pair = reaching([0.0 if far > 0 else 1.0, 0.5], 50.0), reaching([far, 0.5], 50.0)
    check_never_exceeded(MeanLoss(multiplier=1.0), [pair])
    for twin in (UnboundedLoss, BoundedBelow):
        if far < 0 and twin is BoundedBelow:
            continue
        with pytest.raises(AssertionError):
            check_never_exceeded(twin(multiplier=1.0), [pair])


def test_a_target_beyond_the_cells_is_in_the_last_one():
    """A cell of its own would be one more number, without noise of its own, and its name would be a target."""
    records = reaching([0.0, 1.0, 9.0, -3.0], 9.0)
    question = CellCounts(cells=2, multiplier=1.0)
    assert question.measure(records).tolist() == [2.0, 2.0]
    assert len(OneCellForAll(cells=2, multiplier=1.0).measure(records)) != question.size(
        records.public
    )


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


def test_a_rank_sum_that_counts_one_class_only_is_rejected():
    """In a class of seven in eight of zeros a one passes them all."""
    with pytest.raises(AssertionError):
        check_never_exceeded(OneClassOnly(largest=1.0, multiplier=1.0), list(passing()))


def test_a_rank_sum_without_a_floor_is_rejected():
    with pytest.raises(AssertionError):
        check_never_exceeded(NoFloor(largest=1.0, multiplier=1.0), list(changing()))
